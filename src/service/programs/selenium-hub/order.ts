/** What the service asks of a node; JSON in the environment variable ORDER_VARIABLE. */
export interface SeleniumOrder {
  /** Random, in front of the facts for the service: nothing that a plan prints can be mistaken for them. */
  readonly word: string
  readonly browser: BrowserKind
  readonly browserFile: string
  readonly driverFile: string
  readonly java: string
  /** Options of the JVM and properties of the plan, then the class path. */
  readonly javaArgs: readonly string[]
  readonly classPath: readonly string[]
  /** The plan's own classes, apart from the class path. */
  readonly planJar: string
  /** `main Name`, or `test Name…`. */
  readonly plan: readonly string[]
  /** The folder of the plan's data files, in which it runs. */
  readonly planDir: string
  readonly samplesFile: string
  readonly logFile: string
  /** The number of the node, from 1; part of the users' names. */
  readonly nodeNumber: number
  readonly users: number
  readonly rampupMs: number
  /** Null: every user runs the plan once. */
  readonly durationMs: number | null
  readonly hosts: readonly { readonly host: string; readonly address: string }[]
  readonly variables: Readonly<Record<string, string>>
}

export type BrowserKind = 'chrome' | 'firefox'

export const ORDER_VARIABLE = 'LOADGATE_SELENIUM'

/** Lines by which a node tells the service what happened, after the order's word and a space. */
export const FAILURE_LINE = 'failure: '
export const FACTS_LINE = 'facts: '

export interface UserFailure {
  readonly user: number
  readonly words: string
}

/** Counted at the end. The lists are cut: the service reads lines of some thousand characters. */
export interface RunFacts {
  readonly sessions: number
  /** Users that were still running when the time was up, and had to be stopped; the longest silence first. */
  readonly stopped: readonly { readonly user: number; readonly silentMs: number }[]
  /** Users that never got a browser from the hub. */
  readonly withoutBrowser: readonly number[]
}
