import type { Progress } from '../gate/ports.js'
import { describeStatus } from '../gate/run/run-status.js'
import { formatDuration } from '../contract/text.js'
import type { Stream } from './screen.js'

const REDRAW_MS = 200
const CELLS = 24
const CLEAR_LINE = '\r\u001b[2K'

/** A progress line at the bottom of the terminal; lines above it scroll. */
export class ProgressBar {
  readonly #stream: Stream
  readonly #now: () => number
  #timer: NodeJS.Timeout | undefined
  #latest: (Progress & { readonly atMs: number }) | undefined
  #note: string | undefined

  constructor(stream: Stream, now: () => number = Date.now) {
    this.#stream = stream
    this.#now = now
  }

  show(progress: Progress): void {
    this.#latest = { ...progress, atMs: this.#now() }
    this.#timer ??= setInterval(() => this.#draw(), REDRAW_MS).unref()
    this.#draw()
  }

  /** Shows a line in place of the bar, until it is called without one. */
  note(line: string | undefined): void {
    if (this.#note !== undefined && line === undefined) this.#stream.write(CLEAR_LINE)
    this.#note = line
    this.#draw()
  }

  /** Writes something above the bar. */
  above(write: () => void): void {
    if (this.#isShown()) this.#stream.write(CLEAR_LINE)
    write()
    this.#draw()
  }

  end(): void {
    clearInterval(this.#timer)
    this.#timer = undefined
    if (this.#isShown()) this.#stream.write(CLEAR_LINE)
    this.#latest = undefined
    this.#note = undefined
  }

  #isShown(): boolean {
    return this.#latest !== undefined || this.#note !== undefined
  }

  #draw(): void {
    const text = this.#note ?? this.#describe()
    if (text === undefined) return
    // A line that wraps could not be erased. Some terminals do not know their width and report 0.
    const { columns = 0 } = this.#stream
    this.#stream.write(CLEAR_LINE + text.slice(0, columns > 0 ? columns - 1 : undefined))
  }

  #describe(): string | undefined {
    if (this.#latest === undefined) return undefined
    const elapsedMs = this.#latest.elapsedMs + this.#now() - this.#latest.atMs
    return drawBar({ ...this.#latest, elapsedMs })
  }
}

/** Time passes between two polls; the bar never exceeds 100 %. */
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
