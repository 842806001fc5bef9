import { rmSync } from 'node:fs'

/** Jest calls this at the end, whether the tests passed or failed. */
export default function removeTemporaryFolder() {
  const { folder, before } = globalThis.temporaryFolderOfTests
  if (before === undefined) delete process.env.TMPDIR
  else process.env.TMPDIR = before
  // A process that a test has just killed may still be writing.
  rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 })
}
