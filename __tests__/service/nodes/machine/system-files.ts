import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder with some files of `/proc` and `/sys`, as on a machine of one's choice. */
export function writeSystem(files: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(tmpdir(), 'system-'))
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, name)), { recursive: true })
    writeFileSync(join(root, name), text)
  }
  return root
}
