import { bucketWidthMs } from '../counts/time-line.js'
import type { ScanResult, TidyBucket } from '../counts/scan-result.js'

/** The labels under which a tidy CSV reports the total, preferred first; its other labels add up to the same. */
const OVERALL = ['__all', '']

export class TidyIndex {
  readonly bucketMs: number
  readonly startMs: number
  readonly endMs: number
  readonly #everything: readonly TidyBucket[]
  readonly #byLabel: ReadonlyMap<string, readonly TidyBucket[]>

  constructor(source: ScanResult) {
    const times = source.buckets.map(({ atMs }) => atMs)
    this.bucketMs = source.bucketMs ?? bucketWidthMs(times)
    this.startMs = times.reduce((one, other) => Math.min(one, other), Infinity)
    this.endMs = times.reduce((one, other) => Math.max(one, other), -Infinity) + this.bucketMs
    this.#everything = [...groupBy(source.buckets, ({ atMs }) => atMs).values()].map(joinEverything)
    const labelled = source.buckets.filter(({ label }) => !OVERALL.includes(label))
    this.#byLabel = groupBy(labelled, ({ label }) => label)
  }

  get labels(): Iterable<string> {
    return this.#byLabel.keys()
  }

  bucketsOf(label: string | undefined): readonly TidyBucket[] {
    return label === undefined ? this.#everything : (this.#byLabel.get(label) ?? [])
  }
}

/** What is most common: a CSV with a row per sample. */
const NOTHING = { samples: 0, failures: 0, sumMs: 0, users: new Map<number, number>() }

/** `sumMs` is undefined if a bucket with samples has no response time; `users` are by time, those of all grids added up. */
export function sumTidy(buckets: readonly TidyBucket[]) {
  if (buckets.length === 0) return NOTHING
  const users = new Map<number, number>()
  let [samples, failures, sumMs] = [0, 0, 0]
  for (const bucket of buckets) {
    const weight = samplesOf(bucket)
    samples += weight
    failures += orZero(bucket.failed)
    if (weight > 0) sumMs += weight * bucket.responseMs
    if (!Number.isNaN(bucket.users)) users.set(bucket.atMs, (users.get(bucket.atMs) ?? 0) + bucket.users)
  }
  return { samples, failures, sumMs: Number.isNaN(sumMs) ? undefined : sumMs, users }
}

/** Samples of a bucket, passed and failed: a missing row means none. */
export function samplesOf(bucket: TidyBucket): number {
  return orZero(bucket.passed) + orZero(bucket.failed)
}

export function orZero(value: number): number {
  return Number.isNaN(value) ? 0 : value
}

/** The total of one bucket: figure by figure from the overall rows, or from the labels if there are none. */
function joinEverything(buckets: readonly TidyBucket[]): TidyBucket {
  const named = OVERALL.map((name) => joinBuckets(buckets.filter(({ label }) => label === name)))
  const labelled = joinBuckets(buckets.filter(({ label }) => !OVERALL.includes(label)))
  const pick = (figure: 'passed' | 'failed' | 'responseMs' | 'users') =>
    [...named, labelled].map((bucket) => bucket[figure]).find((value) => !Number.isNaN(value)) ?? NaN
  return {
    atMs: buckets[0]?.atMs ?? NaN,
    label: '',
    passed: pick('passed'),
    failed: pick('failed'),
    responseMs: pick('responseMs'),
    users: pick('users')
  }
}

function joinBuckets(buckets: readonly TidyBucket[]): Omit<TidyBucket, 'atMs' | 'label'> {
  const add = (values: number[]) => {
    const known = values.filter((value) => !Number.isNaN(value))
    return known.length === 0 ? NaN : known.reduce((sum, value) => sum + value, 0)
  }
  const busy = buckets.filter((bucket) => samplesOf(bucket) > 0)
  const weighted = busy.reduce((sum, bucket) => sum + samplesOf(bucket) * bucket.responseMs, 0)
  const weight = busy.reduce((sum, bucket) => sum + samplesOf(bucket), 0)
  const only = buckets.length === 1 ? buckets[0] : undefined
  return {
    passed: add(buckets.map(({ passed }) => passed)),
    failed: add(buckets.map(({ failed }) => failed)),
    responseMs: only?.responseMs ?? (weight > 0 ? weighted / weight : NaN),
    users: add(buckets.map(({ users }) => users))
  }
}

function groupBy<Key>(
  buckets: readonly TidyBucket[],
  keyOf: (bucket: TidyBucket) => Key
): Map<Key, TidyBucket[]> {
  const groups = new Map<Key, TidyBucket[]>()
  for (const bucket of buckets) {
    const group = groups.get(keyOf(bucket))
    if (group === undefined) groups.set(keyOf(bucket), [bucket])
    else group.push(bucket)
  }
  return groups
}
