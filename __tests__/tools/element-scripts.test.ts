import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { readdirSync } from 'node:fs'
import { describeWithBrowser } from '../support/element/browser.js'
import { readFixture, runScript, type ScriptRun } from '../support/element/run-script.js'
import { Target } from '../support/element/target.js'

let target: Target

beforeEach(async () => {
  target = await Target.start()
})
afterEach(() => target.close())

async function run(name: string, others: string[] = []): Promise<ScriptRun> {
  const result = await runScript(readFixture(name, ...others), { env: { TARGET: target.url } })
  expect({ problems: result.problems, losses: result.losses }).toEqual({ problems: [], losses: [] })
  expect(result.isEnded).toBe(true)
  return result
}

const passed = (...labels: string[]): string[] => labels.map((label) => `${label}: passed`)

/** The scripts whose steps all pass, with the pages that they load. */
const PASSING: readonly { script: string; steps: string[]; pages: number; others?: string[] }[] = [
  { script: '01-visit-and-wait.ts', steps: ['Home', 'Second', 'Home', 'Second'], pages: 4 },
  { script: '02-locators.ts', steps: ['css and tag', 'xpath and text', 'links', 'attributes'], pages: 3 },
  { script: '03-form.ts', steps: ['Fill in', 'Send'], pages: 2 },
  { script: '04-select.ts', steps: ['Select'], pages: 1 },
  { script: '05-keys.ts', steps: ['Keys', 'Press enter'], pages: 2 },
  { script: '06-frames.ts', steps: ['By name', 'By element, id and index'], pages: 2 },
  { script: '07-mouse.ts', steps: ['Mouse'], pages: 1 },
  { script: '08-scroll.ts', steps: ['Scroll'], pages: 1 },
  { script: '09-conditions.ts', steps: ['Of elements', 'Of the page', 'Of a dialog'], pages: 3 },
  {
    script: '10-kinds-of-steps.ts',
    steps: [
      ...['Once', 'Unless', 'Repeat', 'Repeat', 'Repeat', 'While', 'While'],
      ...['If', 'Unless', 'Repeat', 'Repeat', 'Repeat', 'While', 'While']
    ],
    pages: 13
  },
  { script: '13-csv-data.ts', steps: ['User', 'User', 'User'], pages: 3, others: ['users.csv'] },
  {
    script: '14-more-data.ts',
    steps: ['Item', 'Item', 'Item'],
    pages: 3,
    others: ['items.json', 'helper.ts']
  },
  { script: '15-pages.ts', steps: ['New page', 'Back'], pages: 3 },
  { script: '16-identity.ts', steps: ['Settings', 'Changed', 'Device', 'Credentials'], pages: 5 },
  { script: '17-cookies.ts', steps: ['Cookies', 'Kept', 'Cookies', 'Kept'], pages: 4 },
  { script: '18-evaluate.ts', steps: ['Evaluate'], pages: 2, others: ['users.csv'] },
  { script: '19-think-time.ts', steps: ['Slow user'], pages: 2 },
  { script: '20-old-style.js', steps: ['Old'], pages: 2 }
]

describeWithBrowser('scripts as people write them', () => {
  test.each(PASSING)('$script', async ({ script, steps, pages, others }) => {
    const result = await run(script, others)
    expect(result.steps).toEqual(passed(...steps))
    expect(target.total).toBe(pages)
  })

  test('11-recovery.ts', async () => {
    const result = await run('11-recovery.ts')
    expect(result.steps).toEqual([
      ...[
        'First: passed',
        'Flaky: try 1',
        'Flaky: try 2',
        'Flaky: passed',
        'Restarting: again, "from" the start'
      ],
      ...passed('First', 'Flaky', 'Restarting'),
      "Given up: waited 5 s for Until.elementIsVisible('#never'), without success",
      'Last: passed'
    ])
    expect(target.hits('/recovered')).toBe(1)
  })

  test('12-hooks.ts', async () => {
    const result = await run('12-hooks.ts')
    // Three is not reached: a step that fails ends the loop.
    expect(result.steps).toEqual(['One: passed', 'Two: two fails', 'One: passed', 'Two: two fails'])
    const hits = ['before-all', 'before-each', 'after-each', 'after-all'].map((path) =>
      target.hits(`/${path}`)
    )
    expect(hits).toEqual([2, 4, 4, 2])
  })

  test('every script of the folder is in the list', () => {
    const scripts = readdirSync('__tests__/fixtures/element').filter((name) => /^\d\d-/.test(name))
    const listed = [...PASSING.map(({ script }) => script), '11-recovery.ts', '12-hooks.ts']
    expect(scripts).toEqual(listed.sort())
    expect(scripts).toHaveLength(20)
  })
})

describeWithBrowser('what the rows say', () => {
  test('rows of test data reach the steps', async () => {
    await run('13-csv-data.ts', ['users.csv'])
    expect([target.hits('/user/anna'), target.hits('/user/bert'), target.hits('/user/nobody')]).toEqual([
      2, 1, 0
    ])
  })

  test('data that is not circular ends the user, and the log says so', async () => {
    const { notes } = await run('14-more-data.ts', ['items.json', 'helper.ts'])
    expect(notes).toEqual([expect.stringContaining('the test data is used up')])
    expect([1, 2, 3].map((id) => target.hits(`/item/${id}/of/1`))).toEqual([1, 1, 1])
  })

  test('think time is left out', async () => {
    const { rows } = await run('19-think-time.ts')
    // 0.3 s after each of two actions, and 0.5 s.
    expect(rows[0]!.idleMs).toBeGreaterThanOrEqual(1100)
    expect(rows[0]!.idleMs).toBeLessThan(3000)
  })

  test('think time is included where the script says so', async () => {
    const { 'plan.ts': plan } = { 'plan.ts': readFixture('19-think-time.ts')['19-think-time.ts']! }
    const script = plan.replace(
      'waitTimeout: 5',
      "waitTimeout: 5, responseTimeMeasurement: 'stepWithThinkTime'"
    )
    const { rows } = await runScript({ 'plan.ts': script }, { env: { TARGET: target.url } })
    expect(rows[0]!.elapsedMs).toBeGreaterThanOrEqual(1100)
    expect(rows[0]!.idleMs).toBe(0)
  })

  test('a page has its own times under labels of their own', async () => {
    const { rows, timings } = await run('03-form.ts')
    expect(rows).toHaveLength(2)
    const labels = timings.filter(({ partOf }) => partOf === 'Fill in').map(({ label }) => label)
    expect(labels).toEqual(
      expect.arrayContaining(['Fill in [ttfb]', 'Fill in [dom ready]', 'Fill in [load]'])
    )
    expect(new Set(timings.map(({ partOf }) => partOf))).toEqual(new Set(['Fill in', 'Send']))
    expect(rows[0]).toMatchObject({ code: '200', url: `${target.url}/form`, user: 'user 1' })
    expect(rows[0]!.latencyMs).toBeGreaterThan(0)
  })

  test('a step without a page of its own has no such times', async () => {
    const { timings } = await run('02-locators.ts')
    expect(timings.map(({ partOf }) => partOf)).not.toContain('xpath and text')
  })

  test('headers, cookies and credentials are sent', async () => {
    await run('16-identity.ts')
    const [first, second] = target.headers
    expect(first).toMatchObject({ 'x-test': 'yes', 'user-agent': 'load-gate-test' })
    expect(second).toMatchObject({ 'x-other': '1', 'user-agent': 'another' })
    expect(target.headers.at(-1)).toMatchObject({ authorization: `Basic ${btoa('anna:secret')}` })
  })
})
