import { pathToFileURL } from 'node:url'
import { Browser, TargetLocator } from './browser.js'
import { By, Locator } from './by.js'
import { BROWSER, Device, MouseButtons, ScrollDirection, Key, noticeMissing } from './constants.js'
import { createDeclarations, RecoverWith } from './declare.js'
import { ElementHandle, Mouse } from './element-handle.js'
import { type Plan, createTestData } from './plan.js'
import { Until, WaitCondition } from './until.js'

interface UserPlace {
  readonly browserId: number
  readonly env: NodeJS.ProcessEnv
  readonly folder: string
}

/** These are only types in the original; a script in JavaScript may import them nevertheless. */
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
    ...{ By: noticeMissing(By, 'By'), Until: noticeMissing(Until, 'Until') },
    ...{ Key, RecoverWith, MouseButtons, ScrollDirection, Device },
    ...{ BROWSER, BROWSER_TYPE: BROWSER, BrowserType: BROWSER },
    ...{ Browser, Driver: Browser, ElementHandle, Locator, Mouse, TargetLocator, Condition: WaitCondition },
    ...Object.fromEntries(TYPES.map((name) => [name, undefined]))
  }
}

const NUMBERS = [
  ...['FLOOD_GRID_INDEX', 'FLOOD_GRID_NODE_SEQUENCE_ID', 'FLOOD_GRID_SEQUENCE_ID', 'FLOOD_GRID_SQEUENCE_ID'],
  ...['FLOOD_NODE_INDEX', 'FLOOD_PROJECT_ID', 'FLOOD_ACCOUNT_ID', 'FLOOD_SEQUENCE_ID']
]

/** Enough for the users of one node. */
const SEQUENCES_OF_A_NODE = 10_000

/** `ENV` as a script imports it: what is a number there is a number. */
function createEnv(env: NodeJS.ProcessEnv, browserId: number): Record<string, unknown> {
  const nodesBefore = Number(env.FLOOD_GRID_NODE_SEQUENCE_ID ?? 1) - 1
  return {
    ...env,
    ...Object.fromEntries(NUMBERS.map((name) => [name, Number(env[name] ?? 0)])),
    FLOOD_GRID_REGION: env.FLOOD_GRID_REGION ?? 'local',
    FLOOD_LOAD_TEST: true,
    BROWSER_ID: browserId,
    // Scripts expect it to be unique among all nodes.
    SEQUENCE: nodesBefore * SEQUENCES_OF_A_NODE + browserId
  }
}

// How a compiled script reaches the API: every user has an instance of the script of its own, imported under an address of its own,
// and the module that stands for '@flood/element' asks for the API by that address.

const KEY = 'loadgate.element'
const registry = new Map<string, Given & { readonly url: string }>()

interface Given {
  readonly exports: Record<string, unknown>
  /** Where the uploaded files are, and the script among them. */
  readonly folder: string
  readonly file: string
}

/** What a script knows about its own place: that of its source, not of what it is compiled into. */
export const PLACE_NAMES = {
  __dirname: 'loadgateGiven.folder',
  __filename: 'loadgateGiven.file',
  'import.meta.dirname': 'loadgateGiven.folder',
  'import.meta.filename': 'loadgateGiven.file',
  'import.meta.url': 'loadgateGiven.url'
} as const

export const BANNER = `const loadgateGiven = globalThis[${JSON.stringify(KEY)}].get(import.meta.url)`

/** Makes the API of a user available to the module with this address. */
export function provideExports(address: string, given: Given): void {
  registry.set(address, { ...given, url: pathToFileURL(given.file).href })
  Object.assign(globalThis, { [KEY]: registry })
}

/** The source of the module that stands for '@flood/element' within a compiled script. */
export function describeModule(names: readonly string[]): string {
  return `const api = loadgateGiven.exports
export const { ${names.join(', ')} } = api
export default api`
}
