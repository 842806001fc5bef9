import { setImmediate as turn } from 'node:timers/promises'
import { asSentence, capitalize, shorten } from '../../contract/text.js'
import type { Figures, Measurements } from '../../analysis/results/figures/measurements.js'
import { ByteScanner } from '../../analysis/results/scan/byte-scanner.js'
import { mergeScans } from '../../analysis/results/figures/merge.js'
import type { ScanResult } from '../../analysis/results/counts/scan-result.js'
import { describeAside } from '../../analysis/evidence/aside-samples.js'
import { spanOf as spanOfRows } from '../../analysis/evidence/grid-times.js'
import { mergeSamples, type NodeSamples } from '../samples/merge-samples.js'
import type { GridRecord, RunRecord, RunReport } from '../../contract/records.js'
import type { Store } from '../store/store.js'
import { type PropertyOverride, propertyValue } from '../engines/engine.js'
import { joinLines } from './findings.js'
import { findNode } from './node-book.js'
import { findRowSecrets } from './row-secrets.js'

const MAX_WORDS = 1000
/** The last moment that a `Date` can be. */
const LAST_TIME_MS = 8.64e15
const STOPPED = /^load lost: stopped by a caller(?= (?:after|before) )/gm

const REHEARSAL_WORDS = 'rehearsal, synthetic samples'

/** A node of the run, and what its file contains. */
export interface NodeFile extends NodeSamples {
  readonly grid: GridRecord
  readonly index: number
  /** Without the header; undefined if an earlier merge has put them together. */
  readonly rows?: number | undefined
  /** From the start of its first sample to the end of its last one; undefined where that is not known. */
  readonly span?: { readonly startMs: number; readonly endMs: number } | undefined
}

/** The run's results as they are in the data folder now. */
export type Results = Awaited<ReturnType<typeof mergeResults>>

/** Merges the nodes' samples into one CSV per grid and reads them on the way. */
export async function mergeResults(run: RunRecord, { store, signal }: { store: Store; signal: AbortSignal }) {
  const grids = store.gridsOf(run)
  const secrets = await findRowSecrets(run, store)
  const { asideGroups } = run
  const scans: ScanResult[] = []
  const nodes: NodeFile[] = []
  for (const grid of grids) {
    const { region, instanceQuantity } = grid.spec
    const samplesFiles = store.folder.samplesFiles(run.id, grid)
    const scanners = samplesFiles.map(() => new ByteScanner({ grid: grid.id, region, asideGroups }))
    const files = await mergeSamples({
      files: samplesFiles,
      target: store.folder.resultFile(run.id, grid.id),
      sinkOf: (index) => (rows) => scanners[index]?.push(rows),
      offsetsMs: scanners.map((_, index) => findNode(run, grid.id, index)?.clockOffsetMs ?? 0),
      secrets,
      signal
    })
    const found: ScanResult[] = []
    for (const scanner of scanners) {
      // Each of them may have a hundred thousand labels.
      await turn()
      found.push(scanner.end())
    }
    nodes.push(
      ...files.map((file, index) => {
        // The rows of a grid's only node are known even when they are in its result already.
        const scan = file.isMerged && instanceQuantity > 1 ? undefined : found[index]
        return { ...file, grid, index, rows: scan?.rows, span: scan && spanOf(scan) }
      })
    )
    scans.push(...found)
  }
  const { warnings, notes } = describeAside(scans)
  await turn()
  const unlabelled = scans.map(withoutLabels)
  const users = sumUsers(unlabelled.map((scan) => mergeScans([scan])))
  return { grids, nodes, measurements: mergeScans(unlabelled), users, notes: [...warnings, ...notes] }
}

/** The report has no figures of labels: where there are a hundred thousand, to index and sort their names takes longer than all the rest. */
function withoutLabels(scan: ScanResult): ScanResult {
  return { ...scan, parts: scan.parts.map((part) => ({ ...part, hasLabels: false })) }
}

/** Impossible times come from a plan that writes its own rows. */
function spanOf(scan: ScanResult): NodeFile['span'] {
  const span = scan.shape === 'samples' ? spanOfRows(scan) : undefined
  if (span === undefined) return undefined
  const [startMs, endMs] = [Math.round(span.fromMs), Math.round(span.toMs)]
  return startMs >= 0 && startMs <= endMs && endMs <= LAST_TIME_MS ? { startMs, endMs } : undefined
}

export function describeResults(
  run: RunRecord,
  results: Results,
  { isSynthetic, hasProblem }: { isSynthetic: boolean; hasProblem: boolean }
): { apdex: string | null; samples: number; p95Ms?: number; report: RunReport } {
  const { measurements, users } = results
  const figures = measurements.figures({})
  const targetMs = apdexTargetMs(run.request.properties)
  const score = targetMs === undefined ? undefined : figures?.apdex(targetMs)
  const p95Ms = figures?.percentileMs(95)
  const sentences = [
    ...(isSynthetic ? [`${capitalize(REHEARSAL_WORDS)}: this is not a measurement.`] : []),
    ...describeFindings(run, hasProblem),
    ...(run.warnings ?? []).map(asSentence),
    ...(figures ? describeFigures(run, results, figures) : ['No samples were recorded.']),
    ...results.notes
  ]
  return {
    apdex: score === undefined ? null : `${formatScore(score)} [${targetMs ?? ''}]`,
    samples: figures?.samples ?? 0,
    ...(p95Ms !== undefined && { p95Ms }),
    report: {
      summary: sentences.join(' '),
      mean_response_time: roundTo(figures?.meanMs, 2),
      mean_concurrency: roundTo(users?.mean, 2),
      mean_throughput: roundTo(aMinute(figures?.throughput), 2),
      mean_error_rate: roundTo(figures?.errorRate === undefined ? undefined : figures.errorRate * 100, 4),
      rehearsal: isSynthetic,
      ...(run.warnings?.length ? { warnings: run.warnings } : {})
    }
  }
}

function describeFindings({ remoteErrors }: RunRecord, hasProblem: boolean): string[] {
  if (remoteErrors === null) return []
  // A stop is reported as a fact: the reader may have asked for it.
  const found = shorten(joinLines(remoteErrors.replace(STOPPED, 'stopped')), MAX_WORDS)
  // A loss says so itself.
  const text = hasProblem ? `The run failed: ${found}` : capitalize(found)
  return [asSentence(text)]
}

/** Each node counts its own threads only, so the users of a run are the sum over its nodes. */
function sumUsers(nodes: readonly Measurements[]) {
  const counts = nodes.map((node) => (node.series?.activeThreads ?? []).filter((threads) => threads !== null))
  const known = counts.filter((threads) => threads.length > 0)
  if (known.length === 0) return undefined
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  return {
    peak: Math.round(sum(known.map((threads) => Math.max(...threads)))),
    mean: sum(known.map((threads) => sum(threads) / threads.length))
  }
}

function describeFigures(run: RunRecord, results: Results, figures: Figures): string[] {
  const { grids, measurements, users } = results
  const regions = [...new Set(grids.map((grid) => grid.spec.region))].join(', ')
  const spanMs = (measurements.endMs ?? 0) - (measurements.startMs ?? 0)
  // The mean is over the exact time, which may be shorter than the whole seconds of the series.
  const peak = measurements.series && Math.max(figures.throughput ?? 0, ...measurements.series.throughput)
  const passed = figures.samples - figures.failures
  return [
    `Up to ${count(users?.peak ?? run.request.threads ?? 0, 'user')} across ${count(grids.length, 'grid')} in ${regions} for ${describeSpan(spanMs)}.`,
    `Response time: mean ${ms(figures.meanMs)}, median ${ms(figures.percentileMs(50))}, 90th percentile ${ms(figures.percentileMs(90))}, maximum ${ms(figures.maxMs)}.`,
    `Requests per minute: maximum ${number(aMinute(peak))}, mean ${number(aMinute(figures.throughput))}.`,
    `${count(passed, 'transaction')} passed with ${number(figures.failures)} failed.`
  ]
}

function describeSpan(spanMs: number): string {
  if (spanMs < 1000) return 'less than a second'
  return spanMs < 60_000 ? count(spanMs / 1000, 'second') : count(spanMs / 60_000, 'minute', 1)
}

function aMinute(perSecond: number | undefined): number | undefined {
  return perSecond === undefined ? undefined : perSecond * 60
}

function roundTo(value: number | undefined, digits: number): number | null {
  return value === undefined ? null : Number(value.toFixed(digits))
}

function number(value: number | undefined, digits = 0): string {
  return value === undefined ? 'unknown' : value.toLocaleString('en-US', { maximumFractionDigits: digits })
}

function count(value: number, noun: string, digits = 0): string {
  const text = number(value, digits)
  return `${text} ${noun}${text === '1' ? '' : 's'}`
}

function ms(value: number | undefined): string {
  return value === undefined ? 'unknown' : `${number(value)} ms`
}

const PROPERTY = 'jmeter.reportgenerator.apdex_satisfied_threshold'
const DEFAULT_MS = 500

/** The response time up to which a user is satisfied; undefined if the override is not a whole number of ms. */
export function apdexTargetMs(properties: readonly PropertyOverride[]): number | undefined {
  const given = propertyValue(properties, PROPERTY)
  if (given === undefined) return DEFAULT_MS
  return /^[1-9]\d{0,8}$/.test(given) ? Number(given) : undefined
}

/** What is wrong with the override, if anything. */
export function checkApdexTarget(properties: readonly PropertyOverride[]): string[] {
  if (apdexTargetMs(properties) !== undefined) return []
  return [`override_parameters: ${PROPERTY} must be whole milliseconds, as in 500`]
}

/** At most four decimals and never rounded up: 0.84996 must not pass for 0.85. */
export function formatScore(score: number): string {
  const text = (Math.floor(score * 1e4 + 1e-6) / 1e4).toString()
  return text.includes('.') ? text : `${text}.0`
}
