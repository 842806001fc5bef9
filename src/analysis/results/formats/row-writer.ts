import { formatRow, quoteField, type SampleRow } from './translation.js'

/** What rows of the same label, code and message have in common, around their thread and numbers. */
export interface RowFrame {
  readonly beforeThread: Piece
  readonly afterThread: Piece
  readonly end: Piece
}

/** Text that is copied four bytes at a time: `padded` has room for whole steps. */
interface Piece {
  readonly length: number
  readonly padded: DataView
}
const STEP = 4

const COMMA = 44
const DIGIT_0 = 48
const LOW_DIGITS = 1e7
const MOST_NUMBER = 1e14 - 1
/** Room for the numbers of a row, and for whole steps. */
const NUMBERS_BYTES = 128
const FIRST_BYTES = 1 << 16
/** Stand for themselves in no field: the rows are cut at them. */
const [THREAD, USERS] = ['\u0001', 1_234_567_890_123]

/** As `formatRow` writes them, cut where rows differ. */
export function frameRow(row: Omit<SampleRow, 'startMs' | 'elapsedMs' | 'thread' | 'users'>): RowFrame {
  const plain = { ...row, label: plainOf(row.label), code: plainOf(row.code), message: plainOf(row.message) }
  const text = formatRow({ ...plain, startMs: 0, elapsedMs: 0, thread: THREAD, users: USERS })
  const [before = '', after = ''] = text.split(THREAD)
  const at = after.lastIndexOf(`${USERS},${USERS},`)
  return {
    // Without `0,0`, the times.
    beforeThread: makePiece(before.slice('0,0'.length)),
    afterThread: makePiece(after.slice(0, at)),
    end: makePiece(after.slice(at + `${USERS},${USERS}`.length))
  }
}

function makePiece(text: string): Piece {
  const bytes = Buffer.from(text)
  const padded = new Uint8Array(STEP * Math.ceil(bytes.length / STEP))
  padded.set(bytes)
  return { length: bytes.length, padded: new DataView(padded.buffer) }
}

function plainOf(text: string): string {
  return text.replaceAll(THREAD, ' ')
}

/** Rows as bytes: k6 writes millions of points, and a string for each part of a row would be garbage. */
export class RowWriter {
  readonly #prefix: Piece
  #bytes = Buffer.alloc(FIRST_BYTES)
  #view = viewOf(this.#bytes)
  #at = 0

  /** `vuPrefix` is before the numbers of VUs in the names of threads. */
  constructor(vuPrefix: string) {
    this.#prefix = makePiece(quoteField(vuPrefix))
  }

  /** A thread is the number of a VU, or a name. */
  add(frame: RowFrame, startMs: number, elapsedMs: number, thread: number | string, users: number): void {
    const name = typeof thread === 'string' ? makePiece(quoteField(thread)) : this.#prefix
    const { beforeThread, afterThread, end } = frame
    this.#reserve(beforeThread.length + name.length + afterThread.length + end.length + NUMBERS_BYTES)
    this.#number(Math.round(startMs))
    this.#bytes[this.#at++] = COMMA
    this.#number(Math.round(elapsedMs))
    this.#copy(beforeThread)
    this.#copy(name)
    if (typeof thread === 'number') this.#number(thread)
    this.#copy(afterThread)
    if (users >= 0) this.#number(users)
    this.#bytes[this.#at++] = COMMA
    if (users >= 0) this.#number(users)
    this.#copy(end)
  }

  /** The rows since the last call. */
  take(): Buffer {
    const rows = Buffer.from(this.#bytes.subarray(0, this.#at))
    this.#at = 0
    return rows
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#bytes.length) return
    const larger = Buffer.alloc(2 * this.#bytes.length + length)
    this.#bytes.copy(larger, 0, 0, this.#at)
    this.#bytes = larger
    this.#view = viewOf(larger)
  }

  /** What it writes beyond the piece is overwritten by what comes next. */
  #copy({ length, padded }: Piece): void {
    const to = this.#view
    for (let i = 0; i < length; i += STEP) to.setInt32(this.#at + i, padded.getInt32(i))
    this.#at += length
  }

  #number(value: number): void {
    if (value < 0 || value > MOST_NUMBER || !Number.isInteger(value)) {
      this.#at += this.#bytes.write(String(value), this.#at, 'latin1')
      return
    }
    // In two halves, which fit into small integers.
    const high = Math.floor(value / LOW_DIGITS)
    if (high > 0) this.#digits(high, 0)
    this.#digits(value - high * LOW_DIGITS, high > 0 ? 7 : 0)
  }

  /** With zeros in front up to `least` digits. */
  #digits(value: number, least: number): void {
    let rest = value | 0
    let count = least
    if (least === 0) for (let size = rest; size > 0 || count === 0; size = (size / 10) | 0) count++
    const bytes = this.#bytes
    for (let at = this.#at + count - 1; at >= this.#at; at--) {
      const next = (rest / 10) | 0
      bytes[at] = DIGIT_0 + rest - next * 10
      rest = next
    }
    this.#at += count
  }
}

function viewOf({ buffer, byteOffset, byteLength }: Buffer): DataView {
  return new DataView(buffer, byteOffset, byteLength)
}
