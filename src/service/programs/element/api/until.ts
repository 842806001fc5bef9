import type { ElementHandle } from './element-handle.js'

interface Watched {
  readonly hasShownAlert: boolean
  title(): Promise<string>
  getUrl(): string
  maybeFindElement(target: unknown): Promise<ElementHandle | null>
  findElements(target: unknown): Promise<ElementHandle[]>
  switchTo(): { frame(which: unknown): Promise<void> }
}

export class WaitCondition {
  constructor(
    readonly text: string,
    readonly isTrue: (browser: Watched) => boolean | Promise<boolean>
  ) {}

  toString(): string {
    return this.text
  }
}

/** A condition on the first element that is found. */
const ofElement =
  (name: string, test: (element: ElementHandle) => boolean | Promise<boolean>, ifMissing = false) =>
  (target: unknown) =>
    new WaitCondition(`Until.${name}(${describe(target)})`, async (browser) => {
      const element = await browser.maybeFindElement(target)
      return element === null ? ifMissing : test(element)
    })

type Holds = (found: string, wanted: unknown) => boolean

const contains: Holds = (found, wanted) => found.includes(String(wanted))
const matches: Holds = (found, wanted) => new RegExp(wanted as RegExp | string).test(found)
const COMPARISONS: Readonly<Record<string, Holds>> = {
  Is: (found, wanted) => found === wanted,
  IsNot: (found, wanted) => found !== wanted,
  Contains: contains,
  DoesNotContain: (found, wanted) => !contains(found, wanted),
  Matches: matches,
  DoesNotMatch: (found, wanted) => !matches(found, wanted)
}

const ofPage =
  (name: string, read: (browser: Watched) => string | Promise<string>, holds: Holds) => (wanted: unknown) =>
    new WaitCondition(`Until.${name}(${describe(wanted)})`, async (browser) =>
      holds(await read(browser), wanted)
    )

/** `elementTextIs`, `titleContains`, `urlDoesNotMatch` and so on. */
const comparisons = Object.entries(COMPARISONS).map(([word, holds]) => ({
  [`elementText${word}`]: (target: unknown, wanted: unknown) =>
    ofElement(`elementText${word}`, async (element) => holds(await element.text(), wanted))(target),
  [`title${word}`]: ofPage(`title${word}`, (browser) => browser.title(), holds),
  [`url${word}`]: ofPage(`url${word}`, (browser) => browser.getUrl(), holds)
}))

export const Until = {
  ...(Object.assign({}, ...comparisons) as (typeof comparisons)[number]),
  elementLocated: ofElement('elementLocated', () => true),
  elementsLocated: (target: unknown, count = 1) =>
    new WaitCondition(
      `Until.elementsLocated(${describe(target)}, ${count})`,
      async (browser) => (await browser.findElements(target)).length >= count
    ),
  elementIsVisible: ofElement('elementIsVisible', (element) => element.isDisplayed()),
  elementIsNotVisible: ofElement(
    'elementIsNotVisible',
    async (element) => !(await element.isDisplayed()),
    true
  ),
  elementIsEnabled: ofElement('elementIsEnabled', (element) => element.isEnabled()),
  elementIsDisabled: ofElement('elementIsDisabled', async (element) => !(await element.isEnabled())),
  elementIsSelected: ofElement('elementIsSelected', (element) => element.isSelected()),
  elementIsNotSelected: ofElement('elementIsNotSelected', async (element) => !(await element.isSelected())),
  ableToSwitchToFrame: (target: unknown) =>
    new WaitCondition(`Until.ableToSwitchToFrame(${describe(target)})`, async (browser) => {
      const switched = browser.switchTo().frame(target)
      return switched.then(() => true).catch(() => false)
    }),
  alertIsPresent: () => new WaitCondition('Until.alertIsPresent()', (browser) => browser.hasShownAlert)
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
