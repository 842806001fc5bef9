import type { ScanResult } from '../results/counts/scan-result.js'
import { samplesOf } from '../results/figures/tidy-figures.js'
import { formatDuration } from '../../contract/text.js'
import { type Bounds, boundsAround, bucketMsOf, findCore, groupByGrid, listBusy } from './grid-times.js'

/** Between the clocks of service and machines, and for what the service does before and after the load. */
const SLACK_MS = 60_000
const DAY_MS = 86_400_000
/** Rows that are off by more are another run's. */
const LARGEST_CLOCK_MS = 3_600_000
/** Time zones differ by quarter hours, and by no more than this. */
const QUARTER_MS = 900_000
const LARGEST_ZONE_MS = 14 * 3_600_000
/** Rows over a smaller share of the run's time are not all of its rows. */
const LEAST_SHARE = 0.9
/** By how much the service's times may be too short. */
const ROUNDING_MS = 2_000
/** Slack for a shift: rows that start over more than the run's time plus this are not all its own. Services notice a start late. */
const LONGER_MS = 30_000
const MINUTE_MS = 60_000
/** Machines on demand start minutes apart; where the run's own times are unknown, what is further apart is a clock. */
const APART_MS = 600_000
/** A grid that starts later than this, and than a tenth of the time, is late. */
const LATE_MS = 10_000

/** When a run took place, in epoch ms, as far as the service says so. */
export interface RunTimes {
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  /** When it was created, by the service's clock; undefined if that was not seen. */
  readonly createdMs?: number | undefined
  /** What began at `startedMs`, for people: "the run started". */
  readonly called?: string
  /** How long its load was to take; undefined if that is unknown. */
  readonly durationMs?: number | undefined
  /** The grids whose rows have no times that could be compared. */
  readonly unchecked?: ReadonlySet<string>
}

export interface PlacedRows {
  /** Rows that start outside are not the run's. */
  readonly bounds: Bounds
  /** The grids with rows that may start outside of the bounds: only reading them again shows how many do. */
  readonly outside: ReadonlySet<string>
  /** By how much the clocks of grids are ahead of the run's, where they are. */
  readonly clocksMs: ReadonlyMap<string, number>
  /** Why rows within the bounds cannot all be the run's, in clauses. */
  readonly foreign: readonly string[]
  /** What looks wrong without making the results incomplete evidence, in sentences. */
  readonly doubts: readonly string[]
}

interface GridRows {
  readonly grid: string
  readonly firstMs: number
  readonly lastStartMs: number
  readonly lastMs: number
  /** The width of its buckets, in which the samples may be anywhere; 0 if there is a row for each sample. */
  readonly bucketMs: number
  readonly isZoneless: boolean
  /** The same without rows that are apart from the others. */
  readonly core: Bounds
}

type Place = { readonly rows: GridRows } & (
  { readonly kind: 'own' | 'outside' } | { readonly kind: 'clock' | 'zone'; readonly clockMs: number }
)

/** Compares the times of the rows with those of the run, unless they are files of an unknown one; several CSVs of a grid count as one. */
export function placeRows(scans: readonly ScanResult[], given: RunTimes | undefined): PlacedRows {
  const times = given ?? { startedMs: undefined, stoppedMs: undefined }
  const grids = groupByGrid(scans).flatMap(([, own]) => rowsOf(own) ?? [])
  const bounds = boundsOf(times, Math.max(0, ...grids.map(({ bucketMs }) => bucketMs)))
  const isBounded = Number.isFinite(bounds.fromMs) || Number.isFinite(bounds.toMs)
  const own = ownTimes(times)
  const places = grids.map((rows) => placeGrid(rows, bounds, times))
  const shifted = places.filter((place) => 'clockMs' in place)
  const here = places.flatMap(({ kind, rows }) => (kind === 'own' ? rows : []))
  const apartMs = own === undefined ? findApart(here) : new Map<string, number>()
  const clocksMs =
    given === undefined ? new Map<string, number>() : new Map([...apartMs, ...joinClocks(shifted)])
  return {
    bounds,
    outside: new Set(places.flatMap(({ kind, rows: { grid } }) => (kind === 'outside' ? grid : []))),
    clocksMs,
    foreign: own === undefined ? [] : places.flatMap((place) => describeLonger(place, own) ?? []),
    doubts: [
      ...describeClocks(shifted, { clocksMs, isAll: shifted.length === grids.length }),
      ...describeApart(apartMs, given !== undefined),
      ...describeLate(here.filter(({ grid }) => !apartMs.has(grid))),
      ...(given !== undefined && grids.length > 0 && !isBounded ? [NO_TIMES] : [])
    ]
  }
}

/** From the first start to the last end; undefined if it has no rows with times. */
function rowsOf(scans: readonly ScanResult[]): GridRows | undefined {
  const spans = scans.flatMap((scan): (Bounds & { lastStartMs: number })[] => {
    if (scan.shape === 'tidy') return listBusy([scan]).map((busy) => ({ ...busy, lastStartMs: busy.fromMs }))
    return scan.parts.map(({ startMs, endMs, stalls }) => {
      const startsMs = stalls.overall.map(({ lastStartMs }) => lastStartMs)
      return { fromMs: startMs, toMs: endMs, lastStartMs: Math.max(-Infinity, ...startsMs) }
    })
  })
  const { fromMs: firstMs, toMs: lastMs } = boundsAround(spans)
  const [{ grid } = { grid: '' }] = scans
  const core = findCore(scans)
  if (!Number.isFinite(firstMs) || !Number.isFinite(lastMs) || core === undefined) return undefined
  return {
    ...{ grid, firstMs, lastMs, core },
    lastStartMs: spans.reduce((one, { lastStartMs }) => Math.max(one, lastStartMs), firstMs),
    bucketMs: Math.max(...scans.map(bucketMsOf)),
    isZoneless: scans.some((scan) => scan.isZoneless)
  }
}

/** Undefined unless the service gives both. */
function ownTimes({ startedMs, stoppedMs }: RunTimes): Bounds | undefined {
  return startedMs === undefined || stoppedMs === undefined || stoppedMs < startedMs
    ? undefined
    : { fromMs: startedMs, toMs: stoppedMs }
}

const NO_TIMES =
  'The service does not say when the run took place, so nothing shows that the results are from this run.'

/** Samples are anywhere in their buckets. */
function boundsOf({ startedMs, stoppedMs, createdMs }: RunTimes, bucketMs: number): Bounds {
  const slackMs = SLACK_MS + bucketMs
  const latestMs = createdMs === undefined ? Infinity : Math.max(createdMs, startedMs ?? createdMs)
  return {
    fromMs: startedMs === undefined ? (createdMs ?? -Infinity) - DAY_MS : startedMs - slackMs,
    toMs: stoppedMs === undefined ? latestMs + DAY_MS : stoppedMs + slackMs
  }
}

function placeGrid(rows: GridRows, bounds: Bounds, times: RunTimes): Place {
  if (fits(rows, bounds) || times.unchecked?.has(rows.grid)) return { kind: 'own', rows }
  const own = ownTimes(times)
  const zoneMs = own && rows.isZoneless ? zoneOf(rows, bounds, own) : undefined
  if (zoneMs !== undefined) return { kind: 'zone', rows, clockMs: zoneMs }
  const clockMs = own && clockOf(rows, { bounds, own, durationMs: times.durationMs })
  return clockMs === undefined ? { kind: 'outside', rows } : { kind: 'clock', rows, clockMs }
}

function fits({ firstMs, lastMs }: GridRows, { fromMs, toMs }: Bounds, shiftMs = 0): boolean {
  return firstMs - shiftMs >= fromMs && lastMs - shiftMs <= toMs
}

/** The whole quarter hours by which all rows are off. */
function zoneOf(rows: GridRows, bounds: Bounds, own: Bounds): number | undefined {
  const shiftMs = Math.round((rows.firstMs - own.fromMs) / QUARTER_MS) * QUARTER_MS
  // Rows may begin up to a quarter of an hour after the run does.
  const shifts = [shiftMs, shiftMs - QUARTER_MS].filter((ms) => ms !== 0 && Math.abs(ms) <= LARGEST_ZONE_MS)
  return shifts.find((ms) => fits(rows, bounds, ms))
}

/** By how much all rows are off, if they are as many as the run's: a few rows of another time are not a clock. */
function clockOf(
  { firstMs, lastMs, core }: GridRows,
  { bounds, own, durationMs }: { bounds: Bounds; own: Bounds; durationMs: number | undefined }
): number | undefined {
  const [spanMs, runMs] = [lastMs - firstMs, own.toMs - own.fromMs]
  // The service may count the time in which machines start and stop.
  const loadMs = Math.min(runMs, durationMs ?? Infinity)
  const isAsLong = spanMs <= runMs + ROUNDING_MS && spanMs >= loadMs * LEAST_SHARE - ROUNDING_MS
  const isApart = core.fromMs >= bounds.fromMs && core.toMs <= bounds.toMs
  if (!isAsLong || isApart) return undefined
  // Everything in between is possible; the least is certain.
  const shifts = [firstMs - own.fromMs, lastMs - own.toMs]
  const [shiftMs = 0] = shifts.sort((one, other) => Math.abs(one) - Math.abs(other))
  return Math.abs(shiftMs) <= LARGEST_CLOCK_MS + ROUNDING_MS ? shiftMs : undefined
}

/** Rows of a run shortly before or after, which the slack lets in. */
function describeLonger({ kind, rows }: Place, own: Bounds): string | undefined {
  const { grid, firstMs, lastStartMs, bucketMs } = rows
  // Some services give whole minutes.
  const isRough = own.fromMs % MINUTE_MS === 0 && own.toMs % MINUTE_MS === 0
  const mostMs = own.toMs - own.fromMs + bucketMs + (isRough ? MINUTE_MS : LONGER_MS)
  if (kind === 'outside' || lastStartMs - firstMs <= mostMs) return undefined
  return `the results of grid ${grid} are not from this run alone: their samples start from ${formatTime(firstMs)} to ${formatTime(lastStartMs)}, and ${describeTimes({ startedMs: own.fromMs, stoppedMs: own.toMs })}, which is shorter`
}

/** Clocks that hardly differ are the same one. */
function joinClocks(shifted: readonly { rows: GridRows; clockMs: number }[]): Map<string, number> {
  const clocksMs = new Map<string, number>()
  for (const { rows, clockMs } of shifted) {
    const known = [...clocksMs.values()].find((ms) => Math.abs(ms - clockMs) <= SLACK_MS)
    clocksMs.set(rows.grid, known ?? clockMs)
  }
  return clocksMs
}

/** Where the run's own times are unknown: the grids that began when the others had long ended, and how long after the first one. */
function findApart(grids: readonly GridRows[]): Map<string, number> {
  const [first, ...others] = [...grids].sort((one, other) => one.firstMs - other.firstMs)
  const apartMs = new Map<string, number>()
  let untilMs = first?.lastMs ?? 0
  let ms = 0
  for (const { grid, firstMs, lastMs } of others) {
    if (firstMs > untilMs + APART_MS) ms = firstMs - (first?.firstMs ?? 0)
    if (ms > 0) apartMs.set(grid, ms)
    untilMs = Math.max(untilMs, lastMs)
  }
  return apartMs
}

const APART = 'figures of single grids stand, but throughput and charts over all of them do not'

function describeClocks(
  shifted: readonly Extract<Place, { clockMs: number }>[],
  { clocksMs, isAll }: { clocksMs: ReadonlyMap<string, number>; isAll: boolean }
): string[] {
  const isOne = isAll && new Set(clocksMs.values()).size === 1
  const told = isOne ? shifted.slice(0, 1) : shifted
  return told.map(({ kind, clockMs, rows: { grid } }) => {
    // It is known by when the run began and ended, which was a moment before and after its rows.
    const stepMs = Math.abs(clockMs) < 10 * MINUTE_MS ? 10_000 : MINUTE_MS
    const by = `about ${formatDuration(Math.round(Math.abs(clockMs) / stepMs) * stepMs)} ${clockMs > 0 ? 'ahead of' : 'behind'} the service's clock`
    const subject = isOne ? 'the results' : `the results of grid ${grid}`
    const cause =
      kind === 'zone'
        ? 'They are written without a time zone: save them as epoch milliseconds.'
        : 'Check the clocks of the machines, and that these are not the results of an earlier run.'
    return `The times in ${subject} are ${by}${isOne ? '' : `: ${APART}`}. ${cause}`
  })
}

function describeApart(apartMs: ReadonlyMap<string, number>, isOfRun: boolean): string[] {
  const rest = isOfRun
    ? `: ${APART}. Check the clocks of the machines.`
    : '. Check that all are of the same run.'
  return [...apartMs].map(
    ([grid, ms]) =>
      `The first sample of grid ${grid} starts ${formatDuration(ms)} after the first of all, when the others had ended${rest}`
  )
}

function describeLate(grids: readonly GridRows[]): string[] {
  const firstMs = Math.min(...grids.map((rows) => rows.firstMs))
  const lastMs = Math.max(...grids.map((rows) => rows.lastMs))
  const lateMs = Math.max(LATE_MS, (lastMs - firstMs) / 10)
  return grids.flatMap((rows) => {
    const ms = rows.firstMs - firstMs
    return ms > lateMs
      ? [`The load of grid ${rows.grid} started ${formatDuration(ms)} after that of the first one.`]
      : []
  })
}

/** Which rows of a grid are not the run's, in a clause; undefined if all are. `within` was read again with the bounds. */
export function describeForeignRows(
  all: readonly ScanResult[],
  within: readonly ScanResult[],
  times: RunTimes
): string | undefined {
  const rows = rowsOf(all)
  const [allRows, ownRows] = [countRows(all), countRows(within)]
  if (rows === undefined || allRows === ownRows) return undefined
  const { grid, firstMs, lastMs, bucketMs } = rows
  const when = describeTimes(times)
  if (ownRows === 0)
    return `the results of grid ${grid} are not from this run: their samples are from ${formatTime(firstMs)} to ${formatTime(lastMs)}, and ${when}`
  const bounds = boundsOf(times, bucketMs)
  const early = firstMs < bounds.fromMs ? [`the first one started at ${formatTime(firstMs)}`] : []
  const late = lastMs > bounds.toMs ? [`the last one ended at ${formatTime(lastMs)}`] : []
  const foreign = allRows - ownRows
  return `${foreign} of the ${allRows} ${bucketMs > 0 ? 'samples' : 'rows'} of grid ${grid} ${foreign === 1 ? 'is' : 'are'} not from this run and left out of all figures: ${[...early, ...late].join(' and ')}, and ${when}`
}

function countRows(scans: readonly ScanResult[]): number {
  return scans.reduce((sum, { shape, rows, earlyRows, buckets }) => {
    const samples = buckets.reduce((count, bucket) => count + samplesOf(bucket), 0)
    return sum + (shape === 'tidy' ? samples : rows - earlyRows)
  }, 0)
}

function describeTimes(times: RunTimes): string {
  const own = ownTimes(times)
  if (own !== undefined) return `the run took place from ${formatTime(own.fromMs)} to ${formatTime(own.toMs)}`
  const { startedMs, stoppedMs, createdMs = 0 } = times
  if (startedMs !== undefined) return `${times.called ?? 'the run started'} at ${formatTime(startedMs)}`
  return stoppedMs === undefined
    ? `the run was created at ${formatTime(createdMs)}`
    : `the run stopped at ${formatTime(stoppedMs)}`
}

export function formatTime(ms: number): string {
  return new Date(ms).toISOString()
}

interface ComparedRows extends Pick<ScanResult, 'grid' | 'shape' | 'rows' | 'firstRows' | 'buckets'> {
  readonly starts: Pick<GridRows, 'firstMs' | 'lastStartMs'> | undefined
}

export function toCompare(scan: ScanResult): ComparedRows {
  const { grid, shape, rows, firstRows, buckets } = scan
  return { grid, shape, rows, firstRows, buckets, starts: rowsOf([scan]) }
}

export interface EarlierResults {
  readonly runId: string
  /** For people: "round 3 of 10: base". */
  readonly name: string
  readonly scans: readonly ComparedRows[]
}

/** Results that begin with the same rows as others of the step, in clauses: samples would count twice. A grown file does so too. */
export function findSameRows(all: readonly ScanResult[], earlier: readonly EarlierResults[] = []): string[] {
  const scans = all.map(toCompare)
  return scans.flatMap((scan, index) => {
    const twin = scans.slice(0, index).find((other) => areSame(scan, other))
    const before = earlier.find((results) => results.scans.some((other) => areSame(scan, other)))
    if (twin === undefined && before === undefined) return describeOverlap(scan, earlier) ?? []
    const have = scan.shape === 'tidy' ? 'have' : 'begin with'
    if (twin?.grid === scan.grid) return `two results of grid ${scan.grid} ${have} the same rows`
    const others = twin === undefined ? `those of ${before?.name ?? ''}` : `those of grid ${twin.grid}`
    return `the results of grid ${scan.grid} ${have} the same rows as ${others}, and cannot be the results of both`
  })
}

/** A grid has one clock, and does one run after the other. */
function describeOverlap(scan: ComparedRows, earlier: readonly EarlierResults[]): string | undefined {
  const before = earlier.find((results) => results.scans.some((other) => overlap(scan, other)))
  return (
    before &&
    `the results of grid ${scan.grid} overlap in time with those of ${before.name} on the same grid: rows of one run are in the results of the other`
  )
}

function overlap(one: ComparedRows, other: ComparedRows): boolean {
  if (one.grid !== other.grid || one.starts === undefined || other.starts === undefined) return false
  return one.starts.firstMs < other.starts.lastStartMs && other.starts.firstMs < one.starts.lastStartMs
}

/** Whether the rows that both have are the same, as far as they were compared. */
function areSame(one: ComparedRows, other: ComparedRows): boolean {
  if (one.rows === 0 || other.rows === 0) return false
  // Many begin alike, before the load: only all of them together tell two apart.
  if (one.shape === 'tidy' && other.shape === 'tidy')
    return JSON.stringify(one.buckets) === JSON.stringify(other.buckets)
  const last = Math.min(one.firstRows.length, other.firstRows.length) - 1
  return last >= 0 && one.firstRows[last] === other.firstRows[last]
}
