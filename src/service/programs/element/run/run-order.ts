import { isIPv6 } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Tell } from '../messages.js'

/** The work of one process: a compiled script, its users and where their rows go. */
export interface RunOrder {
  readonly mode: 'run'
  /** Where it writes its messages to the service. */
  readonly messagesFile: string
  readonly plan: string
  /** As the script is called in messages. */
  readonly scriptName: string
  readonly folder: string
  /** For the browser's profile; the service removes it. */
  readonly workDir: string
  readonly samplesFile: string
  readonly logFile: string
  /** The folder whose node_modules has the browser library. */
  readonly modules: string
  readonly browser: string
  readonly hosts: readonly { readonly host: string; readonly address: string }[]
  readonly users: number
  readonly rampupMs: number
  /** Null if only the script limits it. */
  readonly durationMs: number | null
  /** How long steps may take to finish when the time is over, or as long as the script's waitTimeout if that is longer. */
  readonly graceMs: number
}

const PATTERN = /^[\w.*:-]+$/

/** The browser's argument that redirects hosts and blocks domains; nothing if there are none. */
export function hostRules(hosts: RunOrder['hosts'], blocked: readonly string[]): string[] {
  const rules = [
    ...blocked.map((pattern) => `MAP ${checkPattern(pattern)} ~NOTFOUND`),
    ...hosts.map(({ host, address }) => `MAP ${host} ${isIPv6(address) ? `[${address}]` : address}`)
  ]
  return rules.length === 0 ? [] : [`--host-resolver-rules=${rules.join(', ')}`]
}

function checkPattern(pattern: string): string {
  if (PATTERN.test(pattern)) return pattern
  throw new Error(
    `the setting blockedDomains has '${pattern}', which is not supported: use host names with *, as in '*.example.com' or '*:8443'`
  )
}

export interface CompileOrder extends Pick<RunOrder, 'messagesFile'> {
  readonly mode: 'compile'
  readonly script: string
  readonly outFile: string
  /** The folder of esbuild, or of esbuild-wasm. */
  readonly compiler: string
  /** Other names of the API's package, such as `@acme/element`. */
  readonly packageNames: readonly string[]
}

const LONGEST_NAP_MS = 60_000
const LEAST_REST_MS = 10

export interface RunPorts {
  readonly tell: Tell
  readonly log: (text: string) => void
  readonly schedule: Schedule
}

/** When the run is over, and rests that end with it. */
export class Schedule {
  readonly #stopped = new AbortController()
  #endMs = Infinity

  /** Ends the run this long after now, unless it ends earlier. */
  limit(durationMs: number): void {
    this.#endMs = Math.min(this.#endMs, Date.now() + durationMs)
  }

  /** No new step starts any more. */
  get isOver(): boolean {
    return this.isStopped || Date.now() >= this.#endMs
  }

  /** Ended from outside: nothing is waited for. */
  get isStopped(): boolean {
    return this.#stopped.signal.aborted
  }

  stop(): void {
    this.#stopped.abort()
  }

  /** Waits, at most until the run is over; then only so long that a loop of rests does not block everything else. */
  readonly rest = async (ms: number): Promise<void> => {
    if (this.isOver) await sleep(Math.min(ms, LEAST_REST_MS))
    else await this.#sleepUntil(Math.min(Date.now() + ms, this.#endMs))
  }

  untilEnd(): Promise<void> {
    return this.#sleepUntil(this.#endMs)
  }

  /** Waits, at most until it is stopped. */
  untilStop(ms: number): Promise<void> {
    return this.#sleepUntil(Date.now() + ms)
  }

  async #sleepUntil(untilMs: number): Promise<void> {
    const { signal } = this.#stopped
    while (!signal.aborted && Date.now() < untilMs)
      await sleep(Math.min(untilMs - Date.now(), LONGEST_NAP_MS), null, { signal }).catch(() => undefined)
  }
}
