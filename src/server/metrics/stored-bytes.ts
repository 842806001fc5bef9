import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'

/** A folder of 10,000 runs takes a while to walk through. */
const MEASURE_EVERY_MS = 5 * 60_000

/** The size of the files in a folder. */
export class StoredBytes {
  #bytes: Promise<number> | undefined
  #measuredMs = -Infinity

  constructor(private readonly folder: string) {}

  read(): Promise<number> {
    const nowMs = performance.now()
    if (this.#bytes === undefined || nowMs - this.#measuredMs > MEASURE_EVERY_MS) {
      this.#measuredMs = nowMs
      this.#bytes = measure(this.folder)
    }
    return this.#bytes
  }
}

/** Files come and go meanwhile; one after the other, so that the service stays free for its callers. */
async function measure(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const path = join(folder, entry.name)
    if (entry.isDirectory()) bytes += await measure(path)
    else if (entry.isFile()) bytes += (await stat(path).catch(() => undefined))?.size ?? 0
  }
  return bytes
}
