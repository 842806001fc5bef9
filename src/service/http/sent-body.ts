import { Readable } from 'node:stream'
import type { Upload } from './http.js'

/** So much must be left of a body before it certainly was not sent: less may be on its way between here and the other side's reader. */
const SURELY_UNSENT_BYTES = 1024 * 1024

/** The body of one request, and whether all of it may be on its way: as long as it is not, nobody can have read it to its end. */
export class SentBody {
  readonly stream: Readable
  readonly #upload: Upload
  #bytes = 0

  constructor(upload: Upload) {
    this.#upload = upload
    this.stream = Readable.from(this.#read(), { objectMode: false })
  }

  get isSent(): boolean {
    return this.#upload.length - this.#bytes < SURELY_UNSENT_BYTES
  }

  async *#read(): AsyncGenerator<Uint8Array> {
    for await (const chunk of this.#upload.open()) {
      // Before they are handed out: from here on nobody knows how far they got.
      this.#bytes += chunk.length
      yield chunk
    }
  }
}
