import { gunzipSync } from 'node:zlib'
import { type Schema, decode, isObject } from '../../../contract/decode.js'
import { BASELINE_SCHEMA, baselineSchema, recordedRunSchema } from '../../../contract/baseline.js'
import type { BaselineDocument, RecordedRun } from '../../../contract/baseline.js'
import { BaselineDocumentError, MOST_BYTES, MOST_TEXT_BYTES } from './baseline-document.js'

const ADVICE = 'Remove it, and the next run on the branch records a new one.'

/** Reads a document that anybody may have written: what is not exactly as expected is refused, and nothing takes long or much memory. */
export function decodeBaseline(bytes: Uint8Array): BaselineDocument {
  const found = parse(decompress(bytes))
  if (isObject(found) && found.schema !== BASELINE_SCHEMA) throw wrongSchema(found.schema)
  const document = read(baselineSchema, found)
  const late = document.runs.findIndex(({ atMs }, i) => atMs < (document.runs[i - 1]?.atMs ?? 0))
  if (late >= 0) throw damaged(`runs[${late}].atMs`, 'is before the run that precedes it')
  return document
}

export function readRun(value: unknown, at: number): RecordedRun {
  return read(recordedRunSchema, value, `runs[${at}]`)
}

function read<T>(schema: Schema<T>, value: unknown, within?: string): T {
  const decoded = decode(schema, value, within)
  if ('value' in decoded) return decoded.value
  throw damaged(decoded.at || 'the document', decoded.message)
}

/** Says where in the document something is wrong. Its values are not quoted: anybody may have written them. */
function damaged(where: string, what: string): BaselineDocumentError {
  return new BaselineDocumentError(`The baseline document is damaged or was changed: ${where} ${what}.`, {
    advice: ADVICE
  })
}

function decompress(bytes: Uint8Array): Buffer {
  if (bytes.length > MOST_BYTES)
    throw new BaselineDocumentError(
      `The baseline document is too large: ${bytes.length.toLocaleString('en-US')} bytes, and at most ${MOST_BYTES.toLocaleString('en-US')} are read.`,
      { advice: ADVICE }
    )
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_TEXT_BYTES })
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    const reason =
      code === 'ERR_BUFFER_TOO_LARGE'
        ? `is too large: decompressed it has more than ${MOST_TEXT_BYTES.toLocaleString('en-US')} bytes`
        : `is not a complete gzip file ("${message}")`
    throw new BaselineDocumentError(`The baseline document ${reason}.`, { advice: ADVICE, cause: thrown })
  }
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch (thrown) {
    throw new BaselineDocumentError('The baseline document is not JSON.', { advice: ADVICE, cause: thrown })
  }
}

function wrongSchema(schema: unknown): BaselineDocumentError {
  const isNewer = typeof schema === 'number' && schema > BASELINE_SCHEMA
  const found = typeof schema === 'number' ? String(schema) : 'none'
  return new BaselineDocumentError(
    `The baseline document has schema ${found}, and this version reads schema ${BASELINE_SCHEMA}.`,
    {
      advice: `${isNewer ? 'Use the version that wrote it, or remove it to' : 'Remove it to'} start a new baseline.`
    }
  )
}
