import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readAddress } from '../../src/client/http/address.js'
import { systemClock } from '../../src/contract/clock.js'
import { checkBeforeRun } from '../../src/gate/preflight.js'
import { runGate } from '../../src/gate/run-gate.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import type { Outcome } from '../../src/analysis/outcome.js'
import { lacksJMeter } from '../e2e/cli-command.js'
import { createServices, get } from '../service/support.js'
import { makePorts, makeSettings, makeSpecification } from '../support/gate/gate-ports.js'
import { removeFolder } from '../support/remove-folder.js'

const lacksJdk =
  spawnSync('javac', ['-version']).status !== 0 && process.env.LOADGATE_REQUIRE_JMETER === undefined
const describeWithJdk = lacksJMeter || lacksJdk ? describe.skip : describe
/** JMeter is installed the first time. */
const INSTALL_AND_RUN_MS = 15 * 60_000
const SET_UP_MS = 1_500

const script = (name: string, code: string): string =>
  `<JSR223Sampler guiclass="TestBeanGUI" testclass="JSR223Sampler" testname="${name}" enabled="true">
    <stringProp name="scriptLanguage">groovy</stringProp><stringProp name="script">${code}</stringProp>
  </JSR223Sampler><hashTree/>`

function group(kind: string, name: string, body: string, { loops = '1', isTimed = false } = {}): string {
  return `<${kind} guiclass="${kind}Gui" testclass="${kind}" testname="${name}" enabled="true">
    <stringProp name="ThreadGroup.num_threads">${isTimed ? '${__P(threads,1)}' : '2'}</stringProp>
    <stringProp name="ThreadGroup.ramp_time">0</stringProp>
    <elementProp name="ThreadGroup.main_controller" elementType="LoopController">
      <stringProp name="LoopController.loops">${loops}</stringProp>
      <boolProp name="LoopController.continue_forever">false</boolProp>
    </elementProp>
    <stringProp name="ThreadGroup.on_sample_error">continue</stringProp>
    <boolProp name="ThreadGroup.scheduler">${isTimed}</boolProp>
    <stringProp name="ThreadGroup.duration">\${__P(duration,1)}</stringProp>
  </${kind}><hashTree>${body}</hashTree>`
}

/** Logs in and fails, buys with a class of the jar, and logs out; names come from the jar's function and from properties. */
const PLAN = `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2" properties="5.0" jmeter="5.6.3"><hashTree>
<TestPlan guiclass="TestPlanGui" testclass="TestPlan" testname="plan" enabled="true">
  <boolProp name="TestPlan.tearDown_on_shutdown">true</boolProp>
</TestPlan><hashTree>
${group('SetupThreadGroup', 'prepare ${__P(place,nowhere)}', script('login', `Thread.sleep(${SET_UP_MS}); SampleResult.setSuccessful(false); SampleResult.setResponseCode('503'); SampleResult.setResponseMessage('Not now')`))}
${group('ThreadGroup', 'users', script('buy ${__P(goods,nothing)} ${__P(price,nothing)} ${__greet()}', 'Thread.sleep(40); assert com.example.Greeting.text() == "hello"'), { loops: '-1', isTimed: true })}
${group('PostThreadGroup', 'tidy up', script('logout', 'Thread.sleep(10)'))}
</hashTree></hashTree></jmeterTestPlan>`

const GREETING =
  'package com.example; public class Greeting { public static String text() { return "hello"; } }'
const FUNCTION = `package com.example;
import java.util.*;
public class Greet extends org.apache.jmeter.functions.AbstractFunction {
  public String execute(org.apache.jmeter.samplers.SampleResult p, org.apache.jmeter.samplers.Sampler s) { return Greeting.text(); }
  public void setParameters(Collection<org.apache.jmeter.engine.util.CompoundVariable> p) {}
  public String getReferenceKey() { return "__greet"; }
  public List<String> getArgumentDesc() { return Collections.emptyList(); }
}`
/** What the function is compiled against, in place of JMeter's own jars. */
const JMETER_CLASSES: Record<string, string> = {
  'org/apache/jmeter/functions/AbstractFunction': `package org.apache.jmeter.functions;
public abstract class AbstractFunction implements Function {
  public abstract String execute(org.apache.jmeter.samplers.SampleResult p, org.apache.jmeter.samplers.Sampler s);
  public abstract void setParameters(java.util.Collection<org.apache.jmeter.engine.util.CompoundVariable> p);
}`,
  'org/apache/jmeter/functions/Function': 'package org.apache.jmeter.functions; public interface Function {}',
  'org/apache/jmeter/samplers/SampleResult':
    'package org.apache.jmeter.samplers; public class SampleResult {}',
  'org/apache/jmeter/samplers/Sampler': 'package org.apache.jmeter.samplers; public interface Sampler {}',
  'org/apache/jmeter/engine/util/CompoundVariable':
    'package org.apache.jmeter.engine.util; public class CompoundVariable {}'
}

function makeJar(folder: string): string {
  const sources = { 'com/example/Greeting': GREETING, 'com/example/Greet': FUNCTION, ...JMETER_CLASSES }
  const paths = Object.entries(sources).map(([name, source]) => {
    const path = join(folder, 'src', `${name}.java`)
    mkdirSync(join(path, '..'), { recursive: true })
    writeFileSync(path, source)
    return path
  })
  const jar = join(folder, 'greeting.jar')
  for (const [program, ...args] of [
    ['javac', '-d', join(folder, 'classes'), ...paths],
    ['jar', '--create', '--file', jar, '-C', join(folder, 'classes'), 'com']
  ] as const)
    expect({ program, said: spawnSync(program, args, { encoding: 'utf8' }).stderr }).toEqual({
      program,
      said: ''
    })
  return jar
}

describeWithJdk('real JMeter on two nodes, with setUp and tearDown, a jar and user.properties', () => {
  const services = createServices()
  let folder: string
  let service: Awaited<ReturnType<typeof services.start>>
  let settings: Settings
  let outcome: Outcome
  let rows: string[]
  const ofLabel = (start: string): string[] => rows.filter((row) => row.split(',')[2]!.startsWith(start))

  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'jmeter-setup-'))
    const write = (name: string, text: string): string => {
      writeFileSync(join(folder, name), text)
      return join(folder, name)
    }
    const paths = [
      write('plan.jmx', PLAN),
      write(
        'user.properties',
        'place = here\ngoods=books\nprice=high\njmeter.save.saveservice.thread_name=false\n'
      ),
      makeJar(folder)
    ]
    service = await services.start({ engine: 'real' })
    const ports = await makePorts({ clock: systemClock })
    settings = makeSettings({
      target: { kind: 'remote', address: readAddress(service.url), token: service.token },
      origin: { kind: 'files', paths, grids: [makeSpecification({ region: 'local', nodeCount: 2 })] },
      ...{
        threads: 2,
        durationSeconds: 4,
        warmUpMs: 1_000,
        overrideParameters: '-Jprice=low',
        pollIntervalMs: 1_000
      },
      thresholdLines: 'error_rate < 1%\nfailures{label="login"} < 1000\nsamples{label="logout"} > 0'
    })
    outcome = await runGate(ports, settings)
    const csv = await get(service, `/runs/${outcome.run!.id}/result.csv`)
    rows = csv.text.trimEnd().split('\n').slice(1)
  }, INSTALL_AND_RUN_MS)
  afterAll(async () => {
    await services.closeAll()
    removeFolder(folder)
  })

  test('the verdict is that of the load; what failed in setUp is told', () => {
    expect(outcome).toMatchObject({ verdict: 'passed', remoteErrors: [] })
    expect(outcome.warnings).toContainEqual(
      '8 samples of setUp and tearDown thread groups count for their labels only, not overall. 4 of them failed: "login" (503 Not now).'
    )
  })

  test('they run on each node, and count for their labels in spite of the warm-up', () => {
    const { measurements } = outcome
    expect(measurements!.figures({ label: 'login' })).toMatchObject({ samples: 4, failures: 4 })
    expect(measurements!.figures({ label: 'logout' })).toMatchObject({ samples: 4, failures: 0 })
    expect([ofLabel('login').length, ofLabel('logout').length]).toEqual([4, 4])
  })

  test('overall there is only the load, and the warm-up begins with it', () => {
    const { warmUp, measurements } = outcome
    const load = ofLabel('buy')
    const starts = load.map((row) => Number(row.split(',')[0]))
    const setUpMs = Math.min(...ofLabel('login').map((row) => Number(row.split(',')[0])))
    expect(warmUp!.startMs).toBe(Math.min(...starts))
    expect(warmUp!.startMs! - setUpMs).toBeGreaterThanOrEqual(SET_UP_MS)
    expect(warmUp!.samples).toBe(starts.filter((startMs) => startMs < warmUp!.startMs! + 1_000).length)
    expect(measurements!.figures({})).toMatchObject({ samples: load.length - warmUp!.samples, failures: 0 })
  })

  test('names come from user.properties, a parameter and the jar', () => {
    expect(outcome.measurements!.labels).toEqual(['buy books low hello', 'login', 'logout'])
  })

  test('the service counts in the same way', async () => {
    const { summary } = (await get(service, `/runs/${outcome.run!.id}/report`)).json
    expect(summary).toContain(`${ofLabel('buy').length} transactions passed with 0 failed.`)
  })

  test("JMeter's own figures, which include setUp, are in its log only", () => {
    expect(service.lines.join('\n')).toContain('... end of run')
    expect(service.lines.join('\n')).not.toMatch(/summary =/)
  })

  test('a check before the run finds nothing wrong', async () => {
    const { findings } = await checkBeforeRun(settings, process.env)
    expect(findings).toEqual([])
    expect(readFileSync(join(folder, 'plan.jmx'), 'utf8')).toBe(PLAN)
  })
})
