import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { ByteScanner } from '../scan/byte-scanner.js'
import { cutHeader, readHeader } from '../csv/header.js'
import { TRANSACTION_MESSAGE } from '../csv/transaction-message.js'
import type { Stretch } from './scan-stretch.js'

const LF = 10
const HEADER_BYTES = 64 * 1024
const WINDOW_BYTES = 64 * 1024
const MAX_GUESSES = 200
/** What the main thread reads while the others start. */
const HEAD_START_BYTES = 24 * 1024 * 1024

export interface ResultFile {
  readonly path: string
  readonly grid: string
  readonly region: string
  /** Rows that start before it are left out. */
  readonly countFromMs?: number
  /** The same for rows that start after it. */
  readonly countToMs?: number
}

/**
 * Splits a sample CSV into about `count` stretches of rows. Where a row begins in the middle of a file can only be guessed,
 * because a line break may be within quotes: the caller must check that each stretch begins where the previous one ended.
 */
export function planStretches(file: ResultFile, count: number): [Stretch, ...Stretch[]] {
  const handle = openSync(file.path, 'r')
  try {
    const { size } = fstatSync(handle)
    const whole = { ...file, from: 0, to: Infinity }
    const beginning = read(handle, 0, HEADER_BYTES)
    const header = cutHeader(beginning, size <= HEADER_BYTES)
    if (header === undefined || readHeader(header.line).shape !== 'samples') return [whole]
    // Most files with transactions have some near the start, and must be read in one go.
    if (Buffer.from(beginning).includes(Buffer.from(TRANSACTION_MESSAGE))) return [whole]
    const starts = [0]
    const headStart = size > count * HEAD_START_BYTES ? HEAD_START_BYTES : 0
    for (let i = 1; i < count; i++) {
      const near = Math.max(header.length, headStart + Math.floor(((size - headStart) * i) / count))
      const start = guessRowStart(read(handle, near, WINDOW_BYTES), header.line)
      if (start !== undefined && near + start > (starts.at(-1) ?? 0)) starts.push(near + start)
    }
    const [first, ...others] = starts.map((from, i) => ({
      ...whole,
      from,
      to: starts[i + 1] ?? Infinity,
      ...(from === 0 ? {} : { header: header.line })
    }))
    return [first ?? whole, ...others]
  } finally {
    closeSync(handle)
  }
}

/** The first line of the window that parses as a valid row: a line within quotes hardly ever does. */
function guessRowStart(window: Uint8Array, header: Uint8Array): number | undefined {
  let start = window.indexOf(LF) + 1
  for (let guesses = 0; guesses < MAX_GUESSES && start > 0 && start < window.length; guesses++) {
    const scanner = new ByteScanner({ grid: '', region: '', header, limit: 1 })
    scanner.fill((buffer, from, to) => {
      const bytes = window.subarray(start, start + to - from)
      buffer.set(bytes, from)
      return bytes.length
    })
    const { rows, problemCount } = scanner.end()
    if (rows === 1 && problemCount === 0) return start
    start = window.indexOf(LF, start) + 1
  }
  return undefined
}

function read(handle: number, position: number, length: number): Uint8Array {
  const bytes = new Uint8Array(length)
  return bytes.subarray(0, readSync(handle, bytes, 0, length, position))
}
