import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SettingsError } from '../../src/gate/errors.js'
import { checkBeforeRun, warnOfPlan } from '../../src/gate/preflight.js'
import type { Settings } from '../../src/gate/settings/settings.js'
import { makePorts, makeSettings } from '../support/gate/gate-ports.js'

const PLAN = `<jmeterTestPlan><hashTree><TestPlan testname="Shop"/><hashTree><ThreadGroup testname="users"/><hashTree>
<HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">\${__P(domain_name,)}</stringProp></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>`
const MISSING = 'The request "home" reads ${__P(domain_name,)}, and nothing gives domain_name'
let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'preflight-'))
  await put('plan.jmx', PLAN)
})
afterEach(() => rm(folder, { recursive: true }))

const put = (name: string, text: string): Promise<void> => writeFile(join(folder, name), text)
const local = (names: readonly string[], changes: Partial<Settings> = {}): Settings =>
  makeSettings({
    target: { kind: 'local' },
    origin: { kind: 'files', paths: names.map((name) => join(folder, name)), grids: [] },
    ...changes
  })
async function messages(settings: Settings, env: NodeJS.ProcessEnv = {}): Promise<string[]> {
  return (await checkBeforeRun(settings, env)).findings.map(({ message }) => message)
}

test('a file of properties gives values, unless its line is a comment', async () => {
  expect(await messages(local(['plan.jmx']))).toEqual([expect.stringContaining(MISSING)])
  await put('user.properties', '# domain_name=a\r\nother=b\r\n')
  expect(await messages(local(['plan.jmx', 'user.properties']))).toEqual([expect.stringContaining(MISSING)])
  await put('user.properties', 'a=b\r\n domain_name : shop.example\r\n')
  expect(await messages(local(['plan.jmx', 'user.properties']))).toEqual([])
})

test("so do those of one's own JMeter, on this machine only", async () => {
  await mkdir(join(folder, 'jmeter/bin'), { recursive: true })
  await put('jmeter/bin/user.properties', 'domain_name=shop.example\n')
  const env = { JMETER_HOME: join(folder, 'jmeter') }
  expect(await messages(local(['plan.jmx']), env)).toEqual([])
  const { target } = makeSettings()
  expect(await messages(local(['plan.jmx'], { target }), env)).toEqual([expect.stringContaining(MISSING)])
})

test('a file of variables gives them to a script of k6', async () => {
  await put('shop.js', 'f(__ENV.TOKEN)\n')
  await put('environment', 'export TOKEN="a"\n')
  const k6 = { tool: 'k6' }
  expect(await messages(local(['shop.js'], k6))).toEqual([expect.stringContaining('reads __ENV.TOKEN')])
  expect(await messages(local(['shop.js', 'environment'], k6))).toEqual([])
})

test('options that are no parameters: nothing is started on this machine, and elsewhere it is a warning', async () => {
  const { log } = await makePorts()
  const overrideParameters = '-Jdomain_name=a, -q s3cret.properties -G s3cret=1'
  const refused = warnOfPlan({ log }, local(['plan.jmx'], { overrideParameters }))
  await expect(refused).rejects.toThrow(SettingsError)
  await expect(refused).rejects.toThrow(
    /override-parameters: -q is not -Jname=value .*override-parameters: -G is not -Jname=value/s
  )
  await expect(refused).rejects.not.toThrow('s3cret')
  const { target } = makeSettings()
  await warnOfPlan({ log }, local(['plan.jmx'], { overrideParameters, target }))
  expect(log.of('warning')).toEqual([
    expect.stringMatching(/^override-parameters: -q .*The service may refuse the run\.$/),
    expect.stringMatching(/^override-parameters: -G .*The service may refuse the run\.$/)
  ])
})
