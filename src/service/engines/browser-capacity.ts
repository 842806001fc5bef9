import { readMemory } from '../nodes/machine/load-sample.js'

export type BrowserKind = 'chromium-headless-shell' | 'chromium' | 'firefox'

/** The browsers that a run needs on this machine. */
export interface BrowserCrowd {
  /** All users that run on this machine at the same time. */
  readonly users: number
  /** Chrome and Edge count as `chromium`. */
  readonly browser: BrowserKind
  /** Users share a browser, each with a context of their own, or each have their own browser with its driver and a JVM. */
  readonly sharing: 'contexts' | 'browsers'
}

const MB = 1024 ** 2
const GB = 1024 ** 3

/**
 * Measured on a simple page, as proportional set size: what the first user takes in addition, and what each user takes.
 * Firefox has no contexts here.
 */
const NEEDED_MB = {
  'chromium-headless-shell': {
    contexts: { first: 200, each: 40 },
    browsers: { first: 100, each: 160 }
  },
  chromium: {
    contexts: { first: 300, each: 75 },
    browsers: { first: 200, each: 275 }
  },
  firefox: {
    contexts: { first: 150, each: 250 },
    browsers: { first: 150, each: 250 }
  }
} as const

/** How many users the memory is likely to be enough for, on a simple page; at least one. */
export function usersThatFit(crowd: Omit<BrowserCrowd, 'users'>, availableBytes: number): number {
  const { first, each } = NEEDED_MB[crowd.browser][crowd.sharing]
  return Math.max(1, Math.floor((availableBytes / MB - first) / each))
}

/** What to tell about the size of the load before it starts. */
export interface Capacity {
  /** For the log, always. */
  readonly line: string
  /** For the log and the report, if the run has more users than that. */
  readonly warning?: string
}

/** Undefined where the system does not say how much memory there is. */
export function describeCapacity(
  crowd: BrowserCrowd,
  availableBytes = readMemory()?.availableBytes
): Capacity | undefined {
  if (availableBytes === undefined) return undefined
  const fit = usersThatFit(crowd, availableBytes)
  const { each } = NEEDED_MB[crowd.browser][crowd.sharing]
  const memory = `${(availableBytes / GB).toFixed(1)} GB of memory available, about ${each} MB per user with ${crowd.browser} on a simple page`
  const line = `this machine is likely to carry about ${count(fit)} (${memory})`
  if (crowd.users <= fit) return { line }
  const warning = `${count(crowd.users)} are more than the ${fit} that this machine is likely to carry (${memory}); use fewer threads, or spread the load over more machines.`
  return { line, warning }
}

function count(users: number): string {
  return users === 1 ? '1 user' : `${users} users`
}
