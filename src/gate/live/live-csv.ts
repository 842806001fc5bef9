import type { ServiceClient } from '../../client/client.js'
import { readContentRange } from '../../client/http/address.js'
import { readUpTo } from '../../contract/files.js'
import type { Reply } from '../../client/http/http.js'

const MIB = 1024 * 1024
/** Of new bytes per look; the rest comes with the next ones. */
const MOST_NEW_BYTES = 16 * MIB
/** Of bytes that are already known, from a service that ignores ranges. */
const MOST_KNOWN_BYTES = 16 * MIB

/** What will not get better: live reading ends. */
export class LiveReadingError extends Error {}

/** A CSV that grows while it is read. Each look reads the last complete row again: if that has changed, the CSV was rewritten. */
export class LiveCsv {
  /** The last complete line, and where it begins. */
  #last = { bytes: Buffer.alloc(0), start: 0 }

  constructor(
    private readonly client: ServiceClient,
    private readonly limits: { readonly mostNewBytes?: number; readonly mostKnownBytes?: number } = {}
  ) {}

  /** Passes on what follows the rows so far; `take` returns how many bytes were complete rows. Returns whether the service has no more. */
  async readOn(
    href: string,
    signal: AbortSignal,
    take: (bytes: Uint8Array) => number
  ): Promise<{ readonly isAll: boolean }> {
    const { start } = this.#last
    const range = start + this.#last.bytes.length === 0 ? undefined : { fromByte: start, version: undefined }
    const reply = await this.client.openResult(href, { range, signal })
    try {
      const known = this.#checkReply(reply) + this.#last.bytes.length
      const mostBytes = known + (this.limits.mostNewBytes ?? MOST_NEW_BYTES)
      const { bytes, hasMore } = await readUpTo(reply.body, mostBytes)
      const before = bytes.subarray(known - this.#last.bytes.length, known)
      if (!before.equals(this.#last.bytes)) throw new LiveReadingError('what was read before has changed')
      const fresh = bytes.subarray(known)
      const used = take(fresh)
      if (hasMore && used === 0) throw new LiveReadingError('a row is too long')
      if (used > 0) this.#remember(fresh.subarray(0, used))
      return { isAll: !hasMore && !isPart(reply) }
    } finally {
      reply.body.destroy()
    }
  }

  /** How many bytes of the reply come before the last line read. */
  #checkReply(reply: Reply): number {
    const { start } = this.#last
    const encoding = reply.header('content-encoding') ?? 'identity'
    if (encoding !== 'identity') throw new LiveReadingError(`it comes with the encoding "${encoding}"`)
    if (reply.status === 206) {
      const part = readContentRange(reply.header('content-range'))
      if (part?.fromByte !== start) throw new LiveReadingError('the service sent another part than requested')
      return 0
    }
    if (reply.status !== 200) throw new Error(`the service answered ${reply.status}`)
    const { mostKnownBytes = MOST_KNOWN_BYTES } = this.limits
    if (start > mostKnownBytes)
      throw new LiveReadingError(
        `the service sends all of it each time, and it is larger than ${Math.round(mostKnownBytes / MIB)} MiB`
      )
    return start
  }

  #remember(rows: Uint8Array): void {
    const end = this.#last.start + this.#last.bytes.length + rows.length
    // A line break within quotes would do as well: the bytes are only compared.
    const lineStart = Buffer.from(rows.buffer, rows.byteOffset, rows.length - 1).lastIndexOf(0x0a) + 1
    this.#last = { bytes: Buffer.from(rows.subarray(lineStart)), start: end - (rows.length - lineStart) }
  }
}

/** Whether the service says that there is more than it sent. */
function isPart(reply: Reply): boolean {
  const part = reply.status === 206 ? readContentRange(reply.header('content-range')) : undefined
  return part?.total !== undefined && part.toByte + 1 < part.total
}
