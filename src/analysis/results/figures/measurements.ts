import type { VerdictDocument } from '../../../contract/verdict.js'
import type { OverTime } from '../stalls/over-time.js'
import type { ScanResult } from '../counts/scan-result.js'

/** Which samples a figure covers; an absent key means all of them. */
export interface Scope {
  readonly label?: string
  readonly region?: string
  readonly grid?: string
}

/** Undefined keys mean all, like absent ones. */
export type AnyScope = { readonly [Key in keyof Scope]: Scope[Key] | undefined }

/** The figures of one scope. `undefined` means that the CSVs do not have the data for the figure; it never means zero. */
export interface Figures {
  readonly samples: number
  readonly failures: number
  /** 0 to 1. */
  readonly errorRate: number | undefined
  /** Some samples are of setUp and tearDown groups, and so outside the time of the load. */
  readonly isAside?: boolean
  /** Samples of the load per second over the whole run, in every scope; undefined if it has none. */
  readonly throughput: number | undefined
  readonly meanMs: number | undefined
  readonly minMs: number | undefined
  readonly maxMs: number | undefined
  /** Mean number of concurrent users; only tidy CSVs have it. */
  readonly concurrency: number | undefined
  /** Nearest rank; `percent` is above 0 and at most 100. */
  percentileMs(percent: number): number | undefined
  /** Satisfied up to the target, tolerating up to four times the target, failed samples frustrated. */
  apdex(targetMs: number): number | undefined
  /** What percentiles and Apdex are computed from. */
  countTimes(): CountedTimes | undefined
  /** What users who arrived at any moment would have waited at least; or why that is unknown. */
  overTime(): OverTime | string
}

/** Distinct response times in ascending order, and how many samples had each; lists of equal length. */
export interface CountedTimes {
  readonly valuesMs: readonly number[]
  readonly counts: readonly number[]
  /** How many of them failed. */
  readonly failed: readonly number[]
}

export type Source = VerdictDocument['sources'][number]

/** Points of equal width; `atMs` is the start of each, from that of the first, and every list has its length. */
export type TimeSeries = NonNullable<VerdictDocument['series']>

export interface ErrorCount {
  /** Undefined if several labels are counted together. */
  readonly label: string | undefined
  /** The response code; empty if there was none. */
  readonly code: string
  /** The assertion's message, or else the response message; on one line and shortened. */
  readonly message: string
  readonly count: number
}

/** All grids' CSVs as one population, with the figures of any scope. */
export interface Measurements {
  readonly sources: readonly Source[]
  /** Epoch ms of the first start and of the last end. */
  readonly startMs: number | undefined
  readonly endMs: number | undefined
  readonly labels: readonly string[]
  readonly regions: readonly string[]
  readonly grids: readonly string[]
  readonly series: TimeSeries | undefined
  /** Of several runs end to end: where each of them but the first begins in the series. */
  readonly seamsMs?: readonly number[]
  /** The clocks of grids differ: there is nothing over time of all of them together. */
  readonly areClocksApart?: boolean
  /** Undefined if the scope has no samples. */
  figures(scope: Scope): Figures | undefined
  /** Most frequent first, at most 20 per label, then the rest as one, adding up to the failures and those of setUp and tearDown groups. Empty for tidy CSVs: they do not say. */
  errors(scope: Scope): readonly ErrorCount[]
}

/** Undefined if it is unknown what users who arrived at any moment would have waited. */
export function overTimeOf(figures: Figures | undefined): OverTime | undefined {
  const overTime = figures?.overTime()
  return typeof overTime === 'object' ? overTime : undefined
}

export function isInScope(scan: Pick<ScanResult, 'region' | 'grid'>, { region, grid }: AnyScope): boolean {
  return (region === undefined || scan.region === region) && (grid === undefined || scan.grid === grid)
}
