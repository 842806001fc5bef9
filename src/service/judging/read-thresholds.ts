import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { ON_STALL } from '../../analysis/thresholds/judge/judgement.js'
import type { RunThresholds } from '../../contract/records.js'

const KEYS: readonly string[] = ['thresholds', 'warm_up', 'on_stall']
const MOST_BYTES = 16 * 1024
const MOST_LINES = 200
const LONGEST_WARM_UP_SEC = 24 * 60 * 60

/** The thresholds of a request, undefined if they are to be removed; or everything that is wrong with them. */
export type ReadThresholds =
  { readonly thresholds: RunThresholds | undefined } | { readonly problems: readonly string[] }

/** Reads `{ "thresholds": <text or list of lines>, "warm_up": 30, "on_stall": "warn" }`. Without a threshold there is nothing to judge. */
export function readThresholds(body: unknown): ReadThresholds {
  if (typeof body !== 'object' || body === null || Array.isArray(body))
    return { problems: ['send a JSON object such as { "thresholds": "p95 < 800ms", "warm_up": 30 }'] }
  const given = body as Readonly<Record<string, unknown>>
  const unknown = Object.keys(given).filter((key) => !KEYS.includes(key))
  const text = readText(given.thresholds)
  const warmUp = readWarmUp(given.warm_up)
  const onStall = ON_STALL.find((known) => known === (given.on_stall ?? 'fail'))
  const parsed = 'text' in text ? parseThresholds(text.text) : { thresholds: [], problems: text.problems }
  const problems = [
    ...unknown.map(
      (key) => `${JSON.stringify(key.slice(0, 60))} is unknown; thresholds, warm_up and on_stall are accepted`
    ),
    ...parsed.problems,
    ...('problem' in warmUp ? [warmUp.problem] : []),
    ...(onStall === undefined ? [`on_stall must be one of ${ON_STALL.join(', ')}`] : [])
  ]
  if (problems.length > 0 || !('text' in text) || 'problem' in warmUp) return { problems }
  if (parsed.thresholds.length === 0) return { thresholds: undefined }
  const { seconds } = warmUp
  return {
    thresholds: {
      text: text.text,
      ...(seconds > 0 && { warmUpSec: seconds }),
      ...(onStall !== undefined && onStall !== 'fail' && { onStall })
    }
  }
}

function readText(given: unknown): { readonly text: string } | { readonly problems: readonly string[] } {
  const isList = Array.isArray(given) && given.every((line) => typeof line === 'string')
  if (typeof given !== 'string' && !isList)
    return { problems: ['thresholds must be text with one threshold per line, or a list of lines'] }
  const text = typeof given === 'string' ? given : given.join('\n')
  if (Buffer.byteLength(text) > MOST_BYTES)
    return { problems: [`thresholds must not be longer than ${MOST_BYTES} bytes`] }
  if (text.split(/\r\n|\n|\r/u).length > MOST_LINES)
    return { problems: [`thresholds must not have more than ${MOST_LINES} lines`] }
  return { text }
}

/** A form sends text. */
function readWarmUp(given: unknown): { readonly seconds: number } | { readonly problem: string } {
  if (given === undefined || given === null || given === '') return { seconds: 0 }
  const seconds = typeof given === 'string' && /^\d{1,6}$/.test(given.trim()) ? Number(given) : given
  const isUsable = Number.isInteger(seconds) && Number(seconds) >= 0 && Number(seconds) <= LONGEST_WARM_UP_SEC
  return isUsable
    ? { seconds: Number(seconds) }
    : {
        problem: `warm_up must be whole seconds from 0 to ${LONGEST_WARM_UP_SEC}, not ${JSON.stringify(given).slice(0, 60)}`
      }
}
