import type { ServiceClient } from '../../service/client.js'
import type { Clock } from '../../service/clock.js'
import { readContentRange } from '../../service/http/content-range.js'
import type { Reply } from '../../service/http/http.js'
import { CsvStart } from './csv-start.js'
import { startDeadline } from '../deadline.js'

/** It is a question beside the point for nearly every service: nobody waits long for the answer. */
const LONGEST_CHECK_MS = 10_000

/**
 * Whether there is more of a CSV by now than the bytes that were downloaded: one request for what lies behind them, of whose answer no more
 * is read than it takes. What cannot be read as growth is none, for a service need not know ranges.
 */
export async function hasGrown(
  client: ServiceClient,
  href: string,
  { bytes, clock, signal }: { bytes: number; clock: Clock; signal: AbortSignal }
): Promise<boolean> {
  const deadline = startDeadline(clock, LONGEST_CHECK_MS, { error: new Error('no answer'), others: [signal] })
  try {
    const range = { fromByte: bytes, version: undefined }
    const reply = await client.openResult(href, { range, signal: deadline.signal })
    try {
      return await isMore(reply, bytes)
    } finally {
      reply.body.destroy()
    }
  } catch {
    return false
  } finally {
    deadline.release()
  }
}

async function isMore(reply: Reply, bytes: number): Promise<boolean> {
  if (reply.status === 206) return readContentRange(reply.header('content-range'))?.fromByte === bytes
  const isPlain = (reply.header('content-encoding') ?? 'identity') === 'identity'
  const isLonger = Number(reply.header('content-length')) > bytes
  return reply.status === 200 && isPlain && isLonger && (await isCsv(reply))
}

/** A page that is longer than the CSV is no CSV that has grown. */
async function isCsv({ body }: Reply): Promise<boolean> {
  const start = new CsvStart()
  for await (const chunk of body) {
    start.push(chunk)
    if (start.isKnown) return true
  }
  return false
}
