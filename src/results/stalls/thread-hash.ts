/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */
import { HASH_FACTOR, HASH_START } from '../kernel/assembly/layout.js'
import type { SampleColumns } from '../csv/header.js'
import type { Row } from '../csv/row-splitter.js'

/** Tells threads apart, as the kernel does: by their names, and their hosts if known. 0 if the CSV has no names. */
export function hashThread(row: Row, { threadName, hostname }: SampleColumns): number {
  if (threadName < 0) return 0
  const hash = hashField(row, threadName, HASH_START)
  return (hostname < 0 ? hash : hashField(row, hostname, hash)) >>> 0
}

function hashField({ buffer, starts, ends }: Row, column: number, from: number): number {
  let hash = from
  for (let i = starts[column]!; i < ends[column]!; i++) hash = Math.imul(hash ^ buffer[i]!, HASH_FACTOR)
  return hash
}
