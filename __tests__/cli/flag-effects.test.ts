import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, readFileSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join, resolve } from 'node:path'
import { encodeBaseline } from '../../src/analysis/baseline/document/baseline-document.js'
import { messageOf } from '../../src/contract/text.js'
import type { Clock } from '../../src/contract/clock.js'
import { COMMANDS, runCommandLine } from '../../src/cli/commands.js'
import type { OpenQueue, Users } from '../../src/cli/ports.js'
import { makeDocument } from '../support/baseline/make-recorded.js'
import { FakeService, sampleCsv, type Fault } from '../support/fake-service.js'
import { QUIET_PLAN } from '../support/quiet-plan.js'
import { EAGER_CLOCK, makeCommandPorts } from './command-ports.js'
import { removeFolder } from '../support/remove-folder.js'

/** A flag that is accepted and does nothing passes without evidence: each must change what the command does or prints. */

const GRID =
  '{ region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'
/** A request to where nothing listens. */
const DOWN =
  '<hashTree><HTTPSamplerProxy testname="home"><stringProp name="HTTPSampler.domain">127.0.0.1</stringProp><stringProp name="HTTPSampler.port">1</stringProp></HTTPSamplerProxy></hashTree>'
const REGIONS = 'eu: { processes: {} }'
const RUN = 'run00000001'
const URL_HERE = 'URL'
const SHA = 'a'.repeat(40)
const RECORD = ['baseline', 'record', 'done', '--baseline', 'b.json.gz', '--commit', SHA]
/** The verdict of a run that can be recorded. */
const FINISHED = {
  verdict: 'passed',
  'run-id': RUN,
  metrics: { overall: { samples: 10 } },
  grids: [{ gridId: 'g1', region: 'eu' }],
  baseline: { fingerprint: { plan: 'a' } }
}
const API = '{"openapi":"3.0.0","paths":{"/a":{"get":{},"post":{}}}}'
const HAR =
  '{"log":{"entries":[{"request":{"method":"GET","url":"http://a.test/"},"response":{"status":200}}]}}'
/** The service accepts no run: what was sent is seen, and nothing takes long. */
const NO_CREDIT = 'NO-CREDIT'

const ANNA = {
  id: 1,
  name: 'anna',
  role: 'admin' as const,
  token: 'lg_1',
  issuer: '',
  waitingRuns: [],
  runsAtWork: []
}
const ended = (days?: number) => ({ ...ANNA, ...(days !== undefined && { expiresMs: days }) })
const USERS: Users = {
  add: (_name, _role, days) => ended(days),
  users: () => [
    { ...ANNA, expiresMs: null, createdMs: 0, signIns: 0, currentSignInMs: null, lastSignInMs: null }
  ],
  rotate: (_name, days) => ended(days),
  remove: () => ANNA,
  close: () => undefined
}

const QUEUE: OpenQueue = {
  why: () => 'a test',
  waiting: () => [],
  hold: () => undefined,
  release: () => undefined,
  close: () => undefined
}

/** No time passes, so that what is printed is the same on a slow machine. */
const STILL_CLOCK: Clock = { ...EAGER_CLOCK, now: () => Date.UTC(2026, 0, 1) }

// Java takes a second to say its version; where there is none, that is said at once.
const { JAVA_HOME } = process.env
beforeAll(() => {
  process.env.JAVA_HOME = resolve('no-java-here')
})
afterAll(() => {
  if (JAVA_HOME === undefined) delete process.env.JAVA_HOME
  else process.env.JAVA_HOME = JAVA_HOME
})

const ends: (() => void | Promise<void>)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

/** Everything visible of a command, without what differs from time to time. */
async function observe(args: readonly string[]): Promise<unknown> {
  const service = await new FakeService().start()
  service.statuses = ['finished']
  service.addRun({ started: '2026-01-01T00:00:00.000Z', stopped: '2026-01-01T00:01:00.000Z' })
  if (args.includes(NO_CREDIT)) service.faults.push(refuseRuns)
  const workspace = mkdtempSync(join(tmpdir(), 'loadgate-flags-'))
  ends.push(
    () => service.stop(),
    () => removeFolder(workspace)
  )
  writeFileSync(join(workspace, 'plan.jmx'), '<jmeterTestPlan/>')
  writeFileSync(join(workspace, 'other.jmx'), '<other/>')
  writeFileSync(join(workspace, 'quiet.jmx'), QUIET_PLAN)
  writeFileSync(join(workspace, 'down.jmx'), QUIET_PLAN.replace('<hashTree/>', DOWN))
  writeFileSync(join(workspace, 'load.csv'), sampleCsv())
  writeFileSync(join(workspace, 'service.yml'), 'listen: 127.0.0.1:8443\ndata: data\n')
  writeFileSync(join(workspace, 'broken.yml'), 'threads: many\n')
  writeFileSync(
    join(workspace, 'service.yml'),
    'listen: 127.0.0.1:8443\ndata: data\nretention: { days: 9 }\n'
  )
  writeFileSync(join(workspace, 'gate.yml'), 'thresholds: p95 < 1ms\n')
  writeFileSync(join(workspace, 'main.json.gz'), encodeBaseline(makeDocument()))
  mkdirSync(join(workspace, 'done/results'), { recursive: true })
  writeFileSync(join(workspace, 'done/results/eu-g1.csv'), sampleCsv())
  writeFileSync(join(workspace, 'done/verdict.json'), JSON.stringify(FINISHED))
  writeFileSync(join(workspace, 'api.json'), API)
  writeFileSync(join(workspace, 'site.har'), HAR)
  // As if it had been there before.
  if (args.includes('EXISTS')) mkdirSync(join(workspace, 'load'))
  if (args.includes('EXISTS')) writeFileSync(join(workspace, 'load/plan.jmx'), '')
  const asked: unknown[] = []
  const refuse = (what: unknown): Promise<never> => {
    asked.push(what)
    return Promise.reject(new Error('not here'))
  }
  const ports = makeCommandPorts({
    workspace,
    token: args.includes('NO-TOKEN') || !args.includes(URL_HERE) ? '' : service.token,
    clock: STILL_CLOCK,
    examplesDir: resolve('examples'),
    findFiles: (root) => (pattern) => Promise.resolve([resolve(root, pattern)]),
    startLocalService: ({ rehearse, serviceName, dataDir, regions }) =>
      refuse({ rehearse, serviceName, dataDir, regions: [...(regions?.places.keys() ?? [])] }),
    // Someone who types Ctrl-D.
    openPrompt: () => ({ readLine: () => Promise.resolve(undefined), close: () => undefined }),
    openUsers: () => Promise.resolve(USERS),
    serve: (options) => {
      asked.push({ ...options, log: undefined, regions: [...(options.setUp.regions?.keys() ?? [])] })
      ports.cancellation.abort(new Error('Ctrl-C'))
      return Promise.resolve({
        ...{ url: 'http://127.0.0.1:1', token: 't', hasNoUsers: false },
        close: () => Promise.resolve()
      })
    },
    openQueue: (dataDir) => {
      asked.push(dataDir)
      return Promise.resolve(QUEUE)
    },
    prune: (request) => {
      asked.push(request)
      return Promise.resolve([])
    },
    startShop: (options) => {
      asked.push(options)
      return Promise.resolve({ url: '', port: 1, served: () => 1, close: () => Promise.resolve() })
    }
  })
  const typed = args.flatMap((arg) =>
    arg === URL_HERE ? [service.url] : arg === 'NO-TOKEN' || arg === NO_CREDIT ? [] : [arg]
  )
  const end = await runCommandLine(typed, ports).catch(messageOf)
  const text = JSON.stringify({
    end,
    asked,
    out: ports.screen.out.text,
    err: ports.screen.err.text,
    seen: service.seen.map(({ method, path, headers, params }) => [method, path, headers.accept, params]),
    files: readdirSync(workspace, { recursive: true }).sort(),
    verdict: readVerdict(join(workspace, 'out')),
    plan: readIfThere(join(workspace, 'load/plan.jmx'))
  })
  return JSON.parse(
    text
      .replaceAll(service.url, URL_HERE)
      .replaceAll(workspace, 'WORKSPACE')
      .replaceAll(basename(workspace), 'FOLDER')
      .replace(/loadgate-[0-9a-f-]{36}/g, 'MARKER')
      .replace(/\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d+/g, 'NOW')
  )
}

const refuseRuns: Fault = ({ method, path }, response) => {
  const isNew = method === 'POST' && /\/api\/\w+s$/.test(path) && !path.endsWith('/grids')
  if (isNew) response.writeHead(422).end('{"error":"no credit left"}')
  return isNew
}

function readVerdict(folder: string): string {
  return readIfThere(join(folder, 'verdict.json'))
}

function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

const observed = new Map<string, Promise<unknown>>()
/** Many rows start from the same words. What differs by itself would look like an effect. */
function observeOnce(args: readonly string[]): Promise<unknown> {
  const key = args.join('\0')
  const known = observed.get(key) ?? observeTwice(args)
  observed.set(key, known)
  return known
}

async function observeTwice(args: readonly string[]): Promise<unknown> {
  const first = await observe(args)
  expect(await observe(args)).toEqual(first)
  return first
}

interface Row {
  readonly form: string
  readonly flag: string
  readonly without: readonly string[]
  readonly with: readonly string[]
}

/** The words without the flag, and what is added. Two flags of one form may need different words to show an effect. */
function row(form: string, without: readonly string[], added: readonly string[]): Row {
  return { form, flag: (added[0] ?? '').slice(2), without, with: [...without, ...added] }
}

const CONNECT = ['--base-url', URL_HERE]

function connectionRows(form: string, words: readonly string[]): Row[] {
  const without = [...words, ...CONNECT]
  return [
    row(form, words, CONNECT),
    row(form, without, ['--service-name', 'acme']),
    row(form, without, ['--json'])
  ]
}

const REMOTE = ['run', ...CONNECT, '--files', 'plan.jmx', '--grids', `[${GRID}]`, '--output', 'out']
const LOCAL = ['run', '--files', 'plan.jmx', '--output', 'out']
const FAILING = [...REMOTE, '--thresholds', 'p95 < 1ms']
const CALIBRATE = ['calibrate', ...REMOTE.slice(1), NO_CREDIT]
const CALIBRATE_LOCAL = ['calibrate', ...LOCAL.slice(1)]
const INIT = ['init', '--yes']
const CHECK_LOCAL = ['check', '--files', 'quiet.jmx']
const CHECK_DOWN = ['check', '--files', 'down.jmx']
const CHECK = ['check', ...CONNECT, '--files', 'quiet.jmx', '--grids', `[${GRID}]`]
const REPORT = ['report', 'load.csv', '--output', 'out']

const ROWS: readonly Row[] = [
  row('run', REMOTE, ['--config', 'gate.yml']),
  row('run', ['run', '--files', 'plan.jmx', '--grids', `[${GRID}]`, '--output', 'out'], CONNECT),
  row('run', REMOTE, ['--tool', 'gatling']),
  row('run', ['run', '--output', 'out'], ['--files', 'plan.jmx']),
  row('run', ['run', ...CONNECT, '--files', 'plan.jmx', '--output', 'out'], ['--grids', `[${GRID}]`]),
  row('run', REMOTE, ['--name', 'checkout']),
  row('run', REMOTE, ['--notes', 'a note']),
  row('run', REMOTE, ['--project', 'shop']),
  row('run', REMOTE, ['--tags', 'nightly']),
  row('run', REMOTE, ['--privacy', 'public']),
  row('run', REMOTE, ['--threads', '5']),
  row('run', REMOTE, ['--rampup', '5s']),
  row('run', REMOTE, ['--duration', '5s']),
  row('run', REMOTE, ['--override-hosts', 'a.example/10.0.0.1']),
  row('run', REMOTE, ['--override-parameters', '-Ja=1']),
  row('run', REMOTE, ['--thresholds', 'p95 < 1ms']),
  row('run', REMOTE, ['--baseline', 'automatic']),
  row(
    'run',
    [...REMOTE, '--baseline', 'side-by-side', '--duration', '5s'],
    ['--baseline-parameters', '-Jp=1']
  ),
  // What these do takes several runs: a rejected value shows that they are read.
  row('run', REMOTE, ['--baseline-rounds', '1']),
  row('run', REMOTE, ['--noise', 'low']),
  row('run', REMOTE, ['--ignore-parameters', '-Ja=b']),
  row('run', REMOTE, ['--on-missing-baseline', 'perhaps']),
  row('run', REMOTE, ['--on-unsure', 'perhaps']),
  row('run', REMOTE, ['--confirm', 'perhaps']),
  row('run', REMOTE, ['--stop-early', 'perhaps']),
  row('run', REMOTE, ['--warm-up', '1h']),
  row('run', REMOTE, ['--on-stall', 'perhaps']),
  row('run', ['run', '--output', 'out'], ['--results', 'load.csv']),
  row('run', ['run', '--results', 'load.csv', '--output', 'out'], ['--tool-exit-code', '3']),
  row('run', ['run', '--results', 'load.csv', '--output', 'out'], ['--apdex-target', '500']),
  row('run', ['run', ...CONNECT, '--output', 'out'], ['--run-id', RUN]),
  row('run', ['run', ...CONNECT, '--output', 'out'], ['--repeat', RUN]),
  // What it does takes a server: a rejected value shows that it is read.
  row('run', REMOTE, ['--wait-for', 'localhost']),
  row('run', REMOTE, ['--wait', 'false']),
  // What these three do takes a while, or a signal: a rejected value shows that they are read.
  row('run', REMOTE, ['--timeout', 'soon']),
  row('run', REMOTE, ['--poll-interval', 'often']),
  row('run', REMOTE, ['--stop-on-cancel', 'perhaps']),
  row('run', FAILING, ['--fail-on', 'never']),
  row('run', [...REMOTE, 'NO-TOKEN'], ['--on-missing-token', 'skip']),
  row('run', LOCAL, ['--service-name', 'acme']),
  row('run', LOCAL, ['--regions', REGIONS]),
  row('run', LOCAL, ['--rehearse']),
  row('run', ['run', '--files', 'plan.jmx'], ['--output', 'elsewhere']),
  row('run', REMOTE, ['--junit', 'junit.xml']),
  row('run', REMOTE, ['--summary', 'summary.md']),
  row('run', REMOTE, ['--json']),

  row('calibrate', CALIBRATE, ['--runs', '4']),
  row('calibrate', CALIBRATE, ['--config', 'broken.yml']),
  row('calibrate', ['calibrate', '--files', 'plan.jmx', '--grids', `[${GRID}]`, '--output', 'out'], CONNECT),
  row('calibrate', CALIBRATE, ['--tool', 'gatling']),
  row('calibrate', ['calibrate', '--output', 'out'], ['--files', 'plan.jmx']),
  row('calibrate', ['calibrate', ...CONNECT, '--files', 'plan.jmx'], ['--grids', `[${GRID}]`]),
  row('calibrate', CALIBRATE, ['--name', 'checkout']),
  row('calibrate', CALIBRATE, ['--notes', 'a note']),
  row('calibrate', CALIBRATE, ['--project', 'shop']),
  row('calibrate', CALIBRATE, ['--tags', 'nightly']),
  row('calibrate', CALIBRATE, ['--privacy', 'public']),
  row('calibrate', CALIBRATE, ['--threads', '5']),
  row('calibrate', CALIBRATE, ['--rampup', '5s']),
  row('calibrate', CALIBRATE, ['--duration', '5s']),
  row('calibrate', CALIBRATE, ['--override-hosts', 'a.example/10.0.0.1']),
  row('calibrate', CALIBRATE, ['--override-parameters', '-Ja=1']),
  // These are about what is found in the end; a rejected value shows that they are read.
  row('calibrate', CALIBRATE, ['--thresholds', 'p95 fast']),
  row('calibrate', CALIBRATE, ['--noise', 'loud']),
  row('calibrate', CALIBRATE, ['--warm-up', 'soon']),
  row('calibrate', CALIBRATE, ['--apdex-target', 'soon']),
  row('calibrate', ['calibrate', ...CONNECT, NO_CREDIT], ['--repeat', RUN]),
  row('calibrate', CALIBRATE, ['--wait-for', 'localhost']),
  row('calibrate', CALIBRATE, ['--timeout', 'soon']),
  row('calibrate', CALIBRATE, ['--poll-interval', 'often']),
  row('calibrate', CALIBRATE, ['--stop-on-cancel', 'perhaps']),
  row('calibrate', CALIBRATE_LOCAL, ['--service-name', 'acme']),
  row('calibrate', CALIBRATE_LOCAL, ['--regions', REGIONS]),
  row('calibrate', CALIBRATE_LOCAL, ['--rehearse']),
  row('calibrate', ['calibrate', '--files', 'plan.jmx'], ['--output', 'elsewhere']),
  row('calibrate', CALIBRATE, ['--json']),

  row('check', CHECK, ['--config', 'broken.yml']),
  row('check', [...CHECK_DOWN, '--grids', `[${GRID}]`], CONNECT),
  row('check', CHECK, ['--tool', 'gatling']),
  row('check', ['check', ...CONNECT, '--grids', `[${GRID}]`], ['--files', 'plan.jmx']),
  // A service of our own has defaults for what is not given.
  row('check', ['check', ...CONNECT, '--files', 'plan.jmx'], ['--grids', '[{ regoin: eu }]']),
  // What a plan reads has nothing to be said about: a rejected value shows that they are read.
  ...[
    ...[
      'privacy',
      'threads',
      'rampup',
      'duration',
      'thresholds',
      'noise',
      'on-missing-baseline',
      'on-unsure'
    ],
    ...[
      'confirm',
      'stop-early',
      'baseline-rounds',
      'warm-up',
      'on-stall',
      'apdex-target',
      'wait',
      'wait-for',
      'timeout'
    ],
    ...['poll-interval', 'stop-on-cancel', 'fail-on', 'on-missing-token']
  ].map((flag) => row('check', CHECK, [`--${flag}`, '-'])),
  row('check', [...CHECK, '--baseline', 'side-by-side'], ['--baseline-parameters', 'p']),
  row('check', CHECK_DOWN, ['--override-hosts', '127.0.0.1/10.0.0.1']),
  row('check', CHECK, ['--override-parameters', '-Jpgae=1']),
  row('check', CHECK, ['--service-name', '-']),
  row('check', CHECK, ['--baseline', 'automatic']),
  row('check', CHECK, ['--ignore-parameters', '-Ja=b']),
  row('check', CHECK_LOCAL, ['--regions', 'eu: none']),
  row('check', CHECK_DOWN, ['--rehearse']),
  row('check', CHECK, ['--json']),

  ...connectionRows('run <id>', ['run', RUN]),
  ...connectionRows('runs', ['runs']),
  ...connectionRows('stop <id>', ['stop', RUN]),
  ...connectionRows('pin <id>', ['pin', RUN]),
  ...connectionRows('unpin <id>', ['unpin', RUN]),
  ...connectionRows('repeat <id>', ['repeat', RUN]),
  ...connectionRows('report <id>', ['report', RUN]),
  ...connectionRows('results <id>', ['results', RUN]),
  row('results <id>', ['results', RUN, ...CONNECT], ['--output', 'elsewhere']),
  row('results <id>', ['results', RUN, ...CONNECT], ['--timeout', 'soon']),
  ...connectionRows('grid create', ['grid', 'create', '--grids', GRID]),
  row('grid create', ['grid', 'create', ...CONNECT], ['--grids', GRID]),
  ...connectionRows('grid show <id>', ['grid', 'show', 'grid0000002']),
  ...connectionRows('grid terminate <id>', ['grid', 'terminate', 'grid0000002']),
  ...connectionRows('account', ['account']),

  row('report <folder | CSV…>', REPORT, ['--thresholds', 'p95 < 1ms']),
  row('report <folder | CSV…>', REPORT, ['--apdex-target', '10']),
  row('report <folder | CSV…>', REPORT, ['--warm-up', '1h']),
  row('report <folder | CSV…>', REPORT, ['--on-stall', 'perhaps']),
  row('report <folder | CSV…>', ['report', 'load.csv'], ['--output', 'elsewhere']),
  row('report <folder | CSV…>', REPORT, ['--junit', 'junit.xml']),
  row('report <folder | CSV…>', REPORT, ['--json']),

  row('serve', ['serve'], ['--config', 'service.yml']),
  row('serve', ['serve'], ['--port', '8080']),
  row('serve', ['serve'], ['--data', 'here']),
  row('serve', ['serve'], ['--rehearse']),
  row('serve', ['serve'], ['--service-name', 'acme']),
  row('serve', ['serve'], ['--regions', REGIONS]),
  row('serve', ['serve'], ['--json']),
  row('user add <name>', ['user', 'add', 'anna', '--config', 'service.yml'], ['--role', 'admin']),
  row(
    'user add <name>',
    ['user', 'add', 'anna', '--role', 'admin', '--config', 'service.yml'],
    ['--days', '90']
  ),
  row('user rotate <name>', ['user', 'rotate', 'anna', '--config', 'service.yml'], ['--days', '90']),
  ...['user add <name>', 'user list', 'user rotate <name>', 'user remove <name>'].flatMap((usage) => {
    const [first = '', second = '', name] = usage.split(' ')
    const role = second === 'add' ? ['--role', 'admin'] : []
    const typed = [first, second, ...(name === undefined ? [] : ['anna']), ...role]
    const config = ['--config', 'service.yml']
    return [row(usage, typed, config), row(usage, [...typed, ...config], ['--json'])]
  }),
  ...['queue', 'queue hold', 'queue resume'].flatMap((usage) => {
    const config = ['--config', 'service.yml']
    const typed = usage.split(' ')
    return [
      row(usage, typed, config),
      row(usage, typed, ['--data', 'here']),
      row(usage, [...typed, ...config], ['--json'])
    ]
  }),
  row('prune', ['prune', '--config', 'service.yml'], ['--at-least', '0']),
  row('prune', ['prune'], ['--config', 'service.yml']),
  row('prune', ['prune', '--config', 'service.yml'], ['--dry-run']),
  row('prune', ['prune', '--config', 'service.yml'], ['--json']),
  row('demo', ['demo'], ['--tool', 'service-chrome']),
  row('demo', ['demo'], ['--login']),
  row('demo', ['demo'], ['--slow']),
  row('demo', ['demo'], ['--stall']),
  row('demo', ['demo'], ['--compare']),
  row('demo', ['demo', '--compare'], ['--slower', '50']),
  row('demo', ['demo'], ['--rehearse']),

  row('init', INIT, ['--tool', 'k6']),
  row('init', INIT, ['--from-url', 'http://app.test/']),
  row('init', INIT, ['--from-openapi', 'api.json']),
  row('init', INIT, ['--from-har', 'site.har']),
  row('init', [...INIT, '--from-har', 'site.har'], ['--target', 'http://app.test/']),
  row('init', [...INIT, '--from-openapi', 'api.json'], ['--all-methods']),
  row('init', [...INIT, '--from-har', 'site.har'], ['--think-times']),
  row('init', INIT, ['--threads', '7']),
  row('init', INIT, ['--rate', '7/s']),
  row('init', INIT, ['--duration', '7s']),
  row('init', INIT, ['--rampup', '7s']),
  row('init', INIT, ['--thresholds', 'p99 < 1s']),
  row('init', ['init'], ['--yes']),
  row('init', [...INIT, '--from-url', 'EXISTS'], ['--force']),
  row('init', INIT, ['--json']),

  row(
    'baseline record <folder>',
    ['baseline', 'record', 'done', '--commit', SHA],
    ['--baseline', 'b.json.gz']
  ),
  row('baseline record <folder>', RECORD, ['--branch', 'next']),
  row(
    'baseline record <folder>',
    ['baseline', 'record', 'done', '--baseline', 'b.json.gz'],
    ['--commit', SHA]
  ),
  row('baseline record <folder>', RECORD, ['--json']),
  row('baseline show <file>', ['baseline', 'show', 'main.json.gz'], ['--json']),
  row('trend <file | folder>', ['trend', 'main.json.gz'], ['--json'])
]

test('there is a row for every flag of every form', () => {
  const accepted = COMMANDS.flatMap(({ forms }) =>
    forms.flatMap(({ usage, flags }) => flags.map(({ name }) => `${usage} --${name}`))
  )
  expect(ROWS.map(({ form, flag }) => `${form} --${flag}`).sort()).toEqual(accepted.sort())
})

describe('every flag that is accepted has an effect', () => {
  test.each(ROWS)('loadgate $form --$flag', async (row) => {
    expect(await observe(row.with)).not.toEqual(await observeOnce(row.without))
  })
})

describe('every flag that has no effect in a form is refused there', () => {
  const strays = COMMANDS.flatMap(({ flags, forms }) =>
    forms.flatMap((form) =>
      flags
        .filter((flag) => !form.flags.includes(flag) && !form.flags.some(({ name }) => name === flag.name))
        .map((flag) => ({ form: form.usage, flag: flag.name, value: flag.value }))
    )
  )

  test.each(strays)('loadgate $form --$flag', async ({ form, flag, value }) => {
    const words = form.replace('<id>', RUN).replace('<folder | CSV…>', 'load.csv').split(' ')
    const given = value === undefined ? [`--${flag}`] : [`--${flag}`, 'x']
    expect(await observe([...words, ...given])).toMatchObject({
      end: expect.stringContaining(`--${flag} does not apply to \`loadgate ${form}\``),
      seen: [],
      asked: []
    })
  })
})

describe('flags that have no effect together', () => {
  const EXISTING = ['run', ...CONNECT, '--run-id', RUN]
  test.each([
    {
      args: [...REMOTE, '--wait', 'false', '--thresholds', 'p95 < 1s'],
      words: '--thresholds',
      other: '--wait false'
    },
    { args: [...EXISTING, '--threads', '5', '--name', 'x'], words: '--name, --threads', other: '--run-id' },
    {
      args: ['run', ...CONNECT, '--repeat', RUN, '--duration', '5s'],
      words: '--duration',
      other: '--repeat'
    },
    {
      args: [...REMOTE, '--baseline', 'off', '--noise', '3%', '--on-unsure', 'fail'],
      words: '--noise, --on-unsure',
      other: '--baseline off'
    }
  ])('$words with $other', async ({ args, words, other }) => {
    expect(await observe(args)).toMatchObject({
      end: `${words} would have no effect together with ${other}; remove one of the two`,
      seen: []
    })
  })
})

test.each([
  {
    args: ['--baseline-rounds', '5'],
    words: '--baseline-rounds would have no effect without --baseline side-by-side; add it, or remove them'
  },
  {
    args: ['--confirm', '1'],
    words:
      '--confirm would have no effect without a line of --thresholds that names baseline; add one, or remove them'
  },
  {
    args: ['--baseline-parameters', '-Jp=1', '--on-unsure', 'fail'],
    words: [
      '--baseline-parameters would have no effect without --baseline side-by-side; add it, or remove them',
      '--on-unsure would have no effect without a line of --thresholds that names baseline; add one, or remove them'
    ].join('\n')
  }
])('flags that have no effect without another: $args', async ({ args, words }) => {
  expect(await observe([...REMOTE, ...args])).toMatchObject({ end: words, seen: [] })
})

test('what a config file sets without an effect is a warning, since the file may serve other uses', async () => {
  expect(await observe([...REMOTE, '--wait', 'false', '--config', 'gate.yml'])).toMatchObject({
    end: 0,
    out: expect.stringMatching(
      /^warning: Ignored inputs: thresholds \(wait: false does not wait for the run\)\./m
    )
  })
})

test('values that may be repeated arrive together, as the service reads them', async () => {
  const parameters = ['--override-parameters', '-Ja=1', '--override-parameters', '-Jb=2']
  expect(await observe([...REMOTE, ...parameters, '--tags', 'x', '--tags', 'y'])).toMatchObject({
    seen: expect.arrayContaining([
      [
        'POST',
        '/api/runs',
        expect.anything(),
        expect.objectContaining({
          run: expect.objectContaining({ override_parameters: '-Ja=1, -Jb=2', tag_list: 'x,y,MARKER' })
        })
      ]
    ])
  })
})
