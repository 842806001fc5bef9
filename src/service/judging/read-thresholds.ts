import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { isObject } from '../../contract/setting-values.js'
import type { RunThresholds } from '../../contract/records.js'
import { readParameters, thresholdsRequest } from '../../contract/api/requests.js'

const MOST_BYTES = 16 * 1024
const MOST_LINES = 200

/** Reads `{ "thresholds": <text or list of lines>, "warm_up": 30, "on_stall": "warn" }`; undefined if there is nothing to judge. */
export function readThresholds(
  body: unknown
): { readonly thresholds: RunThresholds | undefined } | { readonly problems: readonly string[] } {
  if (!isObject(body))
    return { problems: ['send a JSON object such as { "thresholds": "p95 < 800ms", "warm_up": 30 }'] }
  const unknown = Object.keys(body).filter((key) => !Object.hasOwn(thresholdsRequest.entries, key))
  // No thresholds are none, unlike other empty values.
  const { values, problems: odd } = readParameters(thresholdsRequest, {
    ...body,
    thresholds: body.thresholds === '' ? [] : body.thresholds
  })
  const text = [values.thresholds ?? ''].flat().join('\n')
  const tooLong = checkLength(text)
  const parsed = parseThresholds(tooLong.length === 0 ? text : '')
  const problems = [
    ...unknown.map(
      (key) => `${JSON.stringify(key.slice(0, 60))} is unknown; thresholds, warm_up and on_stall are accepted`
    ),
    ...tooLong,
    ...parsed.problems,
    ...odd
  ]
  if (problems.length > 0) return { problems }
  if (parsed.thresholds.length === 0) return { thresholds: undefined }
  const { warm_up: warmUpSec = 0, on_stall: onStall = 'fail' } = values
  return { thresholds: { text, ...(warmUpSec > 0 && { warmUpSec }), ...(onStall !== 'fail' && { onStall }) } }
}

function checkLength(text: string): string[] {
  if (Buffer.byteLength(text) > MOST_BYTES) return [`thresholds must not be longer than ${MOST_BYTES} bytes`]
  if (text.split(/\r\n|\n|\r/u).length > MOST_LINES)
    return [`thresholds must not have more than ${MOST_LINES} lines`]
  return []
}
