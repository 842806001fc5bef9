import { Readable } from 'node:stream'
import type { Upload } from './http.js'

/** The body of one request, and whether all of it may be on its way: as long as it is not, nobody can have acted on the request. */
export class SentBody {
  readonly stream: Readable
  #isSent = false

  constructor(upload: Upload) {
    this.stream = Readable.from(this.#read(upload), { objectMode: false })
  }

  get isSent(): boolean {
    return this.#isSent
  }

  async *#read(upload: Upload): AsyncGenerator<Uint8Array> {
    let bytes = 0
    for await (const chunk of upload.open()) {
      bytes += chunk.length
      // Before the last bytes are handed out: from here on nobody knows how far they got.
      if (bytes >= upload.length) this.#isSent = true
      yield chunk
    }
    this.#isSent = true
  }
}
