import { chmodSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { BrowserKind } from './order.js'

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

function quote(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}
