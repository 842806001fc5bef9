/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

/** `skipped`: another row says enough. `numbers`: time and value are all that counts. `tags`: so do its tags. */
export interface Metric {
  readonly name: string
  readonly bytes: Uint8Array
  readonly use: 'skipped' | 'numbers' | 'tags'
}

const metric = (name: string, use: Metric['use']): Metric => ({ name, bytes: Buffer.from(`${name},`), use })

/** By the letter that tells them apart; nearly all rows are of these, and most are not read. */
const OF_REQUESTS: readonly (Metric | undefined)[] = byLetter(9, [
  metric('http_req_duration', 'tags'),
  metric('http_req_blocked', 'numbers'),
  ...['connecting', 'tls_handshaking', 'sending', 'waiting', 'receiving', 'failed'].map((part) =>
    metric(`http_req_${part}`, 'skipped')
  )
])
const OTHERS: readonly (Metric | undefined)[] = byLetter(0, [
  metric('checks', 'tags'),
  metric('group_duration', 'tags')
])
const HTTP_REQS = metric('http_reqs', 'skipped')
const ITERATIONS = metric('iterations', 'tags')
const ITERATION_DURATION = metric('iteration_duration', 'skipped')
const DATA_SENT = metric('data_sent', 'skipped')
const DATA_RECEIVED = metric('data_received', 'skipped')
/** Metrics with many rows that need not be read. */
export const SKIPPED: readonly Metric[] = [
  ...OF_REQUESTS,
  HTTP_REQS,
  ITERATION_DURATION,
  DATA_SENT,
  DATA_RECEIVED
].flatMap((each) => (each?.use === 'skipped' ? each : []))
const [LETTER_D, LETTER_H, LETTER_I, LETTER_R, LETTER_S] = [100, 104, 105, 114, 115]

function byLetter(at: number, metrics: readonly Metric[]): (Metric | undefined)[] {
  const table = Array<Metric | undefined>(128).fill(undefined)
  for (const each of metrics) table[each.bytes[at]!] = each
  return table
}

/** The metric of a row by its first bytes; undefined for one that is not among these. */
export function findMetric(bytes: Buffer, start: number): Metric | undefined {
  const found = guessMetric(bytes, start)
  if (found === undefined) return undefined
  const name = found.bytes
  for (let i = 0; i < name.length; i++) if (bytes[start + i] !== name[i]) return undefined
  return found
}

function guessMetric(bytes: Buffer, start: number): Metric | undefined {
  const first = bytes[start]!
  if (first === LETTER_H) return bytes[start + 8] === LETTER_S ? HTTP_REQS : OF_REQUESTS[bytes[start + 9]!]
  if (first === LETTER_I) return bytes[start + 9] === LETTER_S ? ITERATIONS : ITERATION_DURATION
  if (first === LETTER_D)
    return bytes[start + 5] === LETTER_S
      ? DATA_SENT
      : bytes[start + 5] === LETTER_R
        ? DATA_RECEIVED
        : undefined
  return OTHERS[first]
}
