import { resolve } from 'node:path'
import type { BaselineDocument } from '../baseline/document/baseline-document.js'
import { describeDifference } from '../baseline/document/fingerprint.js'
import { buildTrend } from '../baseline/build-trend.js'
import type { Trend } from '../baseline/trend.js'
import { shorten } from '../thresholds/quoting.js'
import type { Arguments } from './arguments.js'
import { UsageError } from './arguments.js'
import { findBaselineFile } from './baseline-file.js'
import type { BaselinePorts } from './baseline-commands.js'
import { plain, safeJson } from './screen.js'
import { drawTrend, newestThatFit } from './trend-chart.js'

export interface TrendPorts extends BaselinePorts {
  /** Whether the terminal shows more than ASCII. */
  readonly isUnicode?: boolean
}

/** The default of the input `noise`. */
const NOISE = 0.05
const DEFAULT_COLUMNS = 80
const MOST_REMARKS = 10

/** `loadgate trend <file or folder>`: the last runs of a branch as charts. */
export async function runTrendCommand(args: Arguments, ports: TrendPorts): Promise<number> {
  const { out } = ports.screen
  const place = resolve(ports.workspace, args.words[0] ?? '')
  const { path, document } = await findBaselineFile(place, ports.screen)
  const trend = buildTrend(document, undefined, { noise: NOISE })
  if (trend === undefined) throw new UsageError(`${path} has no runs yet`)
  if (args.has('json')) {
    out.write(safeJson(trend))
    return 0
  }
  const columns = out.isTTY ? (out.columns ?? DEFAULT_COLUMNS) : DEFAULT_COLUMNS
  const isUnicode = out.isTTY === true && ports.isUnicode === true
  const drawn = newestThatFit(trend, columns)
  const lines = [
    titleOf(drawn, document.runs.length),
    '',
    ...drawTrend(drawn, { columns, isUnicode }),
    ...remarksOn(document, drawn),
    ''
  ]
  out.write(lines.map(plain).join('\n'))
  return 0
}

function titleOf({ branch, points }: Trend, total: number): string {
  const day = (atMs: number | undefined): string => new Date(atMs ?? 0).toISOString().slice(0, 10)
  const runs =
    total === 1 ? 'The only run' : `The last ${points.length} ${points.length === 1 ? 'run' : 'runs'}`
  return `${runs} on ${shorten(branch)}, ${day(points[0]?.atMs)} to ${day(points.at(-1)?.atMs)}`
}

/** Why runs are not usable, and what changed; the newest ones. */
function remarksOn({ runs }: BaselineDocument, { points }: Trend): string[] {
  const remarks = points.flatMap(({ runId, commit, unusable, isAfterChange }) => {
    const at = runs.findIndex((run) => run.runId === runId && run.commit === commit)
    const [before, run] = [runs[at - 1], runs[at]]
    const difference =
      isAfterChange && before && run ? describeDifference(before.fingerprint, run.fingerprint) : undefined
    const short = commit.slice(0, 7)
    return [
      ...(difference === undefined ? [] : [`Not comparable before ${short}: ${difference}`]),
      ...(unusable === undefined ? [] : [`Not usable, ${short}: ${shorten(unusable)}`])
    ]
  })
  return remarks.length === 0 ? [] : ['', ...remarks.slice(-MOST_REMARKS)]
}
