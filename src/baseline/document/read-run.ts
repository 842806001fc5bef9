import type { RecordedHistogram, RecordedOverTime, RecordedRun, RecordedScope } from './baseline-document.js'
import { MOST_RECORDED } from '../../results/stalls/over-time.js'
import { RECORDED_PERCENTILES, scopeKey } from './baseline-document.js'
import type { Fingerprint } from './fingerprint.js'
import { LONGEST_FINGERPRINT_TEXT, MOST_FINGERPRINT_PARTS } from './fingerprint.js'
import {
  LATEST_MS,
  LONGEST_ID,
  LONGEST_NAME,
  LONGEST_REASON,
  MOST_HISTOGRAM_VALUES,
  MOST_SCOPES
} from './limits.js'
import { fail, orNull, readFields, readList, readNumber, readText } from './read-values.js'

/** Of any kind of repository. */
const COMMIT = /^[\w.-]{1,64}$/

/** As the service's client accepts them: they end up in links, outputs and logs. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

export function readRun(value: unknown, at: number): RecordedRun {
  const where = `runs[${at}]`
  const fields = readFields(value, where)
  const commit = readText(fields.get('commit'), `${where}.commit`, LONGEST_ID)
  if (!COMMIT.test(commit)) fail(`${where}.commit`, 'is not the id of a commit')
  const runId = readText(fields.get('runId'), `${where}.runId`, LONGEST_ID)
  if (runId === '') fail(`${where}.runId`, 'is empty')
  if (!RUN_ID.test(runId)) fail(`${where}.runId`, 'is not the id of a run')
  const scopes = readList(fields.get('scopes'), `${where}.scopes`, MOST_SCOPES).map((scope, i) =>
    readScope(scope, `${where}.scopes[${i}]`)
  )
  if (new Set(scopes.map(scopeKey)).size < scopes.length) fail(`${where}.scopes`, 'lists a scope twice')
  return {
    commit,
    runId,
    atMs: readNumber(fields.get('atMs'), `${where}.atMs`, LATEST_MS),
    unusable: orNull(fields.get('unusable'), (text) => readText(text, `${where}.unusable`, LONGEST_REASON)),
    fingerprint: readFingerprint(fields.get('fingerprint'), `${where}.fingerprint`),
    apdex: orNull(fields.get('apdex'), (apdex) => readApdex(apdex, `${where}.apdex`)),
    scopes
  }
}

function readFingerprint(value: unknown, where: string): Fingerprint {
  const parts = [...readFields(value, where)]
  if (parts.length > MOST_FINGERPRINT_PARTS) fail(where, `has more than ${MOST_FINGERPRINT_PARTS} parts`)
  return Object.fromEntries(
    parts.map(([key, part]) => [
      readText(key, where, LONGEST_FINGERPRINT_TEXT),
      readText(part, where, LONGEST_FINGERPRINT_TEXT)
    ])
  )
}

function readApdex(value: unknown, where: string): NonNullable<RecordedRun['apdex']> {
  const fields = readFields(value, where)
  return {
    score: readNumber(fields.get('score'), `${where}.score`, 1),
    targetMs: readNumber(fields.get('targetMs'), `${where}.targetMs`)
  }
}

function readScope(value: unknown, where: string): RecordedScope {
  const fields = readFields(value, where)
  const name = (key: 'label' | 'region') =>
    fields.has(key) ? { [key]: readText(fields.get(key), `${where}.${key}`, LONGEST_NAME) } : {}
  const figure = (key: string, most?: number) =>
    orNull(fields.get(key), (number) => readNumber(number, `${where}.${key}`, most))
  const samples = readNumber(fields.get('samples'), `${where}.samples`)
  const failures = readNumber(fields.get('failures'), `${where}.failures`)
  if (failures > samples) fail(`${where}.failures`, 'is more than the samples')
  const histogram = fields.get('histogram')
  return {
    ...name('label'),
    ...name('region'),
    ...(fields.get('named') === true && { named: true }),
    samples,
    failures,
    meanMs: figure('meanMs'),
    apdex: figure('apdex', 1),
    throughput: figure('throughput'),
    percentilesMs: readPercentiles(fields.get('percentilesMs'), `${where}.percentilesMs`),
    ...(fields.has('overTime') && { overTime: readOverTime(fields.get('overTime'), `${where}.overTime`) }),
    ...(histogram !== undefined && { histogram: readHistogram(histogram, `${where}.histogram`, samples) })
  }
}

/** Those that are known; there are none without single response times. */
function readPercentiles(value: unknown, where: string): Readonly<Record<string, number>> {
  const fields = readFields(value, where)
  const known = RECORDED_PERCENTILES.map(String).filter((percent) => fields.has(percent))
  const values = known.map((percent) => readNumber(fields.get(percent), where))
  if (!isAscending(values, 0)) fail(where, 'is not in ascending order')
  return Object.fromEntries(known.map((percent, i) => [percent, values[i] ?? 0]))
}

function readOverTime(value: unknown, where: string): RecordedOverTime {
  const fields = readFields(value, where)
  const spanMs = readNumber(fields.get('spanMs'), `${where}.spanMs`)
  const stallsMs = readList(fields.get('stallsMs'), `${where}.stallsMs`, MOST_RECORDED).map((ms) =>
    readNumber(ms, `${where}.stallsMs`)
  )
  if (stallsMs.some((ms, i) => ms > (stallsMs[i - 1] ?? Infinity)))
    fail(`${where}.stallsMs`, 'is not in descending order')
  if (stallsMs.reduce((sum, ms) => sum + ms, 0) > spanMs) fail(`${where}.stallsMs`, 'is longer than the run')
  return { spanMs, stallsMs }
}

function readHistogram(value: unknown, where: string, samples: number): RecordedHistogram {
  const fields = readFields(value, where)
  const numbers = (key: string) =>
    readList(fields.get(key), `${where}.${key}`, MOST_HISTOGRAM_VALUES).map((one) => readNumber(one, where))
  const [valuesMs, counts] = [numbers('valuesMs'), numbers('counts')]
  const failed = fields.has('failed') ? numbers('failed') : undefined
  if ([counts, failed ?? counts].some(({ length }) => length !== valuesMs.length) || valuesMs.length === 0)
    fail(where, 'has lists of different lengths, or empty ones')
  if (!isAscending(valuesMs, Number.MIN_VALUE)) fail(where, 'is not in ascending order')
  if (counts.some((count) => !Number.isSafeInteger(count) || count === 0))
    fail(`${where}.counts`, 'has a count that is not a positive whole number')
  if (failed?.some((count, i) => !Number.isSafeInteger(count) || count > (counts[i] ?? 0)))
    fail(`${where}.failed`, 'has more failures than samples')
  if (counts.reduce((sum, count) => sum + count, 0) !== samples) fail(where, 'does not add up to the samples')
  return { valuesMs, counts, ...(failed && { failed }) }
}

/** Each number larger than the one before by at least `step`. */
function isAscending(values: readonly number[], step: number): boolean {
  return values.every((value, i) => i === 0 || value - (values[i - 1] ?? 0) >= step)
}
