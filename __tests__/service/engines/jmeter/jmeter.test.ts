import { openStore } from '../../../../src/service/serve.js'
import { afterAll, describe, expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { join, relative } from 'node:path'
import { explain } from '../../../../src/service/engines/jmeter/jmeter.js'
import { readSamplerNames } from '../../../../src/service/plans/names.js'
import { readSubPaths } from '../../../../src/analysis/plans/jmx/plan-tree.js'
import {
  createRun,
  createServices,
  finishRun,
  type FormPart,
  get,
  PLAN,
  postForm,
  runForm,
  send,
  SPEC,
  specFields,
  waitForStatus
} from '../../support.js'
import { HALT, writeJMeter, writeSample, writeScript } from '../../stand-in.js'

const services = createServices()
afterAll(() => services.closeAll())

/** Runs a plan with a stand-in that writes down its arguments, its folder, its plan and its environment. */
async function runStandIn(
  form = runForm(),
  env: NodeJS.ProcessEnv = {}
): Promise<{
  notes: (name: string) => string
  run: Awaited<ReturnType<typeof finishRun>>
  service: Awaited<ReturnType<typeof services.start>>
}> {
  const dir = services.folder()
  const home = writeJMeter(services.folder(), [
    `for argument in "$@"; do printf "%s\\n" "$argument"; done >> '${dir}/arguments'`,
    `env > '${dir}/environment'`,
    `cp "$plan" '${dir}/plan'; ls > '${dir}/folder'`,
    writeSample('home'),
    'echo "summary = 1"; echo "WARN StatusConsoleListener The use of package scanning to locate plugins is deprecated"'
  ])
  const service = await services.start({
    engine: 'real',
    env: { PATH: process.env.PATH, ...env, JMETER_HOME: home }
  })
  const run = await finishRun(service, form)
  return { notes: (name) => readFileSync(join(dir, name), 'utf8'), run, service }
}

/** A service whose tool is a stand-in that runs these lines. */
function startStandIn(lines: readonly string[]): ReturnType<typeof services.start> {
  const home = writeJMeter(services.folder(), lines)
  return services.start({ engine: 'real', env: { PATH: process.env.PATH, JMETER_HOME: home } })
}

/** A shell command that writes one line into the tool's own log. */
const logLine = (text: string): string => `echo "2026-01-01 00:00:00,000 ${text}" >> "$log"`

const argumentsOf = (notes: (name: string) => string): string[] => notes('arguments').trimEnd().split('\n')

describe('what JMeter is given', () => {
  test('the settings, the overrides, and columns that nobody can override', async () => {
    const column = 'jmeter.save.saveservice.output_format'
    const fields = {
      threads: '3',
      rampup: '0',
      duration: '7',
      override_parameters: `-Jhost=a b, -Dx=1 -J${column}=xml`
    }
    const { notes, run } = await runStandIn(runForm(fields))
    expect(run.json).toMatchObject({ status: 'finished', tool: 'jmeter-9.8.7' })
    const given = argumentsOf(notes)
    expect(given).toEqual(
      expect.arrayContaining(['-n', '-Jthreads=3', '-Jrampup=0', '-Jduration=7', '-Jhost=a b', '-Dx=1'])
    )
    expect(given.lastIndexOf(`-J${column}=csv`)).toBeGreaterThan(given.indexOf(`-J${column}=xml`))
  })

  test('nothing that was not given', async () => {
    const given = argumentsOf((await runStandIn()).notes)
    expect(given.filter((argument) => /^-J(threads|rampup|duration)=/.test(argument))).toEqual([])
  })

  test('each node its share of the threads', async () => {
    const grid = specFields({ instance_quantity: '2' })
    const { notes, run } = await runStandIn(runForm({ threads: '5' }, grid))
    const shares = argumentsOf(notes).filter((argument) => argument.startsWith('-Jthreads='))
    expect(shares.sort()).toEqual(['-Jthreads=2', '-Jthreads=3'])
    expect(run.json._embedded.results).toHaveLength(1)
  })

  test('its data files beside the plan', async () => {
    const { notes } = await runStandIn([
      ...runForm(),
      { name: 'run_files[]', fileName: 'users.csv', content: 'a\n' }
    ])
    expect(notes('folder').trimEnd().split('\n')).toEqual(['plan.jmx', 'users.csv'])
    expect(notes('plan')).toBe(PLAN)
  })

  test('its data files in the folders where the plan looks for them', async () => {
    const plan = PLAN.replace('testname="users"', 'testname="data/users.csv"')
    const service = await startStandIn([
      'echo "$(cat data/users.csv)" >> users.csv',
      `echo "1,1,$(cat data/users.csv | tr "\\n" " "),200,OK,t 1-1,text,true,,1,1,1,1,null,1,0,1" >> "$samples"`
    ])
    const form = [
      ...runForm({}, specFields(), plan),
      { name: 'run_files[]', fileName: 'users.csv', content: 'ada\n' }
    ]
    const run = await finishRun(service, form)
    const csv = (await get(service, `/runs/${run.json.uuid}/result.csv`)).text
    // The file in the folder is the one next to the plan, which the tool has written to.
    expect(csv.split('\n')[1]).toBe('1,1,ada ada ,200,OK,t 1-1,text,true,,1,1,1,1,null,1,0,1')
  })

  test('the bytes that were uploaded, whatever the plan does to them on another node or in an earlier run', async () => {
    const service = await startStandIn([
      'seen=$(cat users.csv); echo changed >> users.csv; echo changed >> plan.jmx',
      'echo "1,1,$seen,200,OK,t 1-1,text,true,,1,1,1,1,null,1,0,1" >> "$samples"'
    ])
    const form = [
      ...runForm({}, specFields({ instance_quantity: '3' })),
      { name: 'run_files[]', fileName: 'users.csv', content: 'ada' }
    ]
    const first = await finishRun(service, form)
    const { uuid } = (await get(service, `/runs/${first.json.uuid}/repeat`)).json
    const second = await waitForStatus(service, `/runs/${uuid}`, ['finished', 'problem'])
    for (const run of [first, second]) {
      const csv = (await get(service, `/runs/${run.json.uuid}/result.csv`)).text
      expect(csv.match(/^1,1,.*?,/gm)).toEqual(['1,1,ada,', '1,1,ada,', '1,1,ada,'])
      const files = await Promise.all(
        run.json._embedded.files.map(({ href }) => get(service, new URL(href).pathname))
      )
      expect(files.map(({ text }) => text)).toEqual([PLAN, 'ada'])
    }
  })

  test('a JVM that knows the hosts, and a plan that is left as it was', async () => {
    const { notes, run, service } = await runStandIn(
      runForm({ override_hosts: 'shop.example/127.0.0.1, b.example/::1' })
    )
    for (const name of ['JAVA_TOOL_OPTIONS', 'JDK_JAVA_OPTIONS'])
      expect(notes('environment')).toMatch(
        new RegExp(
          `^${name}="-javaagent:/.*/java/jars/hosts\\.jar=shop\\.example/127\\.0\\.0\\.1,b\\.example/::1"$`,
          'm'
        )
      )
    expect(notes('plan')).toBe(PLAN)
    const { pathname } = new URL(run.json._embedded.files[0]!.href)
    expect((await get(service, pathname)).text).toBe(PLAN)
  })

  test.each([
    [
      'clears the variables',
      'exec env -i PATH="$PATH"',
      'it sets or clears JAVA_TOOL_OPTIONS and JDK_JAVA_OPTIONS'
    ],
    ['fails', 'echo no such Java; exit 4;', 'no such Java']
  ])('no load if there are hosts, and a start script that %s', async (_, command, words) => {
    const [dir, bin] = [services.folder(), services.folder()]
    const home = writeJMeter(services.folder(), [`touch '${dir}/started'`, writeSample('home')])
    const given = `case "$JAVA_TOOL_OPTIONS" in *hosts.jar*) ${command} '${home}/bin/jmeter' "$@" ;; esac`
    writeScript(join(bin, 'jmeter'), [given, `exec '${home}/bin/jmeter' "$@"`])
    const env = { PATH: `${bin}:${process.env.PATH}` }
    const service = await services.start({ engine: 'real', env })
    const run = await finishRun(service, runForm({ override_hosts: 'shop.example/127.0.0.1' }))
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toContain(
      `override_hosts: ${join(bin, 'jmeter')} does not pass the addresses on to JMeter: ${words}`
    )
    expect(readdirSync(dir)).toEqual([])
    expect((await finishRun(service)).json.status).toBe('finished')
  })

  test('an environment without tokens', async () => {
    const secrets = {
      GITHUB_TOKEN: 'secret',
      ACTIONS_RUNTIME_TOKEN: 'secret',
      ACTIONS_ID_TOKEN_REQUEST_TOKEN: 'secret',
      INPUT_TOKEN: 'secret',
      RUNNER_TEMP: 'secret',
      LOADGATE_TOKEN: 'secret',
      NODE_OPTIONS: '--no-warnings',
      AWS_SECRET_ACCESS_KEY: 'secret'
    }
    const { notes } = await runStandIn(runForm(), {
      ...secrets,
      LC_ALL: 'C',
      TZ: 'UTC',
      JVM_ARGS: '-Xmx1g',
      HOME: '/home'
    })
    const names = notes('environment')
      .trimEnd()
      .split('\n')
      .map((line) => line.split('=')[0])
    // The stand-in's shell adds the last few by itself.
    const own = ['_', 'SHLVL', 'OLDPWD', 'PWD']
    const given = names.filter((name) => !own.includes(name!) && !name!.startsWith('FLOOD_'))
    expect(given.sort()).toEqual(['HOME', 'JMETER_HOME', 'JVM_ARGS', 'LC_ALL', 'LOADGATE_NODE', 'PATH', 'TZ'])
    expect(notes('environment')).not.toContain('secret')
  })

  test('where it runs', async () => {
    const dir = services.folder()
    const service = await startStandIn([`env | grep ^FLOOD_ | sort > '${dir}/'$$`, writeSample('home')])
    await finishRun(service, runForm({}, specFields({ instance_quantity: '2', region: 'oslo' })))
    const nodes = readdirSync(dir).map((name) => readFileSync(join(dir, name), 'utf8'))
    expect(nodes.map((text) => /^FLOOD_NODE_INDEX=(.*)$/m.exec(text)?.[1]).sort()).toEqual(['0', '1'])
    expect(nodes.filter((text) => text.includes('FLOOD_GRID_REGION=oslo\n'))).toHaveLength(2)
  })

  test('paths that lead to the same place from its own folder', async () => {
    const dir = services.folder()
    const home = writeJMeter(services.folder(), [`env > '${dir}/environment'`, writeSample('home')])
    const [PATH, JMETER_HOME, JAVA_HOME] = ['/usr/bin:/bin', home, dir].map((paths) =>
      paths
        .split(':')
        .map((path) => relative(process.cwd(), path))
        .join(':')
    )
    const service = await services.start({ engine: 'real', env: { PATH, JMETER_HOME, JAVA_HOME } })
    expect((await finishRun(service)).json).toMatchObject({ status: 'finished', tool: 'jmeter-9.8.7' })
    const lines = readFileSync(join(dir, 'environment'), 'utf8').split('\n')
    expect(lines).toEqual(
      expect.arrayContaining(['PATH=/usr/bin:/bin', `JMETER_HOME=${home}`, `JAVA_HOME=${dir}`])
    )
  })

  test('its lines go to the log, without the noise', async () => {
    const { service } = await runStandIn()
    expect(service.lines).toEqual([
      expect.stringMatching(/^us-east-1 \w{6} node 1: summary = 1$/),
      expect.stringMatching(/^us-east-1 \w{6} node 1: \.\.\. end of run$/)
    ])
  })
})

describe('how JMeter ends', () => {
  test('no samples: finished, with no apdex, and the load is lost', async () => {
    const service = await startStandIn([])
    const run = await finishRun(service)
    expect(run.json).toMatchObject({ status: 'finished', apdex: null })
    expect(run.json.remote_errors).toMatch(
      /^load lost: us-east-1 \w{6} node 1 recorded no samples, and its log does not say why$/
    )
    expect((await get(service, `/runs/${run.json.uuid}/report`)).json).toMatchObject({
      summary: expect.stringContaining('No samples were recorded.'),
      mean_response_time: null
    })
  })

  test('no samples on one of two nodes: the load of that one is lost, with what its log says', async () => {
    const dir = services.folder()
    const service = await startStandIn([
      `if mkdir '${dir}/first' 2>/dev/null; then ${logLine('ERROR o.a.j.e.RegexExtractor: Error in pattern')}; exit 0; fi`,
      writeSample('home')
    ])
    const run = await finishRun(service, runForm({}, specFields({ instance_quantity: '2' })))
    expect(run.json.status).toBe('finished')
    expect(run.json.remote_errors).toMatch(
      /^load lost: us-east-1 \w{6} node [12] recorded no samples; its log says: ERROR o\.a\.j\.e\.RegexExtractor: Error in pattern$/
    )
  })

  test('an error that belongs to samples is shown, and no load is lost', async () => {
    const service = await startStandIn([
      writeSample('home'),
      logLine('ERROR o.a.j.e.RegexExtractor: Error in pattern'),
      logLine('ERROR o.a.j.e.RegexExtractor: Error in pattern')
    ])
    const run = await finishRun(service)
    expect(run.json).toMatchObject({ status: 'finished', remote_errors: null })
    expect(service.lines).toContainEqual(
      expect.stringMatching(/its log says: ERROR o\.a\.j\.e\.RegexExtractor: Error in pattern \(2 times\)$/)
    )
  })

  test('in mid-plan with exit code 0, without a word of the end: the rest of the load is lost', async () => {
    const service = await startStandIn([writeSample('home'), HALT])
    const run = await finishRun(service)
    expect(run.json).toMatchObject({
      status: 'finished',
      remote_errors:
        'load lost: JMeter exited before the end of the test, with exit code 0; does a script in the plan end it?'
    })
  })

  const LOST =
    'load lost: JMeter exited before the end of the test, with exit code 0; does a script in the plan end it?'
  const ENGINE = 'o.a.j.e.StandardJMeterEngine:'
  const END = 'Notifying test listeners of end of test'
  test.each([
    ['a log without the end', [`INFO ${ENGINE} Running the test!`], LOST],
    [
      'a log in which a script says it',
      [`INFO ${ENGINE} Running the test!`, `INFO o.a.j.p.j.s.J.stop: StandardJMeterEngine: ${END}`],
      LOST
    ],
    ['a log with the end', [`INFO ${ENGINE} Running the test!`, `INFO ${ENGINE} ${END}`], null],
    ['a log of warnings only', ['WARN o.a.j.x.Y: something'], null]
  ])('with the words of the end on the console and %s', async (_, lines, remote_errors) => {
    const service = await startStandIn([writeSample('home'), ...lines.map((line) => logLine(line))])
    expect((await finishRun(service)).json).toMatchObject({ status: 'finished', remote_errors })
  })

  test('without a start, as its log says: that is told, and not the end that is missing', async () => {
    const service = await startStandIn([
      logLine('ERROR o.a.j.e.StandardJMeterEngine: Error occurred compiling the tree:'),
      HALT
    ])
    expect((await finishRun(service)).json.remote_errors).toMatch(
      /^load lost: JMeter: could not start the plan \(no reason given\)\nload lost: us-east-1 \w{6} node 1 recorded no samples$/
    )
  })

  test('after a failed sample, as a Result Status Action Handler in an included plan says', async () => {
    const service = await startStandIn([
      writeSample('home'),
      logLine('INFO o.a.j.t.JMeterThread: Stop Test Now detected by thread: buyers 1-1')
    ])
    const part =
      '<jmeterTestPlan><hashTree><ResultAction enabled="true"><intProp name="OnError.action">3</intProp></ResultAction><hashTree/></hashTree></jmeterTestPlan>'
    const include = { name: 'run_files[]', fileName: 'part.jmx', content: part }
    expect((await finishRun(service)).json.remote_errors).toBeNull()
    expect((await finishRun(service, [...runForm(), include])).json.remote_errors).toBe(
      'load lost: JMeter: the whole test stopped after a failed sample, as a Result Status Action Handler of the plan says'
    )
  })

  test('after a failed sample, as a thread group says by a property', async () => {
    const service = await startStandIn([
      writeSample('home'),
      logLine('INFO o.a.j.e.StandardJMeterEngine: Starting 4 threads for group users.'),
      logLine('INFO o.a.j.e.StandardJMeterEngine: Test will stop on error'),
      logLine('INFO o.a.j.t.JMeterThread: Shutdown Test detected by thread: users 1-1')
    ])
    const action = '<stringProp name="ThreadGroup.on_sample_error">${__P(onerr,stoptest)}</stringProp>'
    const plan = PLAN.replace('</ThreadGroup>', `${action}</ThreadGroup>`)
    expect((await finishRun(service, runForm({}, specFields(), plan))).json.remote_errors).toBe(
      'load lost: JMeter: the whole test stopped after a failed sample, as the thread group users says'
    )
  })

  test('with a plan that only JMeter could read: it is unknown whether all of it ran', async () => {
    const service = await startStandIn([writeSample('home')])
    const deep = '<hashTree>'.repeat(300) + '</hashTree>'.repeat(300)
    const unread = 'its elements are nested more than 200 deep'
    const tell = (name: string): string =>
      `load lost: JMeter: loadgate could not read ${name} (${unread}), so it is unknown whether all of it ran`
    const include = '<IncludeController testname="i" enabled="true"/><hashTree/>'
    const part = {
      name: 'run_files[]',
      fileName: 'part.jmx',
      content: `<jmeterTestPlan>${deep}</jmeterTestPlan>`
    }
    const errorsOf = async (plan: string, ...parts: FormPart[]): Promise<unknown> =>
      (await finishRun(service, [...runForm({}, specFields(), plan), ...parts])).json.remote_errors
    const end = '</hashTree></jmeterTestPlan>'
    expect(await errorsOf(PLAN.replace(end, deep + end))).toBe(tell('plan.jmx'))
    expect(await errorsOf(PLAN, part)).toBeNull()
    expect(await errorsOf(PLAN.replace(end, include + end), part)).toBe(tell('part.jmx'))
  })

  test('on a full disk: JMeter continues without writing samples, and one line says so', async () => {
    const service = await startStandIn([
      writeSample('home'),
      logLine('WARN o.a.j.r.ResultCollector: Problem detected during use of $samples')
    ])
    expect((await finishRun(service)).json.remote_errors).toBe(
      'load lost: JMeter: could not write all of its samples; is the disk full?'
    )
  })

  test('on a full disk that takes no log either: the console says so', async () => {
    const service = await startStandIn([
      writeSample('home'),
      'echo "main ERROR Unable to write to stream jmeter.log for appender jmeter-log"'
    ])
    expect((await finishRun(service)).json.remote_errors).toBe(
      'load lost: JMeter: the disk was full, so samples may be missing'
    )
  })

  test("with an error on one of two nodes: problem, with its message and the other one's samples", async () => {
    const dir = services.folder()
    const home = writeJMeter(services.folder(), [
      writeSample('home'),
      `if mkdir '${dir}/first' 2>/dev/null; then echo "An error occurred: out of luck"; exit 3; fi`
    ])
    const service = await services.start({
      engine: 'real',
      env: { PATH: process.env.PATH, JMETER_HOME: home }
    })
    const run = await finishRun(service, runForm({}, specFields({ instance_quantity: '2' })))
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toBe(
      'JMeter 9.8.7 could not run the plan (exit code 3): An error occurred: out of luck'
    )
    expect((await get(service, `/runs/${run.json.uuid}/result.csv`)).text.match(/,home,/g)).toHaveLength(2)
  })

  test.each([
    {
      name: 'loses load',
      lines: [
        writeSample('home'),
        logLine('INFO o.a.j.t.JMeterThread: Stopping Test: no luck with correct-horse')
      ],
      words: 'load lost: JMeter: the test was stopped before its end ("no luck with ***")'
    },
    {
      name: 'cannot run the plan',
      lines: ['echo "An error occurred: no luck with correct-horse"; exit 1'],
      words: 'JMeter 9.8.7 could not run the plan (exit code 1): An error occurred: no luck with ***'
    }
  ])('with a secret in its message when it $name: the secret is redacted', async ({ lines, words }) => {
    const service = await startStandIn(lines)
    const form = runForm({ override_parameters: '-Jshop.password=correct-horse' })
    expect((await finishRun(service, form)).json.remote_errors).toBe(words)
  })

  test('with a secret on its console: the log has the line without it', async () => {
    const service = await startStandIn([writeSample('home'), 'echo "logged in with correct-horse"'])
    await finishRun(service, runForm({ override_parameters: '-Jshop.password=correct-horse' }))
    expect(service.lines).toContainEqual(expect.stringMatching(/node 1: logged in with \*\*\*$/))
    expect(service.lines.join('\n')).not.toContain('correct-horse')
  })

  test('it cannot be found: problem, with what to do', async () => {
    const env = { PATH: process.env.PATH, JMETER_HOME: services.folder() }
    const service = await services.start({ engine: 'real', env })
    const run = await finishRun(service)
    expect(run.json.status).toBe('problem')
    expect(run.json.remote_errors).toContain('there is no bin/jmeter in it')
    expect(run.json._embedded.grids[0]!.status).toBe('stopped')
  })
})

describe('the message of a failure', () => {
  const jmeter = { file: 'j', args: [], version: '5.6.3', origin: '/opt/jmeter' }

  test('the cause comes from the log if JMeter does not print it', () => {
    const words = [
      'Error in NonGUIDriver com.thoughtworks.xstream.io.StreamException: ',
      'An error occurred: Error in NonGUIDriver '
    ]
    const cause = 'org.xmlpull.v1.XmlPullParserException: only whitespace @1:2'
    expect(explain({ how: 'exit code 1', words, cause, missingClass: undefined, jmeter })).toBe(
      'JMeter 5.6.3 could not run the plan (exit code 1):\nAn error occurred: Error in NonGUIDriver\nCaused by: org.xmlpull.v1.XmlPullParserException: only whitespace @1:2'
    )
  })
})

describe('the folders that a plan names', () => {
  const names = new Set(['users.csv', 'a & b.csv', 'login.jmx', 'x.groovy'])

  test.each([
    { text: '<stringProp name="filename">data/users.csv</stringProp>', paths: ['data/users.csv'] },
    { text: '${__CSVRead(data/deep/users.csv,0)}', paths: ['data/deep/users.csv'] },
    { text: '>./parts/login.jmx< >parts/login.jmx<', paths: ['parts/login.jmx'] },
    { text: '>users.csv< >./users.csv<', paths: [] },
    { text: '>/data/users.csv< >http://host/data/users.csv< >../data/users.csv<', paths: [] },
    { text: '>a/../../users.csv<', paths: [] },
    { text: '>${dir}/users.csv< >${dir}/data/users.csv<', paths: [] },
    { text: '>data/others.csv<', paths: [] },
    { text: 'new File("scripts/x.groovy")', paths: ['scripts/x.groovy'] }
  ])('$text', ({ text, paths }) => {
    expect(readSubPaths([text], names)).toEqual(paths)
  })
})

describe('hosts that a plan may resolve by itself', () => {
  const inPlan = (xml: string): string => PLAN.replace('<ThreadGroup', `${xml}<ThreadGroup`)
  const manager = (isCustom: boolean, isEnabled = true): string =>
    `<DNSCacheManager testname="own" enabled="${isEnabled}"><boolProp name="DNSCacheManager.isCustomResolver">${isCustom}</boolProp></DNSCacheManager><hashTree/>`
  const include = (path: string): string =>
    `<IncludeController testname="part" enabled="true"><stringProp name="IncludeController.includepath">${path}</stringProp></IncludeController><hashTree/>`

  async function prepare(plan: string | Buffer, others: Record<string, string> = {}): Promise<string> {
    const { run, notes } = await runStandIn([
      ...runForm({ override_hosts: 'shop.example/127.0.0.1' }, specFields(), plan),
      ...Object.entries(others).map(([fileName, content]) => ({ name: 'run_files[]', fileName, content }))
    ])
    // Before anything was started.
    if (run.json.status === 'problem') expect(() => notes('arguments')).toThrow('ENOENT')
    return run.json.remote_errors ?? run.json.status
  }

  test.each([
    { kind: 'a custom resolver', plan: inPlan(manager(true)), words: 'the DNS Cache Manager "own"' },
    {
      kind: 'one by the full name of its class',
      plan: inPlan(
        manager(true)
          .replaceAll('DNSCacheManager ', 'org.apache.DNSCacheManager ')
          .replace('/DNS', '/org.apache.DNS')
      ),
      words: 'the DNS Cache Manager "own"'
    },
    {
      kind: 'one that is disabled',
      plan: inPlan(manager(true, false)),
      words: 'the DNS Cache Manager "own"'
    },
    {
      kind: 'one in a part that is disabled',
      plan: PLAN.replace('testname="users"', 'testname="users" enabled="false"').replace(
        '<HTTPSamplerProxy',
        `${manager(true)}<HTTPSamplerProxy`
      ),
      words: 'the DNS Cache Manager "own"'
    },
    ...['class', 'testclass'].map((attribute) => ({
      kind: `one by the attribute ${attribute}`,
      plan: inPlan(
        manager(true)
          .replace('<DNSCacheManager', `<ConfigTestElement ${attribute}="DNSCacheManager"`)
          .replace('</DNSCacheManager', '</ConfigTestElement')
      ),
      words: 'the DNS Cache Manager "own"'
    })),
    {
      kind: 'a file that is not there',
      plan: inPlan(include('/opt/part.jmx')),
      words: 'includes "/opt/part.jmx"'
    },
    { kind: 'UTF-16', plan: Buffer.from(`\ufeff${PLAN}`, 'utf16le'), words: 'is encoded in UTF-16' },
    { kind: 'UTF-16 without a mark', plan: Buffer.from(PLAN, 'utf16le'), words: 'zero bytes' },
    { kind: 'broken XML', plan: PLAN.slice(0, -30), words: 'cannot be read (line' }
  ])('$kind: the run ends before any load', async ({ plan, words }) => {
    const said = await prepare(plan)
    expect(said).toContain('override_hosts: requests could be sent past it: plan.jmx')
    expect(said).toContain(words)
  })

  test('one in a plan that is included', async () => {
    const said = await prepare(inPlan(include('parts/part.jmx')), { 'part.jmx': inPlan(manager(true)) })
    expect(said).toContain('part.jmx has the DNS Cache Manager "own"')
  })

  test('one that asks the system does not matter', async () => {
    expect(await prepare(inPlan(manager(false)))).toBe('finished')
  })
})

describe('the names of samplers', () => {
  test('are read where they are switched on', () => {
    expect(readSamplerNames(PLAN)).toEqual(['home', 'check & out'])
    expect(readSamplerNames('<a><kg.apc.DummySampler testname="&#x41;&#66;&quot;"/></a>')).toEqual(['AB"'])
    expect(readSamplerNames('hello')).toEqual([])
  })
})

describe('while JMeter is being looked for', () => {
  /** A stand-in that is slow to print its version, like an installation. */
  const startSlow = async (): Promise<Awaited<ReturnType<typeof services.start>>> => {
    const home = services.folder()
    writeScript(join(home, 'bin', 'jmeter'), ['sleep 600'])
    return services.start({ engine: 'real', env: { PATH: process.env.PATH, JMETER_HOME: home } })
  }

  test('a run can be stopped, and the service closed', async () => {
    const service = await startSlow()
    const id = await createRun(service)
    expect((await get(service, `/runs/${id}`)).json.status).toBe('queued')
    expect((await get(service, `/runs/${id}/stop`)).json).toMatchObject({ status: 'finished', apdex: null })
    expect((await get(service, `/runs/${id}`)).json._embedded.grids[0]?.status).toBe('stopped')
    await service.close()
    const next = openStore(service.dataDir, { log: () => undefined })
    next.close()
  })

  test('a standalone grid starts, since no tool is its own, and can be terminated', async () => {
    const service = await startSlow()
    const parts = SPEC.map(([key, value]): FormPart => [`grid[${key}]`, value])
    const { uuid } = (await postForm(service, '/grids', parts)).json
    await waitForStatus(service, `/grids/${uuid}`, ['started'])
    expect((await send(service, 'DELETE', `/grids/${uuid}`)).json.status).toBe('stopped')
  })
})
