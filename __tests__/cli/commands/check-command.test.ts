import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmod, mkdir, mkdtemp, readFile, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { createClassFinder } from '../../../src/gate/preflight.js'
import { checkMachine } from '../../../src/cli/commands/check-command.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { EAGER_CLOCK, makeCommandPorts } from '../command-ports.js'
import { startService } from '../../../src/service/server.js'
import { isAlive, until } from '../../e2e/cli-command.js'
import { K6, k6Note, lacksK6 } from '../../support/tools/k6.js'

const { JAVA_HOME, K6: GIVEN_K6 } = process.env
const SHOP = join(import.meta.dirname, '../../../examples/shop')
let workspace: string
let server: Server
let status = 200
let port: number

beforeEach(async () => {
  workspace = await mkdtemp(join(tmpdir(), 'loadgate-check-'))
  for (const name of ['plan.jmx', 'users.csv'])
    await writeFile(join(workspace, name), await readFile(join(SHOP, name)))
  await writeJava('17.0.1')
  process.env.JAVA_HOME = join(workspace, 'java')
  status = 200
  server = createServer((_request, response) => response.writeHead(status).end())
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  port = (server.address() as AddressInfo).port
})
afterEach(() => {
  server.close()
  if (JAVA_HOME === undefined) delete process.env.JAVA_HOME
  else process.env.JAVA_HOME = JAVA_HOME
  if (GIVEN_K6 === undefined) delete process.env.K6
  else process.env.K6 = GIVEN_K6
})

async function writeJava(version: string): Promise<void> {
  const file = join(workspace, 'java/bin/java')
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, `#!/bin/sh\necho 'openjdk version "${version}"' >&2\n`)
  await chmod(file, 0o755)
}

const check = (...args: string[]): Promise<{ code: number; out: string }> => checkWith('', ...args)
const checkWith = async (baseUrl: string, ...args: string[]): Promise<{ code: number; out: string }> => {
  const ports = makeCommandPorts({
    workspace,
    baseUrl,
    findFiles: (root) => (pattern) => Promise.resolve([resolve(root, pattern)])
  })
  const code = await runCommandLine(['check', ...args], ports)
  return { code, out: ports.screen.out.text }
}
const shop = (...args: string[]): ReturnType<typeof check> =>
  check('--files', 'plan.jmx', '--files', 'users.csv', '--override-parameters', `-Jport=${port}`, ...args)

test('all is well: the target is asked once', async () => {
  expect(await shop('--threads', '5', '--thresholds', 'p95{label="checkout"} < 1s')).toEqual({
    code: 0,
    out: `note  The target http://127.0.0.1:${port}/ answers (200).\nNo problems found.\n`
  })
})

test('an address in the environment that the config file overrides is noted', async () => {
  await writeFile(join(workspace, 'c.yml'), 'base-url: local\nfiles: [plan.jmx, users.csv]\n')
  const words = 'note  LOADGATE_BASE_URL is set, but base-url in the config file is local'
  const flags = ['--config', 'c.yml', '--rehearse']
  expect((await checkWith('https://service.example', ...flags)).out).toContain(words)
  expect((await checkWith('https://service.example', ...flags, '--base-url', 'local')).out).not.toContain(
    words
  )
  expect((await check(...flags)).out).not.toContain(words)
})

test.each([401, 403])('a target that answers %d needs a login, unless the plan has one', async (refusal) => {
  status = refusal
  expect(await shop()).toMatchObject({
    code: 0,
    out: expect.stringContaining(
      `warning  The target http://127.0.0.1:${port}/ answers ${refusal}: it needs a login`
    )
  })
  const { out } = await shop('--override-parameters', '-Jpassword=open-sesame')
  expect(out).toContain(`The target http://127.0.0.1:${port}/ answers (${refusal}).`)
})

test('with a service its account is read: a wrong token and a closed port are errors', async () => {
  const options = { dataDir: join(workspace, 'data'), engine: 'rehearsal', log: () => undefined } as const
  const service = await startService({ ...options, token: 'the-token-of-this-test' })
  const files = ['--files', 'plan.jmx', '--files', 'users.csv']
  const checkService = async (token: string): Promise<string> => {
    const findFiles = (root: string) => (pattern: string) => Promise.resolve([resolve(root, pattern)])
    const ports = makeCommandPorts({ workspace, baseUrl: service.url, token, clock: EAGER_CLOCK, findFiles })
    const code = await runCommandLine(['check', ...files], ports)
    return `${ports.screen.out.text}${code}`
  }
  try {
    expect(await checkService('the-token-of-this-test')).toMatch(/^No problems found\.\n0$/)
    expect(await checkService('another-token')).toMatch(/^error +.*401[^]*\n2$/)
  } finally {
    await service.close()
  }
  expect(await checkService('the-token-of-this-test')).toMatch(/^error +.*ECONNREFUSED[^]*\n2$/)
})

test('a warning does not fail it, and errors do', async () => {
  expect(await shop('--override-parameters', '-Jhots=a')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^warning {2}-Jhots has no effect.*\nnote .*\n0 errors, 1 warning\.\n$/)
  })
  expect(
    await shop('--thresholds', 'p95{label="chekout"} < 1s', '--warm-up', '60s', '--duration', '60s')
  ).toEqual({
    code: 2,
    out: [
      'error  warm-up is 60 s and duration is 60 s, so nothing is left to judge; make duration longer than warm-up.',
      'error  The threshold p95{label="chekout"} < 1s has nothing to judge: no request of the plan is called "chekout"; did you mean "checkout"?',
      `note   The target http://127.0.0.1:${port}/ answers (200).`,
      '2 errors, 0 warnings. Fix the errors before a run.',
      ''
    ].join('\n')
  })
})

test('a parameter of the base that the plan does not read is an error', async () => {
  const sides = ['--baseline', 'side-by-side', '--duration', '5s', '--baseline-parameters']
  const { code, out } = await shop(...sides, '-Jhots=a')
  expect(code).toBe(2)
  expect(out).toMatch(
    /^error {2}baseline-parameters: -Jhots has no effect: .*base and head would be the same server/m
  )
  expect((await shop(...sides, '-Jport=1')).out).not.toContain('baseline-parameters')
})

test('every problem of the settings at once, also as JSON', async () => {
  const { code, out } = await check('--files', 'gone.jmx', '--threads', 'many', '--json')
  expect(code).toBe(2)
  expect(JSON.parse(out)).toMatchObject({
    errors: 2,
    warnings: 0,
    findings: [
      { level: 'error', message: expect.stringContaining('gone.jmx') },
      { level: 'error', message: expect.stringContaining('threads') }
    ]
  })
})

test('a target that is down, or answers with an error', async () => {
  status = 503
  expect(await shop()).toMatchObject({
    code: 2,
    out: expect.stringContaining('answers 503, an error of the server')
  })
  await new Promise((done) => server.close(done))
  expect(await shop()).toMatchObject({
    code: 2,
    out: expect.stringContaining(
      `127.0.0.1:${port} refused the connection (ECONNREFUSED): nothing listens there. Start the server first`
    )
  })
  expect(await shop('--rehearse')).toEqual({ code: 0, out: 'No problems found.\n' })
})

test('wait-for names what to ask, and its query is not shown', async () => {
  const { out } = await check(
    '--files',
    'plan.jmx',
    '--files',
    'users.csv',
    '--wait-for',
    `http://127.0.0.1:${port}/up?key=s3cret`
  )
  expect(out).toContain(`The target http://127.0.0.1:${port}/up?*** answers (200).`)
})

test('a wait-for that is refused is shown without its secrets', async () => {
  const refused = async (value: string): Promise<string> =>
    (await check('--files', 'plan.jmx', '--files', 'users.csv', '--wait-for', value)).out
  expect(await refused('http://u:s3cret@shop.example/?k=s3cret')).toContain(
    'wait-for: "http://***@shop.example/?***"'
  )
  expect(await refused('http://shop.example/?k=s3cret 5x')).toContain(
    'wait-for: "http://shop.example/?*** 5x"'
  )
  expect(await refused('u:s3cret@shop.example k=s3cret')).not.toContain('s3cret')
})

test('labels of redirects, and one that differs in spaces', async () => {
  const { out } = await shop('--thresholds', 'p95{label="checkout-0"} < 1s')
  expect(out).toContain('No problems found.')
  const plan = join(workspace, 'plan.jmx')
  await writeFile(
    plan,
    (await readFile(plan, 'utf8')).replaceAll('testname="checkout"', 'testname="checkout "')
  )
  expect((await shop('--thresholds', 'p95{label="checkout"} < 1s')).out).toContain(
    'there is "checkout ", with spaces around it'
  )
})

test('no Java, an old one, and no space', async () => {
  const home = join(workspace, 'java')
  const none = join(workspace, 'none')
  const machine = (env: NodeJS.ProcessEnv, freeMb = 1000): Promise<unknown> =>
    checkMachine(
      { tool: 'gatling', plan: 'a.java', workspace },
      { env, freeMb: () => Promise.resolve(freeMb) }
    )
  expect(await machine({ PATH: workspace })).toEqual([
    {
      level: 'error',
      message: expect.stringContaining('gatling needs Java, and there is no java on the PATH: install a JDK')
    }
  ])
  expect(await machine({ JAVA_HOME: none })).toEqual([
    { level: 'error', message: expect.stringContaining(`JAVA_HOME is ${none}, where no bin/java runs`) }
  ])
  expect(await machine({ JAVA_HOME: home })).toEqual([
    { level: 'error', message: expect.stringContaining('there is no javac') }
  ])
  await writeJava('1.8.0_402')
  expect(await machine({ JAVA_HOME: home }, 12)).toEqual([
    { level: 'error', message: expect.stringContaining('needs Java 11 or later, and') },
    { level: 'warning', message: expect.stringContaining('Only 12 MB are free') }
  ])
})

test('the classes of a JMeter of one’s own are found in its jars', async () => {
  const home = join(workspace, 'jmeter')
  await mkdir(join(home, 'lib/ext'), { recursive: true })
  await writeFile(join(home, 'lib/ext/plugin.jar'), 'PK…kg/apc/Dummy.class…kg/apc/Outer$Inner.class')
  const has = createClassFinder({ JMETER_HOME: home })
  expect(['kg.apc.Dummy', 'kg.apc.Outer_-Inner', 'kg.apc.Other'].map(has)).toEqual([true, true, false])
  expect(createClassFinder({ JMETER_HOME: join(workspace, 'gone') })('kg.apc.Dummy')).toBeUndefined()
  expect(createClassFinder({ PATH: workspace })('kg.apc.Dummy')).toBe(false)
  const ofRun = createClassFinder({ PATH: workspace }, [join(home, 'lib/ext/plugin.jar')])
  expect(['kg.apc.Dummy', 'kg.apc.Other'].map(ofRun)).toEqual([true, false])
  let nowMs = 0
  const slow = createClassFinder({ JMETER_HOME: home }, [], () => (nowMs += 700))
  expect(['kg.apc.A', 'kg.apc.B', 'kg.apc.C', 'kg.apc.A'].map(slow)).toEqual([false, false, undefined, false])
})

describe(`a script of k6${k6Note}`, () => {
  const testWithK6 = lacksK6 ? test.skip : test
  /** The findings for a script and these flags, without what is said of the target. */
  async function checkScript(code: string, ...args: string[]): Promise<string[]> {
    process.env.K6 = K6
    await writeFile(join(workspace, 'shop.js'), code)
    const { out } = await check('--tool', 'k6', '--files', 'shop.js', '--json', ...args)
    const { findings } = JSON.parse(out) as { findings: { level: string; message: string }[] }
    return findings
      .filter(({ message }) => !message.startsWith('The target'))
      .map(({ level, message }) => `${level}: ${message}`)
  }
  const EMPTY = 'export default function () {}\n'

  testWithK6('that k6 can read has no findings, with the files and variables of a run', async () => {
    const code = `${EMPTY}if (!open('./users.csv').includes('user') || __ENV.HOST !== 'a' || __ENV.THREADS !== '3') throw new Error('no')`
    const load = ['--threads', '3', '--duration', '9s', '--override-parameters', '-Jhost=a']
    expect(await checkScript(code, '--files', 'users.csv', ...load)).toEqual([])
  })

  testWithK6.each([
    {
      name: 'that cannot be parsed',
      code: 'export default function () {',
      words: /^error: k6 cannot read shop\.js: .*Line 1:\d+ Unexpected end of input/
    },
    {
      name: 'with a threshold that is not one',
      code: `${EMPTY}export const options = { thresholds: { http_req_duration: ['p(95)<<500'] } }`,
      words: /^error: The options of shop\.js are not valid: .*p\(95\)<<500/
    },
    {
      name: 'with a threshold that its metric does not have',
      code: `${EMPTY}export const options = { thresholds: { http_reqs: ['p(95)<500'] } }`,
      words:
        /^error: The options of shop\.js are not valid: invalid threshold "p\(95\)<500" applied on metric http_reqs/
    },
    {
      name: 'without a default function',
      code: 'export function browse() {}',
      words: /^error: .*function 'default' not found in exports/
    }
  ])('$name', async ({ code, words }) => {
    expect(await checkScript(code)).toEqual([expect.stringMatching(words)])
  })

  testWithK6('that opens a file which is not listed', async () => {
    expect(await checkScript(`${EMPTY}const path = './no' + '.csv'\nopen(path)`)).toEqual([
      expect.stringMatching(
        /^error: k6 cannot read shop\.js: GoError: stat no\.csv: no such file or directory at shop\.js:3:.* list the file under files/
      )
    ])
  })

  testWithK6('with scenarios from elsewhere that ignore the settings', async () => {
    const scenario = { a: { executor: 'constant-vus', vus: 1, duration: '1s' } }
    await writeFile(join(workspace, 'options.json'), JSON.stringify({ scenarios: scenario }))
    const code = `${EMPTY}export const options = JSON.parse(open('./options.json'))`
    expect(await checkScript(code, '--files', 'options.json', '--threads', '5')).toEqual([
      'warning: threads is 5, but shop.js has scenarios of its own and does not read it; use __ENV.THREADS in them, or remove threads.'
    ])
  })

  testWithK6('with hosts of its own beside override-hosts', async () => {
    const code = `${EMPTY}export const options = { hosts: { 'a.test': '127.0.0.1' } }`
    expect(await checkScript(code, '--override-hosts', 'b.test/127.0.0.1')).toEqual([
      'error: shop.js sets options.hosts, which wins over override-hosts: remove one of the two.'
    ])
  })

  testWithK6.each([
    {
      what: 'with more threads than iterations',
      options: 'vus: 2, iterations: 4',
      flags: ['--threads', '5'],
      says: /^error: The options of shop\.js are not valid: .*iterations \(4\) can't be less than the number of VUs \(5\)/
    },
    {
      what: 'that pauses',
      options: 'paused: true',
      says: /^error: shop\.js sets options\.paused, .*script\.$/
    },
    {
      what: 'with a part of the load',
      options: "executionSegment: '0:1/2'",
      says: /^error: shop\.js sets options\.executionSegment/
    },
    {
      what: 'with threads and no end',
      options: '',
      flags: ['--threads', '5'],
      says: /^error: threads is 5, but /
    },
    {
      what: 'with stages that are replaced',
      options: "stages: [{ duration: '1s', target: 3 }]",
      flags: ['--threads', '5', '--duration', '9s'],
      says: /^warning: shop\.js has stages of its own, which threads and duration replace: /
    },
    {
      what: 'with a host that ends with a dot',
      options: "tags: { a: 'http://a.test./' }",
      flags: ['--override-hosts', 'a.test/127.0.0.1'],
      says: /^error: k6 replaces no host with a final dot, so a\.test\. would be looked up/
    }
  ])('$what: as in a run', async ({ options, flags = [], says }) => {
    const code = `${EMPTY}export const options = { ${options} }`
    expect(await checkScript(code, ...flags)).toEqual([expect.stringMatching(says)])
  })

  test('leaves no process behind that k6 has started', async () => {
    await writeFile(join(workspace, 'shop.js'), EMPTY)
    process.env.K6 = join(workspace, 'wrapper')
    await writeFile(
      process.env.K6,
      `#!/bin/sh\nsleep 1000 &\necho $! >>'${workspace}/pids'\n[ "$1" = inspect ] && echo '{}' || echo 'k6 v1.8.1'\n`
    )
    await chmod(process.env.K6, 0o755)
    expect(await check('--tool', 'k6', '--files', 'shop.js')).toMatchObject({ code: 0 })
    const pids = (await readFile(join(workspace, 'pids'), 'utf8')).trim().split('\n').map(Number)
    expect(pids).toHaveLength(3)
    await until(() => !pids.some(isAlive))
  })

  testWithK6('that repeats a secret does not make the check repeat it', async () => {
    const flags = ['--override-parameters', '-Jpassword=hunter-2000']
    const [finding] = await checkScript(`${EMPTY}throw new Error(__ENV.PASSWORD)`, ...flags)
    expect(finding).toMatch(/Error: \*\*\*/)
  })

  testWithK6.each([500, 900, 970])(
    'nor half of one, where the message is cut: after %s characters',
    async (length) => {
      await writeFile(join(workspace, 'environment'), 'API_TOKEN=hunter-2000-hunter-2000-hunter-2000\n')
      const code = `${EMPTY}throw new Error('x'.repeat(${length}) + __ENV.API_TOKEN)`
      const [finding] = await checkScript(code, '--files', 'environment')
      expect(finding).toContain('xxx')
      expect(finding).not.toContain('hunt')
    }
  )

  test('without k6 says so, and how to install it', async () => {
    await writeFile(join(workspace, 'shop.js'), EMPTY)
    process.env.K6 = join(workspace, 'no-k6')
    const { code, out } = await check('--tool', 'k6', '--files', 'shop.js')
    expect(code).toBe(2)
    expect(out).toMatch(
      /error +shop\.js could not be checked: K6 is .*no-k6, but there is no program: point it to k6, or unset it\./
    )
    const rehearsed = await check('--tool', 'k6', '--files', 'shop.js', '--rehearse')
    expect(rehearsed).toMatchObject({ code: 0, out: expect.not.stringContaining('k6 1.0') })
  })

  test('with a k6 that is too old says so', async () => {
    await writeFile(join(workspace, 'shop.js'), EMPTY)
    process.env.K6 = join(workspace, 'old-k6')
    await writeFile(process.env.K6, "#!/bin/sh\necho 'k6 v0.57.0 (go1.23)'\n")
    await chmod(process.env.K6, 0o755)
    const { out } = await check('--tool', 'k6', '--files', 'shop.js')
    expect(out).toMatch(
      /error +shop\.js could not be checked: .*old-k6 is k6 0\.57\.0, which is too old\. Install k6 1\.0 or later: /
    )
  })
})
