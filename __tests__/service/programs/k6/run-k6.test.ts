import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { K6_CSV_HEADER } from '../../../../src/analysis/results/formats/k6-csv.js'
import { mountSmallDisk } from '../../../support/small-disk.js'
import { K6Stage } from '../../../support/tools/k6.js'
import { isAlive, until } from '../../../e2e/cli-command.js'

const HEADER = `${K6_CSV_HEADER}error,error_code,expected_response,method,name,status,url,extra_tags,metadata`
const rowOf = (metric: string, value: number, name = 'home'): string =>
  `${metric},1700000000500,${value},,,true,GET,${name},200,http://shop/,,vu=1&iter=0`
const ROW = `${rowOf('http_req_duration', 20)}\n${rowOf('http_req_blocked', 5)}\n`
const OPTIONS = { totalDuration: '1s', setupTimeout: '0s', teardownTimeout: '0s', maxVUs: 1, thresholds: {} }
/** Of the one request below, unless a test says otherwise. */
const SUMMARY = '{"metrics":{"http_reqs":{"count":1,"rate":1}}}'

let stage: K6Stage
beforeEach(() => {
  stage = new K6Stage()
})
afterEach(() => stage.remove())

interface StandIn {
  /** What `inspect` prints. */
  readonly options?: unknown
  /** Statements; `csv(text)`, `summary(text)` and `log(document)` write as k6 does. */
  readonly run?: string
  readonly inspect?: string
  /** On standard output. */
  readonly prints?: string
}

/** A k6 that does as it is told, whatever the script says. */
function standIn({ options = OPTIONS, run = '', inspect, prints = PROGRESS }: StandIn): void {
  stage.k6 = stage.write(
    'k6',
    `#!${process.execPath}
const fs = require('node:fs')
const [command, ...args] = process.argv.slice(2)
const after = (start) => args.find((arg) => arg.startsWith(start)).slice(start.length)
const csv = (text) => fs.appendFileSync(after('--out=csv='), text)
const summary = (text) => fs.writeFileSync(after('--summary-export='), text)
const log = (document) => fs.writeSync(2, JSON.stringify(document) + '\\n')
fs.writeFileSync(${JSON.stringify(join(stage.folder, 'pid'))}, String(process.pid))
if (command === 'inspect') {
  ${inspect ?? `console.log(${JSON.stringify(JSON.stringify(options))})`}
} else {
  summary('${SUMMARY}')
  console.log('${prints}')
  ${run}
}
`
  )
  chmodSync(stage.k6, 0o755)
}

const PROGRESS = 'running (00m01.0s), 0/1 VUs, 1 complete and 0 interrupted iterations'

/** It must not come to this. */
const START = `fs.writeFileSync(process.argv[1] + '.started', '')`
const isStarted = (): boolean => existsSync(`${stage.k6}.started`)
const WRITE = `csv(${JSON.stringify(`${HEADER}\n${ROW}`)});`

test('what it writes becomes a row while it runs, and starts before the wait for a connection', async () => {
  const go = join(stage.folder, 'go')
  standIn({
    run: `${WRITE} const wait = setInterval(() => fs.existsSync(${JSON.stringify(go)}) && clearInterval(wait), 10)`
  })
  const running = stage.run('')
  const rows = (): string[] =>
    existsSync(stage.samplesFile) ? readFileSync(stage.samplesFile, 'utf8').split('\n') : []
  await until(() => rows().length === 3)
  stage.write('go', '')
  const { facts } = await running
  expect(rows()[1]).toMatch(/^1700000000475,20,home,200,OK,vu 1-1,/)
  expect(facts).toEqual({
    problem: null,
    losses: [],
    doubts: [expect.stringContaining('waited 5 ms')],
    lines: [],
    requests: 1,
    isIdle: false
  })
})

describe('a k6 that lies is never believed to have passed', () => {
  test.each([
    {
      what: 'crossed thresholds without a summary',
      run: `${WRITE} process.exit(99)`,
      lines: [{ text: 'thresholds of the script', holds: false }]
    },
    {
      what: 'crossed thresholds, all of which hold',
      run: `${WRITE} summary('{"metrics":{"checks":{"passes":1,"fails":0,"thresholds":{"rate>0.9":false}}}}'); process.exit(99)`,
      lines: [
        { text: 'checks rate>0.9', holds: true },
        { text: 'thresholds of the script', holds: false }
      ]
    },
    {
      what: 'a test that the script marked as failed',
      run: `${WRITE} process.exit(110)`,
      lines: [{ text: 'the script marked the test as failed', holds: false }]
    },
    {
      what: 'a summary in another form',
      run: `${WRITE} summary('{"metrics":{"checks":{"thresholds":{"rate>0.9":{"ok":false}}}}}')`,
      lines: [{ text: 'checks rate>0.9', holds: false }]
    }
  ])('$what', async ({ run, lines }) => {
    standIn({ run })
    expect((await stage.run('')).facts).toMatchObject({ problem: null, lines })
  })

  test('it does not say how many iterations it has interrupted', async () => {
    standIn({ run: WRITE, prints: '' })
    expect((await stage.run('')).facts.losses).toEqual([
      expect.stringContaining('did not say how many iterations it has interrupted')
    ])
  })

  test('thresholds that it does not judge are lost', async () => {
    const thresholds = { checks: ['rate>0.9'], http_req_failed: [] }
    const unsaid = 'k6 did not say whether these thresholds hold: checks rate>0.9'
    const other = SUMMARY.replace(
      '{"http',
      '{"checks":{"thresholds":{"rate>0.9":"false","rate>0.8":false}},"http'
    )
    for (const [run, says] of [
      [WRITE, unsaid],
      [`${WRITE} summary('${other}')`, unsaid],
      [`${WRITE} summary('{"metr')`, 'k6 wrote no summary that can be read'],
      [`${WRITE} fs.rmSync(after('--summary-export='))`, 'k6 wrote no summary that can be read']
    ] as const) {
      standIn({ options: { ...OPTIONS, thresholds }, run })
      expect((await stage.run('')).facts.losses).toEqual([expect.stringContaining(says)])
    }
  })

  test.each([
    {
      what: 'more requests than samples',
      run: `${WRITE} summary('{"metrics":{"http_reqs":{"count":6}}}')`,
      counted: '6 requests'
    },
    { what: 'fewer', run: `${WRITE} summary('{"metrics":{}}')`, counted: '0 requests' },
    {
      what: 'a request, and there is no sample',
      run: `csv('${HEADER}\\n')`,
      counted: '1 request',
      samples: 0
    }
  ])('it counts $what', async ({ run, counted, samples = 1 }) => {
    standIn({ run })
    expect((await stage.run('')).facts.losses).toEqual([
      `k6 counted ${counted}, and wrote samples of ${samples}: the samples are not complete, or not all of them are of this test`
    ])
  })

  test.each([
    {
      what: 'rows with too few columns',
      csv: `${HEADER}\nhttp_req_duration,1700000000500,3\n`,
      says: /^k6 wrote samples that cannot be read: row 1: it has 3 columns/
    },
    {
      what: 'half a row',
      csv: `${HEADER}\n${ROW}http_req_dur`,
      says: /row 3: the file ends in the middle of it/
    },
    {
      what: 'a row without an end',
      csv: `${HEADER}\n${ROW}${'x'.repeat(3_000_000)}`,
      says: /row 3: it has no end within 1 MiB/
    }
  ])('$what', async ({ csv, says }) => {
    standIn({ run: `csv(${JSON.stringify(csv)})` })
    expect((await stage.run('')).facts.losses).toEqual([expect.stringMatching(says)])
  })

  test.each([
    {
      what: 'a killed one',
      run: `${WRITE} process.kill(process.pid, 'SIGKILL')`,
      says: /^k6 ended with killed by SIGKILL$/
    },
    {
      what: 'an exit code that nobody knows',
      run: `log({ level: 'error', msg: 'a', hint: 'b' }); process.exit(7)`,
      says: /^k6 ended with exit code 7: a: b$/
    },
    {
      what: 'inspect prints something else',
      inspect: `console.log('welcome')`,
      says: /^k6 inspect printed something other than the options of script\.js: welcome/
    },
    {
      what: 'inspect fails without a word',
      inspect: 'process.exit(3)',
      says: /^k6 cannot read the script: exit code 3$/
    }
  ])('$what is a problem', async (given) => {
    standIn(given)
    expect((await stage.run('')).facts.problem).toMatch(given.says)
  })
})

test('exceptions are counted though their lines are cut, and what the script prints is no error of k6', async () => {
  const long = `boom\\n\\tat default (script.js:1:1)\\n${'x'.repeat(20_000)}`
  standIn({
    run: `${WRITE} log({ level: 'error', msg: "${long}", source: 'stacktrace' })
      log({ level: 'error', msg: 'Error: two', source: 'stacktrace' }); log({ level: 'error', msg: 'mine', source: 'console' }); process.exit(107)`
  })
  const { facts } = await stage.run('')
  expect(facts.losses).toEqual([expect.stringMatching(/^k6: an exception ended 2 iterations: .*boom/)])
  expect(facts.problem).toBe('k6 ended with exit code 107')
})

test('a promise that is rejected and that nobody waits for is an exception too; what the script prints is none', async () => {
  standIn({
    run: `${WRITE} log({ level: 'error', msg: 'Uncaught (in promise) Error: no stock\\n\\tat buy (file://' + __dirname + '/script.js:3:1)' })
      log({ level: 'error', msg: 'Uncaught (in promise) mine', source: 'console' })`
  })
  const { facts, log } = await stage.run('')
  expect(facts).toMatchObject({
    problem: null,
    losses: ['k6: an exception ended 1 iteration: Uncaught (in promise) Error: no stock']
  })
  expect(log[0]).toMatch(/\tat buy \(script\.js:3:1\)$/)
})

describe('iterations that k6 interrupts', () => {
  const progress = (users: number, complete: number, interrupted: number): string =>
    `running (1m00.0s), 00/${users} VUs, ${complete} complete and ${interrupted} interrupted iterations`
  const print = (...lines: string[]): string => `console.log(${JSON.stringify(lines.join('\n'))});`
  const BANNER = [
    '         /\\      Grafana   /‾‾/  ',
    '    /\\  /  \\     |\\  __   /  /   ',
    '     execution: local',
    '     scenarios: (100.00%) 1 scenario, 10 max VUs, 4s max duration (incl. graceful stop):',
    '              * u: 10 looping VUs for 3s (gracefulStop: 1s)'
  ]

  test('k6’s banner and progress are not shown', async () => {
    const lines = [...BANNER, progress(10, 3, 0), 'u    ✓ [ 100% ] 10 VUs  3s', '  █ TOTAL RESULTS']
    standIn({ run: `${WRITE} ${print(...lines, progress(10, 30, 0), 'Run     [ 100% ] setup()')}` })
    expect(await stage.run('')).toMatchObject({ log: ['  █ TOTAL RESULTS'], facts: { losses: [] } })
  })

  test.each([
    { what: 'most users hang', users: 10, complete: 151, interrupted: 9, isLost: true },
    { what: 'one of ten users hangs', users: 10, complete: 1000, interrupted: 1, isLost: true },
    { what: 'many iterations of few users', users: 200, complete: 20, interrupted: 2, isLost: true },
    { what: 'an accident of the last moment', users: 100, complete: 900, interrupted: 5, isLost: false }
  ])('$what', async ({ users, complete, interrupted, isLost }) => {
    standIn({ run: `${WRITE} ${print(progress(users, 0, 0), progress(users, complete, interrupted))}` })
    const says = `k6: ${complete} complete and ${interrupted} interrupted iterations of ${users} users; what the interrupted ones waited for is in no figure: raise gracefulStop`
    expect((await stage.run('')).facts).toMatchObject({
      problem: null,
      losses: isLost ? [expect.stringContaining(says)] : []
    })
  })

  test('by abortOnFail, or in a test that is a problem anyway, are no further loss', async () => {
    const words =
      "thresholds on metrics 'a' were crossed; at least one has abortOnFail enabled, stopping test prematurely"
    for (const code of [99, 108]) {
      standIn({
        run: `${WRITE} ${print(progress(10, 5, 10))} log({ level: 'error', msg: ${code === 99 ? JSON.stringify(words) : "'no stock'"} }); process.exitCode = ${code}`
      })
      expect((await stage.run('')).facts.losses).toEqual([])
    }
  })
})

describe('a k6 that does not end', () => {
  const limits = { slackMs: 0, graceMs: 50, readMs: 60_000 }
  const pid = (): number => Number(readFileSync(join(stage.folder, 'pid'), 'utf8'))

  test('is interrupted after the time that the script can take, and keeps what it wrote', async () => {
    standIn({
      // Longer than it takes to start.
      options: { ...OPTIONS, totalDuration: '6s' },
      run: `process.on('SIGINT', () => { ${WRITE} log({ level: 'error', msg: 'aborted' }); process.exit(105) }); setInterval(() => {}, 1000)`
    })
    const { facts, rows } = await stage.run('', {}, { limits: { ...limits, graceMs: 60_000 } })
    expect(facts.problem).toMatch(
      /^k6 was stopped, because it was still running after 6 s, .* \(exit code 105\): aborted$/
    )
    expect(rows).toHaveLength(1)
  })

  test('is killed if it ignores that', async () => {
    standIn({ run: `${WRITE} process.on('SIGINT', () => {}); setInterval(() => {}, 1000)` })
    const { facts } = await stage.run('', {}, { limits })
    expect(facts.problem).toMatch(/\(killed by SIGKILL\)$/)
    expect(isAlive(pid())).toBe(false)
  })

  test('is killed while it reads the script', async () => {
    standIn({ inspect: 'setInterval(() => {}, 1000)' })
    const { facts } = await stage.run('', {}, { limits: { readMs: 1000 } })
    expect(facts.problem).toBe('k6 cannot read the script: it had not ended after 1 s')
    expect(isAlive(pid())).toBe(false)
  })
})

describe('a process that k6 leaves behind does not hold up the end', () => {
  /** It has k6's pipes, and perhaps that of the samples. */
  const leave = (more = ''): string =>
    `const { pid } = require('node:child_process').spawn('/bin/sh', ['-c', '${more} exec sleep 1000'], { stdio: 'inherit', detached: true })
    fs.writeFileSync(${JSON.stringify(join(stage.folder, 'left'))}, String(pid));`
  afterEach(() => {
    process.kill(Number(readFileSync(join(stage.folder, 'left'), 'utf8')), 'SIGKILL')
  })

  test('while it reads the script', async () => {
    standIn({ inspect: `${leave()} console.log(${JSON.stringify(JSON.stringify(OPTIONS))}); process.exit()` })
    const { facts } = await stage.run('', { vus: 1 })
    expect(facts.problem).toMatch(/^threads is 1, but nothing says for how long/)
  })

  test('after the test', async () => {
    standIn({ run: `${WRITE} ${leave()} process.exit()` })
    expect((await stage.run('')).facts).toMatchObject({ problem: null, requests: 1 })
  })

  test('though it may still write samples: then some are missing', async () => {
    const opened = join(stage.folder, 'opened')
    standIn({
      run: `${WRITE} ${leave(`exec 9>"' + after('--out=csv=') + '"; : >"${opened}";`)}
        setInterval(() => fs.existsSync(${JSON.stringify(opened)}) && process.exit(), 10)`
    })
    const { facts } = await stage.run('')
    expect(facts.problem).toMatch(/a process that it had started still writes them$/)
  })
})

describe('samples that cannot be written', () => {
  test('from the first one on: k6 is not started', async () => {
    standIn({ run: START })
    const { facts } = await stage.run('', { samplesFile: '/dev/full' })
    expect(facts.problem).toMatch(/^The samples of k6 could not be written: .*ENOSPC/)
    expect(isStarted()).toBe(false)
  })

  test('later on: k6 is interrupted, and whole rows are kept', async () => {
    const folder = join(stage.folder, 'disk')
    const disk = mountSmallDisk(folder)
    if (disk === undefined) return
    try {
      standIn({
        run: `process.on('SIGINT', () => process.exit(105)); ${WRITE} setInterval(() => csv(${JSON.stringify(ROW)}.repeat(1000)), 1)`
      })
      const { facts, rows } = await stage.run('', { samplesFile: join(folder, 'samples.csv') })
      expect(facts.problem).toMatch(/^The samples of k6 could not be written: .*ENOSPC/)
      expect(rows.length).toBeGreaterThan(1000)
      expect(rows.every(({ label, partOf }) => label === 'home' && partOf === '')).toBe(true)
    } finally {
      disk.unmount()
    }
  })
})

describe('what the script sets and the run decides', () => {
  test.each([
    {
      what: 'hosts',
      options: { hosts: { 'a.example': '10.0.0.1' } },
      order: { hosts: [{ host: 'b.example', address: '127.0.0.1' }] },
      says: /options\.hosts/
    },
    {
      what: 'its part of the load',
      options: { executionSegment: '0:1/2' },
      order: {},
      says: /options\.executionSegment/
    },
    { what: 'a pause', options: { paused: true }, order: {}, says: /options\.paused/ },
    {
      what: 'a number of users without an end',
      options: { stages: [] },
      order: { vus: 10 },
      says: /^threads is 10, but nothing says for how long, .* set duration, or give script\.js a duration, /
    }
  ])('$what: refused before any load', async ({ options, order, says }) => {
    standIn({ options: { ...OPTIONS, ...options }, run: START })
    expect((await stage.run('', order)).facts.problem).toMatch(says)
    expect(isStarted()).toBe(false)
  })

  test.each([
    {
      options: { stages: [{}] },
      order: { vus: 2, durationSec: 9 },
      says: /^script\.js has stages .* threads and duration replace: /
    },
    {
      options: { iterations: 4 },
      order: { durationSec: 9 },
      says: /^script\.js has iterations .*, which duration replaces: /
    },
    {
      options: { stages: [{}] },
      order: { vus: 2 },
      says: /^threads has no effect: script\.js has stages of its own/
    }
  ])('$options with $order: a warning says what counts', async ({ options, order, says }) => {
    standIn({ options: { ...OPTIONS, ...options }, run: WRITE })
    const { problem, doubts } = (await stage.run('', order)).facts
    expect([problem, doubts[0]]).toEqual([null, expect.stringMatching(says)])
  })

  test('a ramp-up starts with nobody, and stages alone keep their own VUs', async () => {
    const args = join(stage.folder, 'args')
    const run = `${WRITE} fs.writeFileSync(${JSON.stringify(args)}, args.join(' '))`
    standIn({ options: { ...OPTIONS, vus: 40, duration: '30s' }, run })
    await stage.run('', { vus: 4, rampupSec: 4, durationSec: 8 })
    expect(readFileSync(args, 'utf8')).toContain(' --vus=0 --stage=4s:4,4s:4 ')
    standIn({ options: { ...OPTIONS, stages: [{}] }, run })
    await stage.run('', { vus: 4 })
    expect(readFileSync(args, 'utf8')).not.toContain('--vus')
  })

  test.each([
    { what: 'an address', script: 'http.get("https://Shop.example./cart")' },
    { what: 'a port', script: 'http.get(`http://shop.example.:8080`)' },
    { what: 'a variable', script: '', env: { HOST: 'shop.example.' } },
    { what: 'a file that it may read', script: '', file: 'id,address\n1,http://shop.example.' },
    { what: 'a large file', script: '', file: `${' '.repeat((1 << 20) - 9)}//shop.example.:80 ` }
  ])('a host with a final dot in $what, which k6 would look up', async ({ script, env = {}, file = '' }) => {
    stage.env = env
    stage.write('addresses.csv', file)
    standIn({ run: START })
    const hosts = [{ host: 'shop.example', address: '127.0.0.1' }]
    expect((await stage.run(script, { hosts })).facts.problem).toMatch(
      /final dot, so shop\.example\. would be/
    )
    expect(isStarted()).toBe(false)
    standIn({ run: WRITE })
    stage.write('addresses.csv', `${' '.repeat((1 << 20) - '//shop.example.'.length)}//shop.example.org`)
    stage.env = { HOST: 'shop.example.org', TEXT: 'at shop.example. Then' }
    expect((await stage.run('"//shop.example/" // shop.example.', { hosts })).facts.problem).toBeNull()
  })
})
