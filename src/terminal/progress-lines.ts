import type { Progress } from '../gate/ports.js'
import { describeStatus } from '../gate/run/describe-status.js'
import { formatDuration } from '../gate/settings/durations.js'
import type { Clock } from '../service/clock.js'

const LINE_EVERY_MS = 30_000

/** Progress where there is no terminal: a line now and then, so that a log shows that the gate is alive, and CI systems do not end it. */
export class ProgressLines {
  readonly #clock: Clock
  readonly #print: (line: string) => void
  readonly #ended = new AbortController()
  #latest: (Progress & { readonly atMs: number }) | undefined

  constructor(clock: Clock, print: (line: string) => void) {
    this.#clock = clock
    this.#print = print
  }

  show(progress: Progress): void {
    const isFirst = this.#latest === undefined
    this.#latest = { ...progress, atMs: this.#clock.now() }
    if (isFirst) void this.#printOn()
  }

  end(): void {
    this.#ended.abort()
  }

  /** By the clock rather than by polls of the run: there are none while files are sent or results are downloaded. */
  async #printOn(): Promise<void> {
    const { signal } = this.#ended
    try {
      for (;;) {
        await this.#clock.sleep(LINE_EVERY_MS, signal)
        if (this.#latest !== undefined) this.#print(describe(this.#latest, this.#clock.now()))
      }
    } catch {
      // The end.
    }
  }
}

function describe(
  { stage, elapsedMs, durationMs, atMs, ...progress }: Progress & { readonly atMs: number },
  nowMs: number
): string {
  const soFar = formatDuration(elapsedMs + nowMs - atMs)
  const time = durationMs === undefined ? soFar : `${soFar} of ${formatDuration(durationMs)}`
  return `${stage === undefined ? '' : `${stage} · `}${describeStatus(progress)}: ${time}`
}
