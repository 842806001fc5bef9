import { renameSync, writeFileSync } from 'node:fs'

/** What the users read now and then: how many are active, and when the test ends. */
export class RunState {
  readonly #users = new Set<number>()
  #untilMs: number | undefined

  constructor(
    private readonly file: string,
    private readonly durationMs: number | null
  ) {
    this.#write()
  }

  get untilMs(): number | undefined {
    return this.#untilMs
  }

  enter(user: number): void {
    this.#users.add(user)
    this.#write()
  }

  leave(user: number): void {
    this.#users.delete(user)
    this.#write()
  }

  /** The duration counts from the first browser: starting one takes seconds, during which there is no load. */
  startClock(nowMs: number): void {
    if (this.durationMs === null || this.#untilMs !== undefined) return
    this.#untilMs = nowMs + this.durationMs
    this.#write()
  }

  #write(): void {
    const words = [this.#users.size, ...(this.#untilMs === undefined ? [] : [this.#untilMs])]
    // A reader sees the whole line, the old one or the new one.
    writeFileSync(`${this.file}.new`, `${words.join(' ')}\n`)
    renameSync(`${this.file}.new`, this.file)
  }
}
