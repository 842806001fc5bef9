import { Browser } from './browser.js'
import { By, Locator } from './by.js'
import { BROWSER, Device, MouseButtons, ScrollDirection } from './constants.js'
import { createDeclarations, RecoverWith } from './declare.js'
import { ElementHandle } from './element-handle.js'
import { createEnv } from './env.js'
import { Key } from './keys.js'
import { Mouse } from './mouse.js'
import type { Plan } from './plan.js'
import { TargetLocator } from './target-locator.js'
import { createTestData } from './test-data.js'
import { noticeMissing } from './unsupported.js'
import { Until, WaitCondition } from './until.js'

export interface UserPlace {
  /** From 1. */
  readonly browserId: number
  readonly env: NodeJS.ProcessEnv
  /** Where the uploaded files are. */
  readonly folder: string
}

/** Only names of types in the original; a script in JavaScript may import them nevertheless. */
const TYPES = [
  ...['TestSettings', 'StepOptions', 'StepFunction', 'Locatable', 'NullableLocatable', 'TestDataSource'],
  ...['TestDataFactory', 'FloodProcessEnv', 'NavigationOptions', 'ClickOptions', 'ScreenshotOptions'],
  ...['ResponseTiming', 'ConsoleMethod', 'StepDefinition', 'ScrollBehavior', 'Point', 'FeedFilterFunction']
]

/** Everything that `import … from '@flood/element'` gives to one user's instance of the script. */
export function createExports(plan: Plan, user: UserPlace): Record<string, unknown> {
  return {
    ...createDeclarations(plan),
    TestData: createTestData(plan, user),
    ENV: createEnv(user.env, user.browserId),
    ...{
      By: noticeMissing(By, 'By'),
      Until: noticeMissing(Until, 'Until'),
      Key,
      RecoverWith,
      MouseButtons,
      ScrollDirection,
      Device
    },
    ...{ BROWSER, BROWSER_TYPE: BROWSER, BrowserType: BROWSER },
    ...{ Browser, Driver: Browser, ElementHandle, Locator, Mouse, TargetLocator, Condition: WaitCondition },
    ...Object.fromEntries(TYPES.map((name) => [name, undefined]))
  }
}
