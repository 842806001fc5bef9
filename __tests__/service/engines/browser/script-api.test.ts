import { describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { By, quoteXPath, toLocator } from '../../../../src/service/programs/element/api/by.js'
import { Device, findDevice, isKey, Key } from '../../../../src/service/programs/element/api/constants.js'
import { parseCsv, Plan } from '../../../../src/service/programs/element/api/plan.js'
import { createExports } from '../../../../src/service/programs/element/api/exports.js'
import {
  readSettings,
  readStepSettings,
  toMs
} from '../../../../src/service/programs/element/api/settings.js'

describe('times as scripts write them', () => {
  test.each([
    { value: 2, ms: 2000 },
    { value: 0.5, ms: 500 },
    { value: 0, ms: 0 },
    { value: 1500, ms: 1500 },
    { value: '500ms', ms: 500 },
    { value: '2s', ms: 2000 },
    { value: '1.5 sec', ms: 1500 },
    { value: '2m', ms: 120_000 },
    { value: '1 hour', ms: 3_600_000 },
    { value: '3', ms: 3000 },
    // Timers count no further.
    { value: '600h', ms: 2 ** 31 - 1 },
    { value: Infinity, ms: 2 ** 31 - 1 }
  ])('$value is $ms ms', ({ value, ms }) => {
    expect(toMs(value)).toBe(ms)
  })

  test.each([-1, NaN, 'soon', '5 parsecs', '', null, {}])('%p is refused', (value) => {
    expect(() => toMs(value)).toThrow('is not a time')
  })
})

describe('settings', () => {
  test('have the defaults of Element', () => {
    expect(readSettings({})).toMatchObject({
      ...{ actionDelayMs: 2000, stepDelayMs: 6000, waitTimeoutMs: 30_000, waitUntil: false },
      ...{
        loopCount: Infinity,
        durationMs: undefined,
        countsThinkTime: false,
        clearCookies: true,
        warnings: []
      }
    })
  })

  test.each([
    { given: { loopCount: -1, duration: -1 }, read: { loopCount: Infinity, durationMs: undefined } },
    { given: { loopCount: 3, duration: '90s' }, read: { loopCount: 3, durationMs: 90_000 } },
    { given: { clearCache: true, clearCookies: false }, read: { isFresh: true, clearCookies: false } },
    { given: { incognito: true, waitUntil: 'visible' }, read: { isFresh: true, waitUntil: 'visible' } },
    {
      given: { ignoreHTTPSError: true, disableCache: true },
      read: { ignoreHTTPSErrors: true, disableCache: true }
    },
    { given: { extraHTTPHeaders: { a: 1 } }, read: { extraHTTPHeaders: { a: '1' } } },
    { given: { viewport: null }, read: { viewport: null } },
    { given: { responseTimeMeasurement: 'stepWithThinkTime' }, read: { countsThinkTime: true } }
  ])('$given', ({ given, read }) => {
    expect(readSettings(given)).toMatchObject(read)
  })

  test.each([
    { given: { stages: [{}] }, words: 'the setting stages is not supported' },
    { given: { responseTimeMeasurement: 'page' }, words: 'responseTimeMeasurement is "page"' },
    { given: { loopCount: '3' }, words: 'loopCount is "3", not a whole number' },
    { given: { actionDelay: 'soon' }, words: "the setting actionDelay: 'soon' is not a time" },
    { given: { waitUntil: 'later' }, words: 'waitUntil is "later"' },
    { given: { viewport: { width: 1 } }, words: 'without width and height' },
    { given: { userAgent: 5 }, words: 'userAgent is 5, not a text' },
    { given: { blockedDomains: 'x' }, words: 'blockedDomains is "x", not a list' },
    { given: { extraHTTPHeaders: 'x' }, words: 'extraHTTPHeaders is "x"' },
    { given: { browser: 'webkit' }, words: 'only Chrome and Chromium' }
  ])('$given is refused by name', ({ given, words }) => {
    expect(() => readSettings(given)).toThrow(words)
  })

  test('without effect are named once each, and those switched off are not', () => {
    const { warnings } = readSettings({
      screenshotOnFailure: true,
      DOMSnapshotOnFailure: false,
      headless: true,
      x: 1
    })
    expect(warnings).toEqual([
      expect.stringContaining('screenshotOnFailure'),
      expect.stringContaining('the setting x is unknown'),
      expect.stringContaining('headless')
    ])
  })

  test.each(['sandbox', 'devtools', 'verbose'])('%s has no effect, which is said', (name) => {
    expect(readSettings({ [name]: true }).warnings).toEqual([
      expect.stringContaining(`the setting ${name} has no effect`)
    ])
  })

  test("of a step win over the script's", () => {
    const otherwise = readSettings({ waitTimeout: 5, waitUntil: 'visible' })
    expect(readStepSettings({ waitTimeout: '1s', stepDelay: '3s' }, otherwise)).toEqual({
      ...{ waitTimeoutMs: 1000, waitUntil: 'visible', actionDelayMs: 2000, stepDelayMs: 3000 }
    })
    expect(readStepSettings({ waitUntil: false, actionDelay: '1s' }, otherwise)).toEqual({
      ...{ waitTimeoutMs: 5000, waitUntil: false, actionDelayMs: 1000, stepDelayMs: 6000 }
    })
  })
})

describe('locators', () => {
  test.each([
    { locator: By.id('#a"b'), selector: 'css=*[id="a\\"b"]' },
    { locator: By.attr('input', 'type'), selector: 'css=input[type]' },
    { locator: By.nameAttr('x'), selector: 'css=*[name="x"]' },
    { locator: By.linkText(' Go '), selector: "xpath=//a[normalize-space(.)='Go']" },
    { locator: toLocator('//p'), selector: 'xpath=//p' },
    { locator: toLocator('(//p)[1]'), selector: 'xpath=(//p)[1]' },
    { locator: toLocator('p > a'), selector: 'css=p > a' }
  ])('$locator.text', ({ locator, selector }) => {
    expect(locator.selector).toBe(selector)
  })

  test('quotes in XPath', () => {
    expect(quoteXPath('plain "x"')).toBe(`'plain "x"'`)
    expect(quoteXPath(`it's`)).toBe(`concat('it',"'",'s')`)
  })

  test.each([null, undefined, 5])('%p is not a locator', (target) => {
    expect(() => toLocator(target)).toThrow('expected an element, a By locator or a selector')
  })
})

describe('names', () => {
  test('of keys; one that does not exist is an error', () => {
    expect([Key.ENTER, Key.ARROW_DOWN, Key.F5]).toEqual(['Enter', 'ArrowDown', 'F5'])
    expect([isKey('Enter'), isKey('enter'), isKey('a')]).toEqual([true, false, false])
    expect(() => Key.NONSENSE).toThrow('Key.NONSENSE is not supported')
  })

  test('of devices, in any spelling', () => {
    const devices = { 'iPhone 6': 1, 'iPhone 6 landscape': 2 }
    expect(findDevice(devices, Device.iPhone6Landscape!)).toBe(2)
    expect(findDevice(devices, 'IPHONE 6')).toBe(1)
    expect(() => findDevice(devices, 'Nokia')).toThrow("the device 'Nokia' is unknown")
  })
})

describe('CSV', () => {
  test('with quotes, separators and line ends in fields, a byte order mark, and empty lines', () => {
    expect(parseCsv('\uFEFFa, b\r\n"x,1","say ""hi""\nthere"\r\n\r\nlast\n')).toEqual([
      { a: 'x,1', b: 'say "hi"\nthere' },
      { a: 'last', b: '' }
    ])
    expect(parseCsv('a;b\n1;2', ';')).toEqual([{ a: '1', b: '2' }])
  })
})

describe('test data', () => {
  interface Data {
    fromData(rows: unknown[]): Source
    fromCSV(name: string): Source
    fromJSON(name: string): Source
  }
  interface Source {
    as(name: string): Source
    circular(isOn?: boolean): Source
    shuffle(isOn?: boolean): Source
    filter(test: (row: never, index: number, browserId: number) => boolean): Source
    open(): unknown[]
  }
  const make = (folder = ''): { plan: Plan; data: Data } => {
    const plan = new Plan()
    return { plan, data: createExports(plan, { browserId: 7, env: {}, folder }).TestData as Data }
  }

  test('starts again from the beginning, unless told otherwise', () => {
    const { plan, data } = make()
    data.fromData([1, 2])
    expect([1, 2, 3].map(() => plan.nextData())).toEqual([{ row: 1 }, { row: 2 }, { row: 1 }])
    const { plan: other, data: otherData } = make()
    otherData.fromData([1]).circular(false)
    expect([other.nextData(), other.nextData()]).toEqual([{ row: 1 }, 'end'])
  })

  test('of several sources comes under their names', () => {
    const { plan, data } = make()
    data.fromData([{ a: 1 }]).as('first')
    data.fromData([{ b: 2 }])
    expect(plan.nextData()).toEqual({ row: { first: { a: 1 }, b: 2 } })
  })

  test('is filtered for a user, then shuffled', () => {
    const { data } = make()
    const source = data.fromData([1, 2, 3, 4, 7, 8]).filter((row, _, browserId) => row <= browserId)
    expect([...source.shuffle().open()].sort()).toEqual([1, 2, 3, 4, 7])
  })

  test('is empty without a source', () => {
    expect(make().plan.nextData()).toEqual({ row: {} })
  })

  test('from files that are missing or unreadable is an error that names them', () => {
    const folder = mkdtempSync(join(tmpdir(), 'loadgate-data-'))
    writeFileSync(join(folder, 'bad.json'), '{')
    writeFileSync(join(folder, 'one.json'), '{"id":1}')
    const { data } = make(folder)
    expect(() => data.fromCSV('./data/users.csv').open()).toThrow('the data file ./data/users.csv is missing')
    expect(() => data.fromJSON('bad.json').open()).toThrow('the data file bad.json is not JSON')
    expect(data.fromJSON('some/folder/one.json').open()).toEqual([{ id: 1 }])
    rmSync(folder, { recursive: true })
  })
})

describe('declarations', () => {
  const declare = (): { plan: Plan; step: (...all: unknown[]) => void; suite: { withData: () => void } } => {
    const plan = new Plan()
    const exports = createExports(plan, { browserId: 1, env: {}, folder: '' })
    return { plan, step: exports.step as never, suite: exports.suite as never }
  }

  test('need a name and a function', () => {
    const { step } = declare()
    expect(() => step(async () => undefined)).toThrow('a step needs a name')
    expect(() => step('home')).toThrow('a step needs a function as its last argument')
  })

  test.each([
    { name: '', words: 'a name that is not blank' },
    { name: ' \t', words: 'a name that is not blank' },
    { name: 'two\nlines', words: 'control characters: "two\\nlines"' },
    { name: 'red \u001b[31m', words: 'control characters' },
    { name: 'home [ttfb]', words: "ends like the labels of the pages' own times" },
    { name: 'home [dom ready]', words: "ends like the labels of the pages' own times" },
    { name: 'home [load]', words: "ends like the labels of the pages' own times" },
    { name: 'home [lcp]', words: "ends like the labels of the pages' own times" }
  ])('with the name $name are refused', ({ name, words }) => {
    expect(() => declare().step(name, async () => undefined)).toThrow(words)
  })

  test.each([
    { options: { once: true }, declared: { isOnce: true } },
    { options: { skip: true }, declared: { isSkipped: true } },
    { options: { pending: true }, declared: { isSkipped: true } },
    { options: { repeat: 2 }, declared: { repeat: 2 } },
    { options: { repeat: { count: 3, iteration: 0 } }, declared: { repeat: 3 } }
  ])('have options: $options', ({ options, declared }) => {
    const { plan, step } = declare()
    step('home', options, async () => undefined)
    expect(plan.steps[0]).toMatchObject(declared)
    expect(plan.warnings).toEqual([])
  })

  test('have options that are switched off, of other kinds and unknown', () => {
    const { plan, step } = declare()
    const options = { once: false, skip: false, stepDelay: 1, actionDelay: 1, waitTimeout: 1, nonsense: 1 }
    step('home', options, async () => undefined)
    expect(plan.steps).toEqual([{ name: 'home', options, run: expect.any(Function) }])
    expect(plan.warnings).toEqual(['the option nonsense of the step "home" is unknown and has no effect'])
    expect(() => step('home', { repeat: { count: 'x' } }, async () => undefined)).toThrow('a whole number')
    expect(() => step('home', { predicate: () => true }, async () => undefined)).toThrow(
      'the option predicate of the step "home" is not supported: use step.if'
    )
  })

  test('that are not supported are refused by name', () => {
    expect(() => declare().suite.withData()).toThrow('suite.withData is not supported')
  })

  test('ENV has numbers where scripts expect them', () => {
    const env = {
      FLOOD_NODE_INDEX: '2',
      FLOOD_GRID_NODE_SEQUENCE_ID: '2',
      FLOOD_GRID_REGION: 'us-east-1',
      other: 'x'
    }
    expect(createExports(new Plan(), { browserId: 3, env, folder: '' }).ENV).toMatchObject({
      ...{
        FLOOD_NODE_INDEX: 2,
        FLOOD_GRID_REGION: 'us-east-1',
        FLOOD_LOAD_TEST: true,
        BROWSER_ID: 3,
        SEQUENCE: 10_003
      },
      other: 'x'
    })
  })
})
