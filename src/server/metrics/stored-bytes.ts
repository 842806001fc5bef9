import { sizeOfFolder } from '../../files/folder-size.js'

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
      this.#bytes = sizeOfFolder(this.folder)
    }
    return this.#bytes
  }
}
