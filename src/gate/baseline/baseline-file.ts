import { dirname, resolve } from 'node:path'
import type { BaselineDocument } from '../../contract/baseline.js'
import {
  decodeBaseline,
  leaveOutFutureRuns,
  MOST_BYTES
} from '../../analysis/baseline/document/baseline-document.js'
import { makeFolder, readStart, replaceFile } from '../../contract/files.js'

/** Undefined if there is no such file; throws if it is not a document. Runs from the future are left out. */
export async function readBaselineFile(
  path: string,
  { nowMs, warn }: { readonly nowMs: number; readonly warn: (words: string) => void }
): Promise<BaselineDocument | undefined> {
  // One byte more than allowed, so that the decoder sees that it is too large.
  const bytes = await readStart(path, MOST_BYTES + 1)
  if (bytes === undefined) return undefined
  const { document, words } = leaveOutFutureRuns(decodeBaseline(bytes), nowMs)
  if (words !== undefined) warn(`${path}: ${words}`)
  return document
}

export async function writeBaselineFile(path: string, bytes: Uint8Array): Promise<void> {
  const full = resolve(path)
  makeFolder(dirname(full))
  await replaceFile(full, bytes)
}

export const DOCUMENT_FILE = 'baseline.json.gz'
