import type { Figures, Measurements } from '../results/measurements.js'
import { createScanner, mergeScans, type ScanResult } from '../results/scanner.js'
import { apdexTargetMs, formatScore } from './apdex.js'
import { mergeSamples } from './merge-samples.js'
import type { GridRecord, RunRecord, RunReport } from './records.js'
import type { Store } from './store.js'

const MAX_WORDS = 1000

/** The words that everything which shows made-up samples has to carry. */
export const REHEARSAL_WORDS = 'rehearsal, synthetic samples'

interface End {
  readonly store: Store
  readonly grids: readonly GridRecord[]
  /** Grids that ended before the run did. */
  readonly endedEarly: readonly string[]
  readonly synthetic: boolean
}

interface Users {
  readonly peak: number
  readonly mean: number
}

/** Joins the nodes' samples into one CSV a grid, and says in figures and words what they hold. */
export async function describeEnd(
  run: RunRecord,
  end: End
): Promise<{ apdex: string | null; samples: number; report: RunReport }> {
  const { measurements, users } = await collect(run, end)
  const figures = measurements.figures({})
  const targetMs = apdexTargetMs(run.request.properties)
  const score = targetMs === undefined ? undefined : figures?.apdex(targetMs)
  return {
    apdex: score === undefined ? null : `${formatScore(score)} [${targetMs ?? ''}]`,
    samples: figures?.samples ?? 0,
    report: {
      summary: summarise(run, end, { measurements, figures, users }),
      mean_response_time: roundTo(figures?.meanMs, 2),
      mean_concurrency: roundTo(users?.mean, 2),
      mean_throughput: roundTo(aMinute(figures?.throughput), 2),
      mean_error_rate: roundTo(figures?.errorRate === undefined ? undefined : figures.errorRate * 100, 4),
      rehearsal: end.synthetic
    }
  }
}

async function collect(
  run: RunRecord,
  end: End
): Promise<{ measurements: Measurements; users: Users | undefined }> {
  const scans: ScanResult[] = []
  for (const grid of end.grids) {
    const { region, instanceQuantity } = grid.spec
    const scanners = Array.from({ length: instanceQuantity }, () => createScanner({ grid: grid.id, region }))
    await mergeSamples({
      files: scanners.map(
        (_, index) => end.store.nodeFiles({ runId: run.id, gridId: grid.id, index }).samplesFile
      ),
      target: end.store.resultFile(run.id, grid.id),
      sinkOf: (index) => (rows) => scanners[index]?.push(rows)
    })
    scans.push(...scanners.map((scanner) => scanner.end()))
  }
  return { measurements: mergeScans(scans), users: sumUsers(scans.map((scan) => mergeScans([scan]))) }
}

/** Each node counts its own threads only, so the users of a run are the sum over its nodes. */
function sumUsers(nodes: readonly Measurements[]): Users | undefined {
  const counts = nodes.map((node) => (node.series?.activeThreads ?? []).filter((threads) => threads !== null))
  const known = counts.filter((threads) => threads.length > 0)
  if (known.length === 0) return undefined
  const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)
  return {
    peak: Math.round(sum(known.map((threads) => Math.max(...threads)))),
    mean: sum(known.map((threads) => sum(threads) / threads.length))
  }
}

function summarise(
  run: RunRecord,
  end: End,
  found: { measurements: Measurements; figures: Figures | undefined; users: Users | undefined }
): string {
  const sentences = [
    ...(end.synthetic ? [`${capitalise(REHEARSAL_WORDS)}: this is no measurement.`] : []),
    ...(run.remoteErrors === null ? [] : [`The run ended badly: ${shorten(run.remoteErrors)}`]),
    ...end.endedEarly.map((grid) => `Grid ${grid} ended before the run did.`),
    ...(found.figures
      ? describeFigures(run, end, { ...found, figures: found.figures })
      : ['No samples were taken.'])
  ]
  return sentences.join(' ')
}

function describeFigures(
  run: RunRecord,
  end: End,
  found: { measurements: Measurements; figures: Figures; users: Users | undefined }
): string[] {
  const { figures, measurements, users } = found
  const regions = [...new Set(end.grids.map((grid) => grid.spec.region))].join(', ')
  const minutes = ((measurements.endMs ?? 0) - (measurements.startMs ?? 0)) / 60_000
  const peak = measurements.series && Math.max(...measurements.series.throughput)
  const passed = figures.samples - figures.failures
  return [
    `Up to ${count(users?.peak ?? run.request.threads ?? 0, 'user')} across ${count(end.grids.length, 'grid')} in ${regions} for ${count(minutes, 'minute', 1)}.`,
    `Response time: mean ${ms(figures.meanMs)}, median ${ms(figures.percentileMs(50))}, 90th percentile ${ms(figures.percentileMs(90))}, maximum ${ms(figures.maxMs)}.`,
    `Requests a minute: maximum ${number(aMinute(peak))}, mean ${number(aMinute(figures.throughput))}.`,
    `${count(passed, 'transaction')} passed with ${number(figures.failures)} failed.`
  ]
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

function shorten(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim()
  return line.length > MAX_WORDS ? `${line.slice(0, MAX_WORDS)}…` : line
}

function capitalise(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
