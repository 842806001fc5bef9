import type { Clock } from '../contract/clock.js'
import type { Progress } from '../gate/ports.js'
import { describeStatus } from '../gate/run/run-status.js'
import { formatDuration } from '../contract/text.js'
import type { Stream } from './screen.js'

const REDRAW_MS = 200
const CELLS = 24
const CLEAR_LINE = '\r\u001b[2K'

/** Time passes between two polls. */
type Told = Progress & { readonly atMs: number }

function atTime({ atMs, ...progress }: Told, nowMs: number): Progress {
  return { ...progress, elapsedMs: progress.elapsedMs + nowMs - atMs }
}

/** A progress line at the bottom of the terminal; lines above it scroll. */
export class ProgressBar {
  #timer: NodeJS.Timeout | undefined
  #latest: Told | undefined
  #note: string | undefined

  constructor(
    private readonly stream: Stream,
    private readonly now: () => number = Date.now
  ) {}

  show(progress: Progress): void {
    this.#latest = { ...progress, atMs: this.now() }
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS).unref()
    this.#draw()
  }

  /** Shows a line in place of the bar, until it is called without one. */
  note(line: string | undefined): void {
    if (this.#note !== undefined && line === undefined) this.stream.write(CLEAR_LINE)
    this.#note = line
    this.#draw()
  }

  above(write: () => void): void {
    if (this.#isShown()) this.stream.write(CLEAR_LINE)
    write()
    this.#draw()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#isShown()) this.stream.write(CLEAR_LINE)
    this.#latest = undefined
    this.#note = undefined
  }

  #isShown(): boolean {
    return this.#latest !== undefined || this.#note !== undefined
  }

  #draw(): void {
    const text = this.#note ?? (this.#latest && drawBar(atTime(this.#latest, this.now())))
    if (text === undefined) return
    // A line that wraps could not be erased. Some terminals do not know their width and report 0.
    const { columns = 0 } = this.stream
    this.stream.write(CLEAR_LINE + text.slice(0, columns > 0 ? columns - 1 : undefined))
  }
}

/** The bar never exceeds 100 %. */
export function drawBar({ stage, ...progress }: Progress): string {
  if (stage !== undefined) return `${stage} · ${drawBar(progress)}`
  const { elapsedMs, durationMs } = progress
  const status = describeStatus(progress)
  const soFar = formatDuration(elapsedMs)
  if (durationMs === undefined) return `${status} · ${soFar}`
  const share = Math.min(1, elapsedMs / durationMs)
  const full = Math.round(share * CELLS)
  return `${status} [${'█'.repeat(full)}${'░'.repeat(CELLS - full)}] ${soFar} of ${formatDuration(durationMs)}`
}

const LINE_EVERY_MS = 30_000

/** Progress where there is no terminal: a line now and then, so that a log shows that the gate is alive, and CI systems do not end it. */
export class ProgressLines {
  readonly #ended = new AbortController()
  #latest: Told | undefined

  constructor(
    private readonly clock: Clock,
    private readonly print: (line: string) => void
  ) {}

  show(progress: Progress): void {
    const isFirst = this.#latest === undefined
    this.#latest = { ...progress, atMs: this.clock.now() }
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
        await this.clock.sleep(LINE_EVERY_MS, signal)
        if (this.#latest !== undefined) this.print(describe(atTime(this.#latest, this.clock.now())))
      }
    } catch {
      // The end.
    }
  }
}

function describe({ stage, elapsedMs, durationMs, ...progress }: Progress): string {
  const soFar = formatDuration(elapsedMs)
  const time = durationMs === undefined ? soFar : `${soFar} of ${formatDuration(durationMs)}`
  return `${stage === undefined ? '' : `${stage} · `}${describeStatus(progress)}: ${time}`
}
