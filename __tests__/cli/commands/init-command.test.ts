import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync
} from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { PassThrough } from 'node:stream'
import { parse } from 'yaml'
import { CancelledError } from '../../../src/gate/errors.js'
import { readConfigFile } from '../../../src/contract/config-file.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { openPrompt, type Prompt } from '../../../src/cli/init/asker.js'
import { writeFiles } from '../../../src/cli/init/write-files.js'
import { makeCommandPorts, type TestCommandPorts } from '../command-ports.js'

const CONFIG = '.github/loadgate.yml'
const WORKFLOW = '.github/workflows/loadgate.yml'
const PLAN = 'load/plan.jmx'
const SCRIPT = 'load/script.js'
const HAR = resolve('__tests__/fixtures/init/shop.har')
const API = resolve('__tests__/fixtures/init/shop-api.yaml')
let workspace: string
beforeEach(() => {
  workspace = realpathSync(mkdtempSync(join(tmpdir(), 'loadgate-init-')))
})
afterEach(() => rmSync(workspace, { recursive: true }))

function put(path: string, text: string): void {
  mkdirSync(dirname(join(workspace, path)), { recursive: true })
  writeFileSync(join(workspace, path), text)
}
const read = (path: string): string => readFileSync(join(workspace, path), 'utf8')
const list = (): string[] => readdirSync(workspace, { recursive: true, encoding: 'utf8' }).sort()
const WRITTEN = ['.github', CONFIG, '.github/workflows', WORKFLOW, '.gitignore', 'load', PLAN]

interface Tried {
  readonly code: number
  readonly out: string
  readonly err: string
}

async function init(args: readonly string[], changes: Partial<TestCommandPorts> = {}): Promise<Tried> {
  const ports = makeCommandPorts({ workspace, ...changes })
  const code = await runCommandLine(['init', ...args], ports)
  return { code, out: ports.screen.out.text, err: ports.screen.err.text }
}

/** Someone at a terminal who types these lines, and then Ctrl-D. */
function typing(...lines: readonly string[]): Pick<TestCommandPorts, 'openPrompt'> {
  const input = new PassThrough()
  input.end(lines.map((line) => `${line}\n`).join(''))
  return { openPrompt: () => openPrompt(input) }
}

describe('without a terminal', () => {
  test('the defaults: a plan, a config file that is accepted, a workflow, and what to do next', async () => {
    const { code, out } = await init([])
    expect(code).toBe(0)
    expect(list()).toEqual(WRITTEN)
    const { values, problems } = readConfigFile(read(CONFIG))
    expect(problems).toEqual([])
    expect(values).toEqual({
      'base-url': 'local',
      tool: 'jmeter',
      files: PLAN,
      threads: '5',
      rampup: '6s',
      duration: '60s',
      'wait-for': 'http://localhost:8080/',
      timeout: '16m',
      thresholds: 'error_rate < 1%\np95 < 800ms'
    })
    expect(read(CONFIG)).toMatch(
      /^# yaml-language-server: \$schema=https:\/\/\S+\/schema\/config\.schema\.json\n/
    )
    expect(out).toContain('run `loadgate check`')
    expect(out).toContain('`loadgate run` gives a first verdict')
    expect(out).toContain('make the check "Load gate" required')
  })

  test('flags say the rest, and --json lists what was written', async () => {
    const flags = ['--threads', '9', '--duration', '2m', '--rampup', '0s', '--json']
    const { out } = await init([
      ...['--from-url', 'http://app.test/a', '--from-url', 'http://app.test/b?x=1', ...flags],
      ...['--thresholds', 'p95{label="GET /a", region="eu"} < 1s', '--thresholds', 'warn: samples > 3']
    ])
    expect(JSON.parse(out)).toMatchObject({
      written: [PLAN, CONFIG, WORKFLOW, '.gitignore'],
      target: 'http://app.test',
      requests: ['GET /a', 'GET /b'],
      disabled: [],
      start: { kind: 'elsewhere' },
      notes: [expect.stringContaining('The load goes to http://app.test: make sure that you may test it')]
    })
    const { values } = readConfigFile(read(CONFIG))
    expect(values.thresholds).toBe('p95{label="GET /a", region="eu"} < 1s\nwarn: samples > 3')
    expect(values['wait-for']).toBe('http://app.test/a')
    expect(read(PLAN)).toContain('${__P(threads,9)}')
    expect(read(PLAN)).toContain('${__P(duration,120)}')
    expect(read(PLAN)).toContain('${__P(rampup,0)}')
  })

  test.each([
    ['20/s', 'rate(${__P(rate,20)}/s)', '20 users per second'],
    ['7.5', 'rate(${__P(rate,7.5)}/s)', '7.5 users per second'],
    ['90/min', 'rate(${__P(rate,90)}/min)', '90 users per minute'],
    ['1/h', 'rate(${__P(rate,1)}/h)', '1 user per hour']
  ])('--rate %s: an open plan, and no threads', async (rate, written, words) => {
    const { out } = await init(['--rate', rate, '--duration', '2m'])
    expect(read(PLAN)).toContain('<OpenModelThreadGroup ')
    expect(read(PLAN)).toContain(
      `rate(0/${written.split('/')[1]!.slice(0, -1)}) random_arrivals(\${__P(rampup,12)} s) ${written} random_arrivals(\${__intSum(\${__P(duration,120)},-\${__P(rampup,12)})} s)`
    )
    expect(read(PLAN)).not.toContain('threads,')
    const { values, problems } = readConfigFile(read(CONFIG))
    expect(problems).toEqual([])
    expect([values.threads, values.rampup, values.duration]).toEqual([undefined, '12s', '120s'])
    expect(read(CONFIG)).toContain(words)
    expect(out).toContain(`${words} for 120 s`)
  })

  test('--tool k6: a script, with k6 in the config file and in the workflow', async () => {
    const { code, out } = await init(['--tool', 'k6', '--from-har', HAR, '--target', 'localhost:3000'])
    expect(code).toBe(0)
    expect(list()).toEqual(WRITTEN.map((path) => (path === PLAN ? SCRIPT : path)))
    const { values, problems } = readConfigFile(read(CONFIG))
    expect(problems).toEqual([])
    expect(values).toMatchObject({ tool: 'k6', files: SCRIPT, threads: '5', rampup: '6s', duration: '60s' })
    expect(read(CONFIG)).toContain('# override-parameters: -Jbase_url=https://staging.example.com\n')
    expect(read(CONFIG)).toContain('error_rate{label="check: *"} < 1%')
    const secrets = '-Jvalue_access_token=…, -Jvalue_authorization=…, -Jvalue_x_tenant=…'
    expect(read(CONFIG)).toContain(`# override-parameters: ${secrets}\n`)
    expect(out.replace(/\s+/g, ' ')).toContain(secrets)
    expect(read(SCRIPT)).toContain('const application = __ENV.BASE_URL || "http://localhost:3000"')
    expect(read(WORKFLOW)).toMatch(/uses: grafana\/setup-k6-action@[0-9a-f]{40} # v/)
    expect(read(WORKFLOW)).not.toContain('setup-java')
    expect(out).toContain('with k6 1.0 or later')
    expect(out).not.toContain('Java')
  })

  test.each([
    { tool: 'jmeter', parameters: '-Jpassword=env:LOADGATE_PARAMETER_PASSWORD' },
    { tool: 'k6', parameters: '-Jvalue_password=env:LOADGATE_PARAMETER_PASSWORD' }
  ])(
    'a login, $tool: what is correlated, and where the password comes from',
    async ({ tool, parameters }) => {
      const har = resolve('__tests__/fixtures/init/login-token.har')
      const { code, out } = await init(['--tool', tool, '--from-har', har])
      expect(code).toBe(0)
      expect(out).toContain(
        'Taken from replies and sent later:\n- token from POST /api/login → Authorization of 3 requests\n'
      )
      expect(out).toContain('\n1. Set LOADGATE_PARAMETER_PASSWORD: the plan logs in with it, ')
      expect(out).toContain('\n2. Start the application')
      expect(readConfigFile(read(CONFIG))).toMatchObject({
        problems: [],
        values: { 'override-parameters': parameters }
      })
      const { jobs } = parse(read(WORKFLOW)) as {
        jobs: { gate: { steps: { uses?: string; env?: object }[] } }
      }
      expect(jobs.gate.steps.find(({ uses }) => uses?.startsWith('loadgate/'))?.env).toEqual({
        LOADGATE_PARAMETER_PASSWORD: '${{ secrets.LOADGATE_PARAMETER_PASSWORD }}'
      })
      expect(
        list()
          .map((path) => (path.endsWith('.yml') || path.includes('load/') ? read(path) : ''))
          .join()
      ).not.toContain('open-sesame')
    }
  )

  test('a login in JSON: for scripts', async () => {
    const har = resolve('__tests__/fixtures/init/login-form.har')
    const { out } = await init(['--json', '--from-har', har])
    expect(JSON.parse(out)).toMatchObject({
      correlations: ['csrf from GET /login → csrf of POST /login', expect.any(String), expect.any(String)],
      credentials: [{ property: 'password', variable: 'LOADGATE_PARAMETER_PASSWORD' }]
    })
  })

  test('--tool k6 --rate: no threads', async () => {
    await init(['--tool', 'k6', '--rate', '90/min', '--duration', '2m'])
    const { values, problems } = readConfigFile(read(CONFIG))
    expect(problems).toEqual([])
    expect([values.threads, values.rampup, values.duration]).toEqual([undefined, '12s', '120s'])
    expect(read(SCRIPT)).toContain("executor: 'constant-arrival-rate'")
    expect(read(CONFIG)).toContain('90 users per minute')
  })

  test('a script that exists is kept, and a tool without a writer is refused', async () => {
    put(SCRIPT, 'mine')
    await expect(init(['--tool', 'k6'])).rejects.toThrow(`${SCRIPT} already exists`)
    expect(read(SCRIPT)).toBe('mine')
    await expect(init(['--tool', 'gatling'])).rejects.toThrow(
      '--tool: "gatling" is invalid; expected one of jmeter, k6'
    )
    expect((await init([])).code).toBe(0)
  })

  test('a job that GitHub would end is said', async () => {
    expect((await init(['--duration', '7h'])).out.replace(/\s+/g, ' ')).toContain(
      'this one may take 450 minutes'
    )
  })

  test('--target points a recording or an API elsewhere', async () => {
    await init(['--from-har', HAR, '--target', 'localhost:3000'])
    expect(read(PLAN)).toContain('${__P(port,3000)}')
    expect(read(CONFIG)).toContain('wait-for: http://localhost:3000/\n')
    expect(read(CONFIG)).toContain(
      '# override-parameters: -Jaccess_token=…, -Jauthorization=…, -Jx-tenant=…\n'
    )
  })

  test.each([
    { args: ['--from-url', 'http://a/', '--from-har', HAR], words: 'two ways to make the plan' },
    { args: ['--from-openapi', 'no.yaml'], words: 'no.yaml cannot be read: there is no such file' },
    { args: ['--from-har', '.'], words: '. is not a file' },
    { args: ['--from-har', API], words: 'shop-api.yaml: it is not a HAR file' },
    { args: ['--from-openapi', HAR], words: 'shop.har: it is not a description of an API' },
    { args: ['--from-har', HAR, '--target', 'ftp://x'], words: '--target: "ftp://x" is not an http' },
    { args: ['--from-har', HAR, '--target', 'http://x/a'], words: 'give the address without one: http://x' },
    { args: ['--duration', '99999h'], words: '--duration: "99999h" is invalid; expected at most 24h' },
    { args: ['--rampup', '25h'], words: '--rampup: "25h" is invalid; expected at most 24h' },
    { args: ['--target', 'http://x/'], words: '--target only works with --from-openapi or --from-har' },
    {
      args: ['--from-har', HAR, '--think-times', '--duration', '2s', '--rampup', '0'],
      words: 'the last ones would never be sent'
    },
    { args: ['--from-openapi', API, '--think-times'], words: '--think-times only works with --from-har' },
    {
      args: ['--threads', 'many'],
      words: '--threads: "many" is invalid; expected a whole number from 1 to 1000'
    },
    { args: ['--rate', 'fast'], words: '--rate: "fast" is invalid; expected a rate such as 20/s' },
    { args: ['--rate', '0/s'], words: '--rate: "0/s" is invalid' },
    { args: ['--rate', '99999/s'], words: 'at most 10000/s' },
    { args: ['--rate', '20/s', '--threads', '5'], words: '--rate and --threads are two ways' },
    { args: ['--rate', '20/s', '--rampup', '2m'], words: '--rampup is longer than the duration' },
    { args: ['--duration', '5 minutes'], words: '--duration: "5 minutes" is invalid' },
    { args: ['--thresholds', 'error_rate < 1'], words: 'did you mean 1%?' }
  ])('$args: $words', async ({ args, words }) => {
    await expect(init(args)).rejects.toThrow(words)
    expect(list()).toEqual([])
  })

  test('a file that is too large is refused before it is read', async () => {
    put('large.har', '')
    truncateSync(join(workspace, 'large.har'), 200 * 1024 * 1024)
    await expect(init(['--from-har', 'large.har'])).rejects.toThrow(
      'large.har has 200 MiB, and at most 100 are read'
    )
  })

  test.each([
    {
      name: 'deep.har',
      text: `{"log":{"entries":${'['.repeat(50_000)}${']'.repeat(50_000)}}}`,
      flag: '--from-har'
    },
    { name: 'deep.yaml', text: `openapi: 3.0.0\nx: ${'['.repeat(50_000)}`, flag: '--from-openapi' }
  ])('$name, nested very deeply, is refused in a sentence', async ({ name, text, flag }) => {
    put(name, text)
    await expect(init([flag, name])).rejects.toMatchObject({ name: 'UsageError' })
  })

  test('a plan that would send nothing is refused, and --all-methods is the way out', async () => {
    put('api.json', '{"openapi":"3.0.0","paths":{"/a":{"post":{}}}}')
    await expect(init(['--from-openapi', 'api.json'])).rejects.toThrow(
      'api.json: none of its 1 requests is a GET or HEAD that can be sent as it is, so the plan would send nothing; --all-methods enables the others'
    )
    const all = ['--from-openapi', 'api.json', '--all-methods']
    const assumed = 'names no server, so the plan has http://localhost:8080. --target gives another address'
    expect(await init(all)).toMatchObject({ code: 0, out: expect.stringContaining(assumed) })
    const { out } = await init([...all, '--force', '--target', 'http://localhost:8080'])
    expect(out).not.toContain('names no server')
    const requestBody = { content: { 'multipart/form-data': {} } }
    put('upload.json', JSON.stringify({ openapi: '3.0.0', paths: { '/a': { post: { requestBody } } } }))
    for (const flags of [[], ['--all-methods']])
      await expect(init(['--from-openapi', 'upload.json', '--force', ...flags])).rejects.toThrow(
        'upload.json: none of its 1 requests can be sent as it is, so the plan would send nothing; for the first: Its body is multipart/form-data;'
      )
  })
})

describe('files that exist', () => {
  test('are not overwritten: nothing is written, and all of them are named', async () => {
    put(CONFIG, 'mine')
    put(PLAN, 'mine too')
    await expect(init(['--yes'])).rejects.toThrow(
      `${PLAN} and ${CONFIG} already exist; move them, or overwrite with --force. Nothing was written`
    )
    expect([read(CONFIG), read(PLAN)]).toEqual(['mine', 'mine too'])
    expect(list()).not.toContain(WORKFLOW)
  })

  test('are overwritten with --force, and nothing else is left', async () => {
    put(PLAN, 'mine')
    await init(['--force'])
    expect(read(PLAN)).toContain('<jmeterTestPlan')
    expect(list()).toEqual(WRITTEN)
  })

  test.each([
    { link: '.github', to: '../outside', words: '.github is a link that leads out of this folder' },
    { link: 'load', to: 'nowhere', words: 'load is a link that leads out of this folder' }
  ])('$words', async ({ link, to, words }) => {
    const inside = join(workspace, 'inside')
    for (const name of ['inside', 'outside']) mkdirSync(join(workspace, name))
    symlinkSync(to, join(inside, link))
    await expect(init(['--force'], { workspace: inside })).rejects.toThrow(words)
    expect([readdirSync(inside), readdirSync(join(workspace, 'outside'))]).toEqual([[link], []])
  })

  test('a link in place of a file is replaced, and what it leads to stays', async () => {
    put('elsewhere', 'untouched')
    mkdirSync(join(workspace, 'load'))
    symlinkSync('../elsewhere', join(workspace, PLAN))
    await expect(init([])).rejects.toThrow(`${PLAN} already exists`)
    await init(['--force'])
    expect(read('elsewhere')).toBe('untouched')
    expect(read(PLAN)).toContain('<jmeterTestPlan')
  })

  test.each([
    { path: 'load', words: 'load is a file, where a folder should be' },
    { path: `${PLAN}/x`, words: `${PLAN} is a folder, where a file should be` }
  ])('$words', async ({ path, words }) => {
    put(path, '')
    await expect(init(['--force'])).rejects.toThrow(words)
  })

  test('what cannot be finished is told with what is there, and nothing is left half', async () => {
    put('a/old', 'old')
    // The name of the last one is too long for a file.
    const files = ['a/old', 'b/c/new', `d/${'x'.repeat(300)}`].map((path) => ({ path, text: 'new' }))
    await expect(writeFiles(workspace, files, true)).rejects.toThrow(
      /ENAMETOOLONG.*Written: a\/old, b\/c\/new$/
    )
    expect(list()).toEqual(['a', 'a/old', 'b', 'b/c', 'b/c/new'])
  })

  test('a file that appears between the questions and the writing is not overwritten', async () => {
    const prompt: Prompt = {
      readLine: () => {
        put(PLAN, 'mine')
        return Promise.resolve('')
      },
      close: () => undefined
    }
    await expect(init([], { openPrompt: () => prompt })).rejects.toThrow(`${PLAN} already exists`)
    expect(read(PLAN)).toBe('mine')
  })
})

describe('at a terminal', () => {
  test('a wrong path is refused before the other questions', async () => {
    const ports = makeCommandPorts({ workspace, ...typing('HAR', 'no.har') })
    await expect(runCommandLine(['init'], ports)).rejects.toThrow('no.har cannot be read')
    expect(ports.screen.out.text).not.toContain('How many users')
  })

  test('asks what flags leave open; Enter takes the default, and what is not accepted is asked again', async () => {
    const { code, out } = await init(
      ['--duration', '30s'],
      typing('', 'ftp://x', 'localhost:3000/shop', '0', '7', 'p95 < 1', 'p95 < 1s, error_rate < 2%')
    )
    expect(code).toBe(0)
    expect(out).toContain('Address of the application? [http://localhost:8080/] ')
    expect(out).toContain('That is not accepted; expected a whole number from 1 to 1000\n')
    expect(out).not.toContain('For how long?')
    const { values } = readConfigFile(read(CONFIG))
    expect(values).toMatchObject({
      threads: '7',
      duration: '30s',
      'wait-for': 'http://localhost:3000/shop',
      thresholds: 'p95 < 1s\nerror_rate < 2%'
    })
  })

  test('a file is asked for by its path', async () => {
    await init([], typing('har', '', HAR, '', '', ''))
    expect(read(PLAN)).toContain('testname="GET /search"')
  })

  test('--yes asks nothing', async () => {
    const { code, out } = await init(['--yes'], {
      openPrompt: () => {
        throw new Error('asked')
      }
    })
    expect(code).toBe(0)
    expect(out).not.toContain('?')
  })

  test('Ctrl-D: nothing is written, exit code 2', async () => {
    const { code, err } = await init([], typing('url'))
    expect({ code, files: list() }).toEqual({ code: 2, files: [] })
    expect(err).toContain('the input ended before the last question; nothing was written.')
  })

  test('Ctrl-C: nothing is written, exit code 130', async () => {
    const ports = makeCommandPorts({ workspace, openPrompt: () => openPrompt(new PassThrough()) })
    const ended = runCommandLine(['init'], ports)
    setImmediate(() => ports.cancellation.abort(new CancelledError('SIGINT')))
    expect(await ended).toBe(130)
    expect(ports.screen.err.text).toBe('\nloadgate: cancelled; nothing was written.\n')
    expect(list()).toEqual([])
  })
})

describe('the workflow', () => {
  interface Job {
    readonly jobs: { gate: { steps: { name?: string; uses?: string; run?: string; env?: object }[] } }
  }
  const steps = (): Job['jobs']['gate']['steps'] => (parse(read(WORKFLOW)) as Job).jobs.gate.steps

  test.each([
    { file: 'compose.yaml', text: '', run: 'docker compose up --detach --build\n' },
    {
      file: 'Dockerfile',
      text: '',
      run: 'docker build --tag application .\ndocker run --detach --name application --env PORT=8080 --publish 8080:8080 application\n'
    },
    {
      file: 'package.json',
      text: '{"scripts":{"start":"node server.js"}}',
      run: 'npm install\nnohup npm start > "$RUNNER_TEMP/application.log" 2>&1 &\n'
    },
    { file: 'package.json', text: '{', run: expect.stringContaining('::warning::') },
    { file: 'package.json', text: '{"scripts":{}}', run: expect.stringContaining('::warning::') }
  ])('$file $text starts the application', async ({ file, text, run }) => {
    put(file, text)
    await init([])
    expect(steps().find(({ name }) => name === 'Start the application')?.run).toEqual(run)
    expect(steps().map(({ uses }) => uses)).toContain('loadgate/loadgate@v1')
  })

  test('a clone names its own commit, a package its major version, also inside a repository of others', async () => {
    const root = join(workspace, 'loadgate')
    mkdirSync(join(root, 'examples'), { recursive: true })
    const git = (...args: string[]): string =>
      execFileSync('git', ['-C', root, '-c', 'user.name=x', '-c', 'user.email=x@example.com', ...args], {
        encoding: 'utf8'
      }).trim()
    git('init', '--quiet')
    git('commit', '--quiet', '--allow-empty', '--message', 'A version')
    const commit = git('rev-parse', 'HEAD')
    await init([], { examplesDir: join(root, 'examples') })
    expect(steps().map(({ uses }) => uses)).toContain(`loadgate/loadgate@${commit}`)
    expect(read(CONFIG)).toContain(`/loadgate/${commit}/schema/config.schema.json`)
    await init(['--force'], { examplesDir: join(root, 'node_modules/loadgate/examples') })
    expect(read(WORKFLOW)).toContain('loadgate/loadgate@v1 # zizmor: ignore[unpinned-uses]')
    expect(read(CONFIG)).toContain('/loadgate/v1/schema/config.schema.json')
  })

  test('an application elsewhere is not started', async () => {
    put('compose.yaml', '')
    await init(['--from-url', 'https://staging.example.com/'])
    expect(steps().map(({ name }) => name)).not.toContain('Start the application')
  })

  test('below the root of a repository it says that GitHub would not see it', async () => {
    mkdirSync(join(workspace, '.git'))
    mkdirSync(join(workspace, 'sub'))
    const { out } = await init([], { workspace: join(workspace, 'sub') })
    expect(out).toContain(`GitHub looks for workflows at the root of the repository, ${workspace}`)
  })
})
