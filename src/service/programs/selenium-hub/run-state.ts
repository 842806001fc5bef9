import { renameSync, writeFileSync, chmodSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { quote } from '../../../contract/regions/regions.js'
import type { BrowserKind } from './order.js'

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

/** Programs that a script may start as its own drivers; they lead to the user's hub. */
export interface StandIns {
  /** To be first on the PATH. */
  readonly folder: string
  /** Properties of the JVM that lead Selenium to them. */
  readonly properties: readonly string[]
}

/** The drivers that Selenium knows, by the name in its property. */
const DRIVERS = [
  { property: 'chrome', file: 'chromedriver', wanted: 'chrome' },
  { property: 'gecko', file: 'geckodriver', wanted: 'firefox' },
  { property: 'edge', file: 'msedgedriver', wanted: 'edge' }
] as const

/** Selenium wants one executable file each. The hub's port is in the environment of the script that starts it. */
export function writeStandIns(tempDir: string, browser: BrowserKind): StandIns {
  const folder = join(tempDir, 'drivers')
  mkdirSync(folder)
  const program = [process.execPath, process.argv[1] ?? ''].map(quote).join(' ')
  for (const { file, wanted } of DRIVERS) {
    writeFileSync(join(folder, file), `#!/bin/sh\nexec ${program} driver ${browser} ${wanted} "$@"\n`)
    chmodSync(join(folder, file), 0o700)
  }
  const properties = DRIVERS.map(
    ({ property, file }) => `-Dwebdriver.${property}.driver=${join(folder, file)}`
  )
  return { folder, properties }
}

/** One line for a log, whatever a plan has put into it. */
export function onOneLine(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, ' ')
}
