import type { ElementHandle } from './element-handle.js'

/** What conditions look at. */
interface Watched {
  readonly hasShownAlert: boolean
  title(): Promise<string>
  getUrl(): string
  maybeFindElement(target: unknown): Promise<ElementHandle | null>
  findElements(target: unknown): Promise<ElementHandle[]>
  switchTo(): { frame(which: unknown): Promise<void> }
}

/** What `browser.wait` waits for. */
export class WaitCondition {
  constructor(
    readonly text: string,
    readonly isTrue: (browser: Watched) => boolean | Promise<boolean>
  ) {}

  toString(): string {
    return this.text
  }
}

type ElementTest = (element: ElementHandle) => boolean | Promise<boolean>

/** A condition on the first element that is found. */
const ofElement =
  (name: string, test: ElementTest, ifMissing = false) =>
  (target: unknown) =>
    new WaitCondition(`Until.${name}(${describe(target)})`, async (browser) => {
      const element = await browser.maybeFindElement(target)
      return element === null ? ifMissing : test(element)
    })

const COMPARISONS: readonly {
  is: string
  isNot: string
  test: (found: string, wanted: unknown) => boolean
}[] = [
  { is: 'Is', isNot: 'IsNot', test: (found, wanted) => found === wanted },
  { is: 'Contains', isNot: 'DoesNotContain', test: (found, wanted) => found.includes(String(wanted)) },
  {
    is: 'Matches',
    isNot: 'DoesNotMatch',
    test: (found, wanted) => new RegExp(wanted as RegExp | string).test(found)
  }
]

type OnText = (target: unknown, wanted: unknown) => WaitCondition
type OnPage = (wanted: unknown) => WaitCondition

/** `elementTextIs`, `titleContains`, `urlDoesNotMatch` and so on. */
function createComparisons(): Record<string, OnText | OnPage> {
  return Object.fromEntries(
    COMPARISONS.flatMap(({ is, isNot, test }) =>
      [
        { word: is, holds: test },
        { word: isNot, holds: (found: string, wanted: unknown) => !test(found, wanted) }
      ].flatMap(({ word, holds }) => [
        [`elementText${word}`, onElementText(`elementText${word}`, holds)],
        [`title${word}`, onPage(`title${word}`, (browser) => browser.title(), holds)],
        [`url${word}`, onPage(`url${word}`, (browser) => browser.getUrl(), holds)]
      ])
    )
  )
}

function onElementText(name: string, holds: (found: string, wanted: unknown) => boolean): OnText {
  return (target, wanted) => ofElement(name, async (element) => holds(await element.text(), wanted))(target)
}

function onPage(
  name: string,
  read: (browser: Watched) => string | Promise<string>,
  holds: (found: string, wanted: unknown) => boolean
): OnPage {
  return (wanted) =>
    new WaitCondition(`Until.${name}(${describe(wanted)})`, async (browser) =>
      holds(await read(browser), wanted)
    )
}

export const Until = {
  ...createComparisons(),
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
    new WaitCondition(`Until.ableToSwitchToFrame(${describe(target)})`, (browser) =>
      browser
        .switchTo()
        .frame(target)
        .then(
          () => true,
          () => false
        )
    ),
  alertIsPresent: () => new WaitCondition('Until.alertIsPresent()', (browser) => browser.hasShownAlert)
}

function describe(value: unknown): string {
  return typeof value === 'string' ? `'${value}'` : String(value)
}
