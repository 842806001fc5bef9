import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describeWithK6, K6, K6Stage, type ScriptRun, startTimedTarget } from '../support/tools/k6.js'
import { until } from '../e2e/cli-command.js'

let stage: K6Stage
let target: Awaited<ReturnType<typeof startTimedTarget>>
beforeEach(async () => {
  stage = new K6Stage()
  target = await startTimedTarget()
  stage.env = { PORT: String(target.port) }
})
afterEach(async () => {
  await target.close()
  stage.remove()
})

const START = `import http from 'k6/http'
import exec from 'k6/execution'
import { check, fail, group, sleep } from 'k6'
const shop = \`http://\${__ENV.HOST || '127.0.0.1'}:\${__ENV.PORT}\`
`
const GET = "http.get(shop + '/', { tags: { name: 'home' } })"
const script = (options: string, body = GET, more = ''): string =>
  `${START}export const options = {${options}}\nexport default function () { ${body} }\n${more}`
const requests = ({ rows }: ScriptRun): ScriptRun['rows'] => rows.filter(({ partOf }) => partOf === '')
const threads = (run: ScriptRun): number => new Set(requests(run).map(({ thread }) => thread)).size

describeWithK6('k6: rows', () => {
  /** More than the machine is late, and less than a response takes. */
  const SLOW_MS = 700
  const LATE_MS = 300

  test('one per request, with the start that the server saw, its VU, and what failed', async () => {
    const run = await stage.run(
      script(
        "scenarios: { a: { executor: 'per-vu-iterations', vus: 3, iterations: 2 } }",
        `group('buy', () => {
          http.get(shop + '/slow?ms=${SLOW_MS}')
          const got = http.get(http.url\`\${shop}/products/\${__ITER}\`)
          check(got, { 'it is there': ({ status }) => status === 200, 'it is cheap': () => false })
        })
        http.get(shop + '/fail')`
      )
    )
    expect(run.facts).toMatchObject({ problem: null, losses: [], lines: [], requests: 18 })
    expect(target.hits).toHaveLength(18)
    expect(requests(run)).toHaveLength(18)
    expect(new Set(requests(run).map(({ thread }) => thread))).toEqual(
      new Set(['vu 1-1', 'vu 1-2', 'vu 1-3'])
    )
    const slow = requests(run).filter(({ label }) => label === `GET http://127.0.0.1:${target.port}/slow`)
    const starts = slow.map(({ startMs }) => startMs).sort()
    const seen = target.hits.filter(({ path }) => path === '/slow').map(({ atMs }) => atMs)
    expect(starts).toHaveLength(6)
    starts.forEach((startMs, index) => expect(Math.abs(startMs - seen.sort()[index]!)).toBeLessThan(LATE_MS))
    expect(slow.every(({ elapsedMs }) => elapsedMs >= SLOW_MS - 5)).toBe(true)
    const products = requests(run).filter(({ label }) => label.endsWith('/products/${}'))
    expect(products).toHaveLength(6)
    const failed = requests(run).filter(({ isOk }) => !isOk)
    expect(failed.map(({ label, code }) => [label, code])).toEqual(
      Array.from({ length: 6 }, () => [`GET http://127.0.0.1:${target.port}/fail`, '500'])
    )
    const parts = run.rows.filter(({ partOf }) => partOf !== '')
    const labels = parts.map(({ label, isOk }) => `${label} ${isOk}`)
    expect(
      [...new Set(labels)].sort().map((label) => [label, labels.filter((each) => each === label).length])
    ).toEqual([
      ['check: it is cheap false', 6],
      ['check: it is there true', 6],
      ['group: buy true', 6]
    ])
  })

  test('are there while the test runs', async () => {
    const running = stage.run(script('', `${GET}; sleep(0.2)`), { vus: 1, durationSec: 4 })
    const rows = (): number =>
      existsSync(stage.samplesFile) ? readFileSync(stage.samplesFile, 'utf8').split('\n').length - 2 : 0
    await until(() => rows() > 0)
    const hits = target.hits.length
    const { facts } = await running
    expect(hits).toBeLessThan(facts.requests)
    expect(rows()).toBe(facts.requests)
  })
})

describeWithK6('k6: several nodes', () => {
  const onNodes = (text: string, parts: number, changes = {}): Promise<ScriptRun[]> =>
    Array.from({ length: parts }, (_, part) => part).reduce<Promise<ScriptRun[]>>(
      async (before, part) => [...(await before), await stage.run(text, { part, parts, ...changes })],
      Promise.resolve([])
    )
  const sum = (numbers: readonly number[]): number => numbers.reduce((all, each) => all + each, 0)

  test.each([{ parts: 1 }, { parts: 2 }, { parts: 3 }])('VUs are exact over $parts', async ({ parts }) => {
    const runs = await onNodes(script('', `${GET}; sleep(0.3)`), parts, { vus: 5, durationSec: 1 })
    expect(runs.map(({ facts }) => facts.problem)).toEqual(runs.map(() => null))
    expect(sum(runs.map(threads))).toBe(5)
    expect(sum(runs.map((run) => requests(run).length))).toBe(target.hits.length)
  })

  test('a node for which there is no VU stays idle, and loses nothing', async () => {
    const runs = await onNodes(script('vus: 2, iterations: 2'), 3)
    expect(runs.map(({ facts }) => facts.isIdle).sort()).toEqual([false, false, true])
    expect(runs.map(({ facts }) => [facts.problem, facts.losses])).toEqual(runs.map(() => [null, []]))
    expect(target.hits).toHaveLength(2)
  })

  test('arrival rates are exact, and rows equal hits', async () => {
    const rate =
      "scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, duration: '3s', preAllocatedVUs: 60 } }"
    const alone = await onNodes(script(rate), 1)
    const [before, rows] = [target.hits.length, requests(alone[0]!).length]
    expect(rows).toBe(before)
    const runs = await onNodes(script(rate), 3)
    expect(sum(runs.map((run) => requests(run).length))).toBe(target.hits.length - before)
    // On each node one more is due at the very end of the duration; a busy machine drops some.
    for (const [hits, most] of [
      [before, 31],
      [target.hits.length - before, 33]
    ] as const) {
      expect(hits).toBeGreaterThanOrEqual(27)
      expect(hits).toBeLessThanOrEqual(most)
    }
  })
})

describeWithK6('k6: settings', () => {
  test('arrive as options and as variables', async () => {
    stage.env.THREADS = '3'
    stage.env.DURATION = '2s'
    const own = await stage.run(
      script(
        "scenarios: { a: { executor: 'constant-vus', vus: Number(__ENV.THREADS), duration: __ENV.DURATION } }",
        `${GET}; sleep(0.5)`
      ),
      { vus: 3, durationSec: 2 }
    )
    expect(own.facts.problem).toBeNull()
    expect(threads(own)).toBe(3)
    const over = await stage.run(script("stages: [{ duration: '50s', target: 9 }]", `${GET}; sleep(0.5)`), {
      ...{ vus: 2, durationSec: 2 }
    })
    expect(threads(over)).toBe(2)
    expect(over.log.join('\n')).toMatch(/vus_max\.+: 2 /)
    const ramped = await stage.run(script('', `${GET}; sleep(0.1)`), { vus: 2, rampupSec: 1, durationSec: 2 })
    expect(ramped.facts).toMatchObject({ problem: null, losses: [] })
    expect(threads(ramped)).toBe(2)
    const late = requests(ramped).map(({ startMs }) => startMs)
    const firsts = ['vu 1-1', 'vu 1-2'].map((vu) =>
      Math.min(
        ...requests(ramped)
          .filter(({ thread }) => thread === vu)
          .map(({ startMs }) => startMs)
      )
    )
    expect(Math.max(...firsts) - Math.min(...late)).toBeGreaterThan(300)
    const fromAbove = await stage.run(script("vus: 9, duration: '9s'", `${GET}; sleep(0.1)`), {
      ...{ vus: 2, rampupSec: 1, durationSec: 2 }
    })
    expect(fromAbove.facts).toMatchObject({ problem: null, losses: [], doubts: [] })
    expect(fromAbove.log.join('\n')).toMatch(/vus_max\.+: 2 /)
    const tooLong = await stage.run(script(''), { vus: 1, rampupSec: 5, durationSec: 1 })
    expect(tooLong.facts.doubts[0]).toMatch(/^rampup has no effect: /)
  })

  test('tags of the script stay: its thresholds are about them', async () => {
    const { facts } = await stage.run(
      script(
        "iterations: 2, thresholds: { 'http_reqs{scenario:default}': ['count==2'], 'http_reqs{proto:none}': ['count>0'] }"
      )
    )
    expect(facts.lines).toMatchObject([
      { text: 'http_reqs{proto:none} count>0', holds: false },
      { text: 'http_reqs{scenario:default} count==2', holds: true }
    ])
  })

  test('hosts have other addresses, whatever their case', async () => {
    stage.env.HOST = 'SHOP.example'
    const hosts = [
      { host: 'shop.Example', address: '127.0.0.1' },
      { host: 'v6.example', address: '::1' }
    ]
    const { facts } = await stage.run(script('iterations: 1'), { hosts })
    expect(facts).toMatchObject({ problem: null, requests: 1 })
    expect(target.hits.map(({ host }) => host)).toEqual([`SHOP.example:${target.port}`])
  })

  test('a script in TypeScript', async () => {
    const file = stage.write(
      'shop.ts',
      script('iterations: 1', `const path: string = '/typed'; http.get(shop + path)`)
    )
    expect((await stage.run('', { script: file })).facts).toMatchObject({ problem: null, requests: 1 })
    expect(target.hits.map(({ path }) => path)).toEqual(['/typed'])
  })

  test('files beside the script are imported and read, and an archive has all of it', async () => {
    stage.write('names.js', "export const name = 'ada'\n")
    stage.write('users.csv', 'user\ngrace\n')
    const text = script('iterations: 1', 'http.get(`${shop}/${name}/${user}`)').replace(
      START,
      `${START}import { name } from './names.js'\nconst user = open('users.csv').trim().split('\\n')[1]\n`
    )
    expect((await stage.run(text)).facts.problem).toBeNull()
    const archive = join(stage.folder, 'plan.tar')
    execFileSync(K6, ['archive', '-O', archive, join(stage.folder, 'script.js')], { stdio: 'ignore' })
    for (const name of ['names.js', 'users.csv']) stage.write(name, '')
    const { facts } = await stage.run('', { script: archive })
    expect(facts.problem).toBeNull()
    expect(target.hits.map(({ path }) => path)).toEqual(['/ada/grace', '/ada/grace'])
    const hosts = [{ host: 'shop.example', address: '127.0.0.1' }]
    stage.write('users.csv', 'user\ngrace\n')
    stage.write('names.js', "export const name = 'http://shop.example./'\n")
    execFileSync(K6, ['archive', '-O', archive, stage.write('script.js', text)], {
      stdio: 'ignore',
      cwd: stage.folder
    })
    stage.write('names.js', '')
    expect((await stage.run('', { script: archive, hosts })).facts.problem).toMatch(
      /final dot, so shop\.example\. /
    )
  })
})

describeWithK6('k6: the script’s own thresholds', () => {
  const FAILED = "http_req_failed: ['rate<0.01']"

  test.each([
    { what: 'hold', body: GET, holds: true },
    { what: 'are crossed', body: "http.get(shop + '/fail')", holds: false },
    {
      what: 'are crossed in a script with a summary of its own',
      body: "http.get(shop + '/fail')",
      more: "export function handleSummary() { return { stdout: 'mine', 'own.json': '{}' } }",
      holds: false
    }
  ])('$what', async ({ body, more, holds }) => {
    const { facts } = await stage.run(
      script(`iterations: 2, thresholds: { ${FAILED}, checks: [] }`, body, more)
    )
    expect(facts).toMatchObject({ problem: null, losses: [] })
    expect(facts.lines).toEqual([expect.objectContaining({ text: 'http_req_failed rate<0.01', holds })])
  })

  test('without samples they are known to be, and a Counter without any is zero', async () => {
    const thresholds = {
      ...{
        'http_req_duration{name:chekout}': ['p(95)<200', 'p(42.5)<200'],
        http_req_duration: ['p(42.5)<60000']
      },
      ...{ 'http_req_failed{name:chekout}': ['rate<0.01'], 'http_req_failed{name:home}': ['rate<0.01'] },
      ...{ errors: ['count<10'], 'errors{kind:odd}': ['count>10'], sizes: ['avg<1'], depth: ['value<1'] },
      ...{ http_reqs: ['count==2', 'rate>0'], level: ['value==3'] }
    }
    const metrics = `import { Counter, Gauge, Trend } from 'k6/metrics'
      new Counter('errors'); new Trend('sizes'); new Gauge('depth'); const level = new Gauge('level')`
    const options = `iterations: 2, summaryTrendStats: ['p(99)'], thresholds: ${JSON.stringify(thresholds)}`
    const { facts } = await stage.run(script(options, `${GET}; level.add(3)`, metrics))
    expect(facts).toMatchObject({ problem: null, losses: [] })
    expect(facts.lines.filter(({ holds }) => !holds).map(({ text }) => text)).toEqual([
      'errors{kind:odd} count>10'
    ])
    expect(facts.lines.filter(({ isEmpty }) => isEmpty).map(({ text }) => text)).toEqual([
      'depth value<1',
      'http_req_duration{name:chekout} p(42.5)<200',
      'http_req_duration{name:chekout} p(95)<200',
      'http_req_failed{name:chekout} rate<0.01',
      'sizes avg<1'
    ])
    expect(facts.lines).toHaveLength(12)
  })

  test('abortOnFail is an early stop, and no problem', async () => {
    const { facts } = await stage.run(
      script(
        "vus: 1, duration: '60s', thresholds: { http_req_failed: [{ threshold: 'rate<0.01', abortOnFail: true }] }",
        "http.get(shop + '/fail'); sleep(0.1)"
      )
    )
    expect(facts).toMatchObject({
      problem: null,
      lines: [{ text: 'http_req_failed rate<0.01', holds: false, endsTest: true }]
    })
    expect(target.hits.length).toBeLessThan(300)
  })

  test('exec.test.fail() is one that does not hold', async () => {
    const { facts } = await stage.run(
      script(`iterations: 1, thresholds: { ${FAILED} }`, `${GET}; exec.test.fail('no stock')`)
    )
    expect(facts).toMatchObject({ problem: null, losses: [] })
    expect(facts.lines).toMatchObject([
      { text: 'http_req_failed rate<0.01', holds: true },
      { text: 'the script marked the test as failed', holds: false }
    ])
  })
})

describeWithK6('k6: load that is missing', () => {
  test.each([
    {
      what: 'the script aborts the test',
      body: `${GET}; exec.test.abort('no stock')`,
      says: /^k6 ended with exit code 108: .*no stock/s
    },
    {
      what: 'setup() fails',
      more: "export function setup() { throw new Error('no database') }",
      says: /^k6 ended with exit code 107: .*no database/s
    },
    {
      what: 'setup() does not end',
      options: "setupTimeout: '1s', ",
      more: 'export function setup() { sleep(60) }',
      says: /^k6 ended with exit code 100: .*setup\(\)/s
    },
    {
      what: 'teardown() does not end',
      options: "teardownTimeout: '1s', ",
      more: 'export function teardown() { sleep(60) }',
      says: /^k6 ended with exit code 101: .*teardown\(\)/s
    },
    {
      what: 'the script cannot be read',
      more: 'function (',
      says: /^k6 cannot read the script: .*'script\.js': could not load JS test 'script\.js': script\.js: Line 7:10 Unexpected token/s
    },
    {
      what: 'a module is missing',
      more: "import './lost.js'",
      says: /^k6 cannot read the script: .*lost\.js/s
    },
    {
      what: 'an extension is missing',
      more: "import 'k6/x/kafka'",
      says: /^k6 cannot read the script: .*k6\/x\/kafka/s
    },
    {
      what: 'options are wrong',
      options: "vus: 5, stages: 'many', ",
      says: /^k6 cannot read the script: .*stages/s
    },
    {
      what: 'a VU cannot start',
      options: 'vus: 2, ',
      more: "if (__VU === 2) throw new Error('no room')",
      says: /^k6 ended with exit code \d+: .*no room/s
    }
  ])('$what: a problem, in its words', async ({ options = '', body = GET, more = '', says }) => {
    const { facts } = await stage.run(script(`${options}iterations: 2`, body, more))
    expect(facts.problem).toMatch(says)
  })

  test('exceptions that end iterations are lost load', async () => {
    const { facts } = await stage.run(
      script('iterations: 3', `${GET}; if (__ITER < 2) null.price; fail('sold out')`)
    )
    expect(facts.problem).toBeNull()
    expect(facts.losses).toEqual([
      expect.stringMatching(/^k6: an exception ended 3 iterations: TypeError: .*price/)
    ])
  })

  test('so are iterations that k6 had no VU for', async () => {
    const { facts } = await stage.run(
      script(
        "scenarios: { a: { executor: 'constant-arrival-rate', rate: 10, duration: '3s', preAllocatedVUs: 1, maxVUs: 1 } }",
        `${GET}; sleep(0.5)`
      )
    )
    expect(facts.problem).toBeNull()
    expect(facts.losses).toEqual([
      expect.stringMatching(/^k6: \d+ of \d+ iterations of the scenario a \(\d+ %\) were dropped/)
    ])
  })

  test('iterations that do not end by themselves are ended by k6 within its limits', async () => {
    const { facts } = await stage.run(
      script(
        "scenarios: { a: { executor: 'constant-vus', vus: 1, duration: '1s', gracefulStop: '1s' } }",
        `${GET}; for (;;) null`
      )
    )
    expect(facts).toMatchObject({ problem: null, requests: 1 })
    expect(facts.losses).toEqual([
      expect.stringMatching(/^k6: 0 complete and 1 interrupted iterations of 1 user; .* raise gracefulStop/)
    ])
  })

  test('users who wait for an answer when k6 ends them are lost load, and the log has no progress', async () => {
    const { facts, log } = await stage.run(
      script(
        "scenarios: { a: { executor: 'constant-vus', vus: 4, duration: '2s', gracefulStop: '1s' } }",
        `${GET}; http.get(shop + '/slow?ms=60000')`
      )
    )
    expect(facts).toMatchObject({ problem: null, requests: 4 })
    expect(facts.losses).toEqual([
      expect.stringMatching(/^k6: 0 complete and 4 interrupted iterations of 4 users; /)
    ])
    expect(log.join('\n')).toMatch(/TOTAL RESULTS/)
    expect(log.join('\n')).not.toMatch(/interrupted|Grafana|looping|%\s*\]/)
  })

  test('a promise that is rejected ends an iteration too', async () => {
    const { facts } = await stage.run(
      script('iterations: 2', `${GET}; buy()`, "async function buy() { throw new Error('no stock') }")
    )
    expect(facts.losses).toEqual([
      'k6: an exception ended 2 iterations: Uncaught (in promise) Error: no stock'
    ])
  })
})
