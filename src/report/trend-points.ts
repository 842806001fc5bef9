import type { Trend, TrendPoint } from '../analysis/baseline/build-trend.js'
import { formatMinute, when } from '../contract/text.js'
import { cutText, replaceControls, shortenCommit } from './escape.js'

const MOST_POINTS = 30
const MOST_TEXT_BYTES = 300

/** The last runs, in a form that is bounded: the document they come from is untrusted. */
export function boundTrend(trend: Trend | undefined): Trend | undefined {
  if (trend === undefined || trend.points.length === 0) return undefined
  const bands = Object.entries(trend.bands).filter(([, band]) => Object.values(band).every(Number.isFinite))
  return {
    branch: bound(trend.branch),
    points: trend.points.slice(-MOST_POINTS).map(boundPoint),
    bands: Object.fromEntries(bands)
  }
}

function boundPoint(point: TrendPoint): TrendPoint {
  return {
    ...point,
    commit: shortenCommit(point.commit),
    runId: bound(point.runId),
    unusable: point.unusable && bound(point.unusable),
    p95Ms: figure(point.p95Ms),
    throughput: figure(point.throughput),
    errorRate: figure(point.errorRate)
  }
}

function figure(value: number | undefined): number | undefined {
  return value !== undefined && Number.isFinite(value) && value >= 0 ? value : undefined
}

function bound(text: string): string {
  return cutText(replaceControls(text), MOST_TEXT_BYTES)
}

/** What sets a run apart from the others; empty for a usual one. */
export function remarkOn({ isHead, isAfterChange, unusable }: TrendPoint): string {
  return [
    ...when(isHead, 'this run'),
    ...when(isAfterChange, 'not comparable with the run before'),
    ...when(unusable !== undefined, `not used: ${unusable}`)
  ].join('; ')
}

/** Undefined for a time that no calendar has. */
export function timeOf({ atMs }: Pick<TrendPoint, 'atMs'>): string | undefined {
  return Number.isNaN(new Date(atMs).getTime()) ? undefined : formatMinute(atMs)
}
