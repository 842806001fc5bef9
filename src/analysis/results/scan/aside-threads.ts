/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import type { SampleColumns } from '../csv/header.js'
import type { Row } from '../csv/row-splitter.js'

const SPACE = 32
const HYPHEN = 45
const ZERO = 48

/** Recognizes the rows of thread groups that are not the load, by the names of their threads: `setUp 1-1`, or `10.0.0.5:1099-setUp 1-1`. */
export class AsideThreads {
  /** As they are written in a row. */
  readonly names: readonly Uint8Array[]

  constructor(groups: readonly string[]) {
    const written = groups.flatMap((name) => [name, name.replaceAll('"', '""')])
    this.names = [...new Set(written)].map((name) => new TextEncoder().encode(name))
  }

  has({ buffer, starts, ends }: Row, { threadName }: SampleColumns): boolean {
    if (threadName < 0) return false
    const start = starts[threadName]!
    const end = endOfGroup(buffer, start, ends[threadName]!)
    return end > start && this.names.some((name) => isNamed(buffer, start, end, name))
  }
}

/** Where the numbers of group and thread begin, ` 1-1`; -1 if the name does not end in them. */
function endOfGroup(buffer: Uint8Array, start: number, end: number): number {
  const hyphen = skipDigits(buffer, start, end)
  if (hyphen === end || buffer[hyphen - 1] !== HYPHEN) return -1
  const space = skipDigits(buffer, start, hyphen - 1)
  return space === hyphen - 1 || buffer[space - 1] !== SPACE ? -1 : space - 1
}

function skipDigits(buffer: Uint8Array, start: number, end: number): number {
  let at = end
  while (at > start && buffer[at - 1]! >= ZERO && buffer[at - 1]! < ZERO + 10) at--
  return at
}

function isNamed(buffer: Uint8Array, start: number, end: number, name: Uint8Array): boolean {
  const from = end - name.length
  if (from < start) return false
  for (let i = 0; i < name.length; i++) if (buffer[from + i] !== name[i]) return false
  // What is before it can only be a host.
  return from === start || (buffer[from - 1] === HYPHEN && !buffer.subarray(start, from).includes(SPACE))
}
