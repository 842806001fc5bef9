import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithBrowser } from '../support/element/browser.js'
import { runScript, type ScriptRun } from '../support/element/run-script.js'
import { Target } from '../support/element/target.js'

let target: Target

beforeEach(async () => {
  target = await Target.start()
})
afterEach(() => target.close())

const QUICK = `loopCount: 1, actionDelay: 0, stepDelay: 0, waitTimeout: '5s'`
const VISIT = `step('Home', async (browser) => { await browser.visit(home + '/page') })`

/** Runs a script with these settings and steps. */
function run(
  settings: string,
  steps: string,
  given: Parameters<typeof runScript>[1] = {}
): Promise<ScriptRun> {
  const plan = [
    `import { step, beforeAll, By, Until, ENV } from '@flood/element'`,
    `const home = process.env.TARGET`,
    `let own = 0`,
    `export const settings = { ${QUICK}, ${settings} }`,
    `export default () => { ${steps} }`
  ]
  return runScript({ 'plan.ts': plan.join('\n') }, { ...given, env: { TARGET: target.url, ...given.env } })
}

describeWithBrowser('settings that scripts have', () => {
  test('blocked domains are not loaded, others are', async () => {
    const other = `http://localhost:${target.port}`
    const { steps } = await run(
      `blockedDomains: ['*.example.com', 'localhost']`,
      `${VISIT}; step('Blocked', async (browser) => { await browser.visit('${other}/blocked') })`
    )
    expect(steps[0]).toBe('Home: passed')
    expect(steps[1]).toMatch(/^Blocked: .*ERR_NAME_NOT_RESOLVED/)
    expect([target.hits('/page'), target.hits('/blocked')]).toEqual([1, 0])
  })

  test('arguments reach the browser', async () => {
    const { steps } = await run(
      `launchArgs: ['--user-agent=from-an-argument']`,
      `step('Home', async (browser) => { await browser.visit(home + '/page') })`
    )
    expect(steps).toEqual(['Home: passed'])
    expect(target.headers[0]!['user-agent']).toBe('from-an-argument')
  })

  test('a device is emulated', async () => {
    await run(`device: 'iPhone 6'`, VISIT)
    expect(target.headers[0]!['user-agent']).toContain('iPhone')
  })

  test.each([
    { settings: `responseTimeMeasurement: 'network'`, words: "use 'step' or 'stepWithThinkTime'" },
    { settings: `launchArgs: ['--user-data-dir=/tmp']`, words: 'launchArgs has --user-data-dir=/tmp' },
    { settings: `blockedDomains: ['{a,b}.com']`, words: "blockedDomains has '{a,b}.com'" },
    { settings: `browser: 'firefox'`, words: 'only Chrome and Chromium are supported' },
    { settings: `device: 'Nokia 3210'`, words: "the device 'Nokia 3210' is unknown" }
  ])('what cannot be honoured is refused: $settings', async ({ settings, words }) => {
    const { problems, isEnded } = await run(settings, VISIT)
    expect(problems).toEqual([expect.stringContaining(words)])
    expect(isEnded).toBe(false)
    expect(target.total).toBe(0)
  })

  test('what has no effect is named', async () => {
    const { notes, steps } = await run(`DOMSnapshotOnFailure: true, somethingElse: 1`, VISIT)
    expect(steps).toEqual(['Home: passed'])
    expect(notes).toEqual([
      'the setting DOMSnapshotOnFailure has no effect: no snapshots are taken in a load test',
      'the setting somethingElse is unknown and has no effect'
    ])
  })
})

describeWithBrowser('users', () => {
  test('each has variables, cookies and a number of its own', async () => {
    const visit = `step('Own', async (browser) => { own += 1; await browser.visit(home + '/' + ENV.BROWSER_ID + '-' + own) })`
    const { rows } = await run('loopCount: 2', visit, { users: 3, rampupMs: 300 })
    expect(rows).toHaveLength(6)
    const paths = [1, 2, 3].flatMap((user) => [`/${user}-1`, `/${user}-2`])
    expect(paths.map((path) => target.hits(path))).toEqual(paths.map(() => 1))
    // Cookies are cleared after every loop.
    expect(target.headers.map(({ cookie }) => cookie)).toEqual(Array.from({ length: 6 }, () => undefined))
  })
})

describeWithBrowser('what goes wrong', () => {
  test('a hook that fails has a row, and its loop ends', async () => {
    const { steps } = await run('', `beforeAll(async () => { throw new Error('not ready') }); ${VISIT}`)
    expect(steps).toEqual(['beforeAll: not ready'])
  })

  test('a condition that fails has a row', async () => {
    const { steps } = await run(
      '',
      `step.if(async (browser) => { await browser.click('#no'); }, 'If', async () => undefined)`
    )
    expect(steps).toEqual([`If: no element was found by By.css('#no')`])
  })

  test('anything can be thrown', async () => {
    const { steps } = await run('', `step('Odd', async () => { throw undefined })`)
    expect(steps).toEqual(['Odd: undefined'])
  })

  test('a message of several lines, with commas and quotes, is one line of the results', async () => {
    const { steps, csv } = await run(
      '',
      `step('Many, "odd"', async () => { throw new Error('one, "two"\\nthree') })`
    )
    expect(steps).toEqual(['Many, "odd": one, "two"'])
    expect(csv.trim().split('\n')).toHaveLength(2)
  })

  test('a page that does not answer in time is a failed step', async () => {
    const { rows } = await run(
      `waitTimeout: '500ms'`,
      `step('Never', async (browser) => { await browser.visit(home + '/never') })`
    )
    expect(rows).toEqual([expect.objectContaining({ success: false, code: 'TimeoutError', label: 'Never' })])
    expect(rows[0]!.failure).toContain('Timeout 500ms exceeded')
  })

  test('steps that all are skipped are no run', async () => {
    const { problems } = await run('', `step.skip('Home', async () => undefined)`)
    expect(problems).toEqual([expect.stringContaining('no step was run')])
  })

  test('an error in a timer of the script is a problem', async () => {
    const { problems, isEnded } = await run(
      ...([
        '',
        `step('Late', async (browser) => { setTimeout(() => { throw new Error('late') }, 10); await browser.wait('2s') })`
      ] as const)
    )
    expect(problems).toEqual(['the script threw an error outside of its steps: late'])
    expect(isEnded).toBe(false)
  })

  test('a browser that dies is a problem, and what it cut has no row', async () => {
    const kill = `step('Kill', async (browser) => { await browser.page.goto('chrome://crash').catch(() => undefined); await (await browser.page.context().browser().newBrowserCDPSession()).send('Browser.crash').catch(() => undefined); await browser.visit(home + '/page') })`
    const { problems, rows } = await run('', `${VISIT}; ${kill}`)
    expect(problems).toEqual([
      expect.stringMatching(/^the browser (ended while the plan was running|did not answer)/)
    ])
    expect(rows.map(({ label }) => label)).toEqual(['Home'])
  })

  test('when it is told to end, it ends at once with the rows so far', async () => {
    let pid = 0
    const running = run('loopCount: -1', VISIT, { users: 2, onStart: (started) => (pid = started) })
    while (target.hits('/page') < 4) await new Promise((resolve) => setTimeout(resolve, 20))
    process.kill(pid, 'SIGTERM')
    const { rows, problems, losses } = await running
    expect({ problems, losses }).toEqual({ problems: [], losses: [] })
    expect(rows.filter(({ success }) => !success)).toEqual([])
    expect(target.hits('/page') - rows.length).toBeGreaterThanOrEqual(0)
    expect(target.hits('/page') - rows.length).toBeLessThanOrEqual(2)
  })
})
