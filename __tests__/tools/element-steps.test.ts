import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { describeWithBrowser } from '../support/element/browser.js'
import { runScript, type ScriptRun } from '../support/element/run-script.js'
import { SLOW_MS, Target } from '../support/element/target.js'

let target: Target

beforeEach(async () => {
  target = await Target.start()
})
afterEach(() => target.close())

const BROKEN = 'the page responded with 500'
const QUICK = `loopCount: 1, actionDelay: 0, stepDelay: 0, waitTimeout: '5s'`

/** Runs a script whose module has these lines before its steps. */
function run(
  steps: readonly string[],
  { settings = QUICK, before = '' } = {},
  files: Record<string, string> = {}
): Promise<ScriptRun> {
  const plan = [
    `import { step, setup, beforeAll, By, Until } from '@flood/element'`,
    `const home = process.env.TARGET`,
    `export const settings = { ${settings} }`,
    before,
    `export default () => {`,
    ...steps,
    `}`
  ]
  return runScript({ 'plan.ts': plan.join('\n'), ...files }, { env: { TARGET: target.url } })
}

describeWithBrowser('error pages', () => {
  test('fail the step in which they come, wherever they are', async () => {
    const { rows, steps, problems } = await run([
      `step('Before a good one', async (b) => { await b.visit(home + '/broken'); await b.visit(home + '/page') })`,
      `step('Good', async (b) => { await b.visit(home + '/links') })`,
      `step('Popup', async (b) => { await b.click('#popup'); await b.waitForNewPage(); await b.switchTo().page(0) })`,
      `step('Behind a link', async (b) => { await b.click('#broken'); await b.wait(Until.titleIs('Broken')); await b.visit(home + '/frames') })`,
      `step('No page', async (b) => { await b.visit('http://127.0.0.1:1/').catch(() => undefined) })`
    ])
    expect(problems).toEqual([])
    expect(steps).toEqual([
      ...[`Before a good one: ${BROKEN}`, 'Good: passed', `Popup: ${BROKEN}`, `Behind a link: ${BROKEN}`],
      ...[expect.stringMatching(/^No page: the page did not load: net::ERR_/)]
    ])
    expect(rows[0]).toMatchObject({ code: '500', url: `${target.url}/broken` })
  })

  test('fail a hook', async () => {
    const { steps } = await run([
      `beforeAll(async (b) => { await b.visit(home + '/broken'); await b.visit(home + '/page') })`,
      `step('Home', async (b) => { await b.visit(home + '/page') })`
    ])
    expect(steps).toEqual([`beforeAll: ${BROKEN}`])
  })

  test('that come after the last step have a row of their own', async () => {
    const { steps } = await run([
      `step('Home', { stepDelay: '2s' }, async (b) => { setTimeout(() => b.page.goto(home + '/broken'), 100) })`
    ])
    expect(steps).toEqual(['Home: passed', `after the last step: ${BROKEN}`])
  })
})

describeWithBrowser('calls', () => {
  test('that nobody waits for fail the step', async () => {
    const { steps, problems } = await run([
      `step('No await', async (b) => { b.visit(home + '/slow') })`,
      `step('Next', async (b) => undefined)`
    ])
    expect(problems).toEqual([])
    expect(steps).toEqual(['No await: a call is still going on; is an await missing?'])
  })

  test('at the same time are not taken for think time', async () => {
    const { rows } = await run(
      [
        `step('Both', async (b) => { await b.visit(home + '/links') })`,
        `step('Fetch', async (b) => { await Promise.all([b.click('#text'), b.click('#text'), b.evaluate(() => fetch('/slow').then((r) => r.text()))]) })`
      ],
      { settings: `${QUICK}, actionDelay: '500ms'` }
    )
    expect(rows[1]).toMatchObject({ label: 'Fetch', success: true })
    expect(rows[1]!.elapsedMs).toBeGreaterThanOrEqual(SLOW_MS - 50)
  })

  test('to what does not exist end the run by name', async () => {
    const { problems, rows, isEnded } = await run([
      `step('Asked', async (b) => { if (typeof b.other === 'function' || 'another' in b) throw new Error('there') })`,
      `step('Unsupported', async (b) => { await b.wait(Until.elementIsGreen('x')) })`
    ])
    expect(problems).toEqual([
      expect.stringMatching(/^plan\.ts:\d+:\d+: Until\.elementIsGreen is not supported$/)
    ])
    expect(rows.map(({ label, success }) => [label, success])).toEqual([['Asked', true]])
    expect(isEnded).toBe(false)
  })
})

describeWithBrowser('waitForNavigation', () => {
  const links = `await b.visit(home + '/links')`
  const slow = `if (!b.url.endsWith('/slow')) throw new Error('still at ' + b.url)`

  test('waits for the page to which the last action leads', async () => {
    const { steps } = await run([
      `step('Slow', async (b) => { ${links}; await b.click('#slow'); await b.waitForNavigation(); ${slow} })`,
      `step('Late', async (b) => { ${links}; await b.click('#late'); await b.waitForNavigation(); ${slow} })`,
      `step('Together', async (b) => { ${links}; await Promise.all([b.waitForNavigation(), b.click('#late')]); ${slow} })`,
      `step('Already there', async (b) => { ${links}; await b.waitForNavigation() })`,
      `step('Nowhere', { waitTimeout: '3s' }, async (b) => { await b.click('#text'); await b.waitForNavigation() })`
    ])
    expect(steps).toEqual([
      ...['Slow: passed', 'Late: passed', 'Together: passed', 'Already there: passed'],
      'Nowhere: waited 3 s for a navigation, without success: nothing led to another page'
    ])
    expect(target.hits('/slow')).toBe(3)
  })
})

describeWithBrowser('declarations', () => {
  test('setup() at the top of the script and options of steps are honoured', async () => {
    const { steps, notes } = await run(
      [
        `step('Once', { once: true }, async () => undefined)`,
        `step('Skipped', { skip: true }, async () => undefined)`,
        `step('Repeated', { repeat: { count: 2 }, nonsense: 1 }, async () => undefined)`
      ],
      { settings: 'stepDelay: 0', before: 'setup({ loopCount: 2 })' }
    )
    const repeated = ['Repeated: passed', 'Repeated: passed']
    expect(steps).toEqual(['Once: passed', ...repeated, ...repeated])
    expect(notes).toEqual(['the option nonsense of the step "Repeated" is unknown and has no effect'])
  })

  test('without any limit, the steps run once', async () => {
    const { steps, notes } = await run(
      [
        `step('Place', async () => { if (require('fs').readdirSync(__dirname).indexOf('users.csv') < 0) throw new Error(__dirname) })`
      ],
      { settings: 'stepDelay: 0' },
      { 'users.csv': 'a\n1\n', 'tsconfig.json': '{}' }
    )
    expect(steps).toEqual(['Place: passed'])
    expect(notes).toEqual([
      expect.stringContaining('tsconfig.json has no effect'),
      expect.stringContaining('each user runs the steps once')
    ])
  })

  test('whatever is thrown has a text, however long the run may take', async () => {
    const { steps, limitMs } = await run(
      [
        `step.recovery(async () => 'continue')`,
        `step('Bare', async () => { throw Object.create(null) })`,
        `step('Object', async () => { throw Object.assign(new Error('x'), { message: { code: 5 } }) })`
      ],
      { settings: `${QUICK}, duration: '600h'` }
    )
    expect(steps).toEqual(['Bare: [Object: null prototype] {}', 'Object: { code: 5 }'])
    // Whoever hears it sets a timer, for a little longer.
    expect(limitMs).toBeLessThan(2 ** 31 - 1 - 60_000)
  })
})
