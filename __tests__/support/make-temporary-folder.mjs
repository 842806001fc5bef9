import { chmodSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/**
 * One temporary folder for a whole run of the tests. Jest calls this before it starts its workers, which inherit the environment, as do the
 * processes that tests start. remove-temporary-folder.mjs takes everything away again.
 */
export default function makeTemporaryFolder() {
  const before = process.env.TMPDIR
  const folder = mkdtempSync(join(tmpdir(), 'loadgate-tests-'))
  chmodSync(folder, 0o755) // tests as root become somebody else for a moment
  process.env.TMPDIR = folder
  globalThis.temporaryFolderOfTests = { folder, before }
}
