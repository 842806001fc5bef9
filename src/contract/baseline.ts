import * as v from 'valibot'
import { type Decoded, document } from './decode.js'
import { isObject } from './setting-values.js'

// The recorded runs of a branch, also described by `schema/baseline.schema.json`. Anybody may have written them: what is not exactly as
// expected is refused.

/** Raised when a reader of the old format would misread the new one. */
export const BASELINE_SCHEMA = 1
/** What can be asked of any recorded run; other percentiles come from histograms. */
export const RECORDED_PERCENTILES = [50, 75, 90, 95, 99, 99.9] as const
export const MOST_RUNS = 50
/** For names of labels and regions. Longer ones are not recorded. */
export const LONGEST_NAME = 2000
export const LONGEST_REASON = 500
export const MOST_FINGERPRINT_PARTS = 200
export const LONGEST_FINGERPRINT_TEXT = 300
/** The longest stalls of a scope: as many as are counted (`MOST_RECORDED`). */
const MOST_STALLS = 100
const LONGEST_BRANCH = 300
const LONGEST_ID = 200
const MOST_SCOPES = 20_000
const MOST_HISTOGRAM_VALUES = 5000
/** The last day that a date can be. */
const LATEST_MS = 8.64e15
/** The id of a commit, in any kind of repository. */
const COMMIT = /^[\w.-]{1,64}$/
/** As the service's client accepts them: they end up in links, outputs and logs. */
const RUN_ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,127}$/

const text = (longest: number) =>
  v.pipe(v.string('is not a text'), v.maxLength(longest, `is longer than ${longest} characters`))

const number = (most = Number.MAX_SAFE_INTEGER) =>
  v.pipe(
    v.number('is not a number'),
    v.finite('is not a number'),
    v.minValue(0, 'is impossible'),
    v.maxValue(most, 'is impossible')
  )

const list = <T>(entry: v.GenericSchema<unknown, T>, most: number) =>
  v.pipe(
    v.custom<unknown[]>(Array.isArray, 'is not a list'),
    v.maxLength(most, `has more than ${most} entries`),
    v.array(entry)
  )

/** Without a schema per entry: there may be millions. */
const numbers = (most: number) =>
  v.pipe(
    v.custom<number[]>(Array.isArray, 'is not a list'),
    v.maxLength(most, `has more than ${most} entries`),
    v.check((given) => given.every(Number.isFinite), 'is not a list of numbers'),
    v.check((given) => given.every((one) => one >= 0 && one <= Number.MAX_SAFE_INTEGER), 'is impossible')
  )

/** A check of the whole, whose problem is that of one field. */
const checkField = <T extends Record<string, unknown>>(
  field: keyof T & string,
  isSo: (given: T) => boolean,
  words: string
) => v.forward<T, v.CheckIssue<T>, [keyof T & string]>(v.check(isSo, words), [field] as never)

const fields = <const E extends v.ObjectEntries>(entries: E) => document(entries, 'is not an object')

/** What must be equal for two runs to be comparable: the name of each part, and its value or hash. The names are not quoted either. */
const fingerprint = v.pipe(
  v.custom<Readonly<Record<string, string>>>(isObject, 'is not an object'),
  v.check(
    (parts) => Object.keys(parts).length <= MOST_FINGERPRINT_PARTS,
    `has more than ${MOST_FINGERPRINT_PARTS} parts`
  ),
  v.check((parts) => Object.values(parts).every((part) => typeof part === 'string'), 'is not a text'),
  v.check(
    (parts) =>
      Object.entries(parts)
        .flat()
        .every(({ length }) => length <= LONGEST_FINGERPRINT_TEXT),
    `is longer than ${LONGEST_FINGERPRINT_TEXT} characters`
  )
)

/** Those that are known; there are none without single response times. */
const percentiles = v.pipe(
  fields(
    Object.fromEntries(RECORDED_PERCENTILES.map((percent) => [percent, v.exactOptional(number())]))
  ) as v.GenericSchema<Readonly<Record<string, number>>>,
  v.check((times) => isAscending(Object.values(times), 0), 'is not in ascending order')
)

const overTime = v.pipe(
  fields({
    /** From the first start to the last end. */
    spanMs: number(),
    /** How long the longest stalls were, descending. */
    stallsMs: numbers(MOST_STALLS)
  }),
  checkField(
    'stallsMs',
    ({ stallsMs }) => isAscending(stallsMs.toReversed(), 0),
    'is not in descending order'
  ),
  checkField('stallsMs', ({ spanMs, stallsMs }) => sum(stallsMs) <= spanMs, 'is longer than the run')
)

const histogram = v.pipe(
  fields({
    /** Distinct times (rounded) in ascending order. */
    valuesMs: numbers(MOST_HISTOGRAM_VALUES),
    /** How many samples had each. */
    counts: numbers(MOST_HISTOGRAM_VALUES),
    /** How many of them failed; absent if none did. */
    failed: v.exactOptional(numbers(MOST_HISTOGRAM_VALUES))
  }),
  v.check(
    ({ valuesMs: { length }, counts, failed = counts }) =>
      length > 0 && counts.length === length && failed.length === length,
    'has lists of different lengths, or empty ones'
  ),
  v.check(({ valuesMs }) => isAscending(valuesMs, Number.MIN_VALUE), 'is not in ascending order'),
  checkField(
    'counts',
    ({ counts }) => counts.every((count) => Number.isSafeInteger(count) && count > 0),
    'has a count that is not a positive whole number'
  ),
  checkField(
    'failed',
    ({ counts, failed = [] }) =>
      failed.every((count, i) => Number.isSafeInteger(count) && count <= (counts[i] ?? 0)),
    'has more failures than samples'
  )
)

/** The figures of a scope: overall without `label` and `region`. */
const scope = v.pipe(
  fields({
    label: v.exactOptional(text(LONGEST_NAME)),
    region: v.exactOptional(text(LONGEST_NAME)),
    /** A threshold names the label: such scopes are the last to be dropped when the document is too large. */
    named: v.exactOptional(v.unknown()),
    samples: number(),
    failures: number(),
    meanMs: v.nullable(number()),
    /** Computed with the target of the run's own apdex. */
    apdex: v.nullable(number(1)),
    throughput: v.nullable(number()),
    /** By percent: 50, 75, 90, 95, 99 and 99.9. */
    percentilesMs: percentiles,
    /** For figures over time; absent where they are not known. */
    overTime: v.exactOptional(overTime),
    /** Only in the newest runs. */
    histogram: v.exactOptional(histogram)
  }),
  checkField('failures', ({ samples, failures }) => failures <= samples, 'is more than the samples'),
  checkField(
    'histogram',
    ({ samples, histogram: times }) => times === undefined || sum(times.counts) === samples,
    'does not add up to the samples'
  ),
  v.transform(({ named, ...rest }) => ({ ...rest, ...(named === true && { named }) }))
)

export const recordedRunSchema = v.pipe(
  fields({
    commit: v.pipe(text(LONGEST_ID), v.regex(COMMIT, 'is not the id of a commit')),
    runId: v.pipe(text(LONGEST_ID), v.nonEmpty('is empty'), v.regex(RUN_ID, 'is not the id of a run')),
    /** When the run started, by the service or this machine. */
    atMs: number(LATEST_MS),
    /** Why the run cannot be part of a baseline; null if it can. */
    unusable: v.nullable(text(LONGEST_REASON)),
    fingerprint,
    apdex: v.nullable(fields({ score: number(1), targetMs: number() })),
    scopes: v.pipe(
      list(scope, MOST_SCOPES),
      v.check((scopes) => new Set(scopes.map(scopeKey)).size === scopes.length, 'lists a scope twice')
    )
  })
)

export const baselineSchema = v.pipe(
  fields({
    schema: v.literal(BASELINE_SCHEMA),
    branch: v.pipe(text(LONGEST_BRANCH), v.nonEmpty('is empty')),
    /** Oldest first. */
    runs: v.pipe(
      list(recordedRunSchema, MOST_RUNS),
      v.check(
        (runs) => new Set(runs.map(({ runId, commit }) => `${runId} ${commit}`)).size === runs.length,
        'lists a run twice'
      )
    )
  })
)

export type BaselineDocument = Decoded<typeof baselineSchema>
export type RecordedRun = Decoded<typeof recordedRunSchema>
export type RecordedScope = Decoded<typeof scope>
export type RecordedOverTime = Decoded<typeof overTime>
export type RecordedHistogram = Decoded<typeof histogram>

/** The two keys of a recorded scope as one; JSON keeps any two labels apart. */
export function scopeKey(scope: { label?: string | undefined; region?: string | undefined }): string {
  return JSON.stringify([scope.label ?? null, scope.region ?? null])
}

/** Each number larger than the one before by at least `step`. */
function isAscending(values: readonly number[], step: number): boolean {
  return values.every((value, i) => i === 0 || value - (values[i - 1] ?? 0) >= step)
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
