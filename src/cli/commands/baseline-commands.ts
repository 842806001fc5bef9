import { execFile } from 'node:child_process'
import { resolve, basename, join } from 'node:path'
import { readFile, readdir } from 'node:fs/promises'
import type { BaselineDocument, RecordedRun } from '../../contract/baseline.js'
import { BaselineDocumentError } from '../../analysis/baseline/document/baseline-document.js'
import { asComparedRun } from '../../analysis/baseline/document/compared.js'
import { describeDifference } from '../../analysis/baseline/document/fingerprint.js'
import { recordRun, whyNotRecorded, type RunToRecord } from '../../analysis/baseline/document/record-run.js'
import { addRun } from '../../analysis/baseline/document/unite.js'
import { formatFigure, formatValue } from '../../analysis/thresholds/format.js'
import type { Threshold } from '../../analysis/thresholds/grammar/threshold.js'
import { shorten } from '../../contract/text.js'
import { quote } from '../../analysis/thresholds/quoting.js'
import { regionName } from '../../contract/regions/regions.js'
import { readResults } from '../../analysis/evidence/count-results.js'
import { gapInMeasurements } from '../../analysis/evidence/decide-verdict.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import { type Arguments, type Flag, UsageError } from '../arguments.js'
import { findBaselineFile, readBaselineFile, writeBaselineFile } from './baseline-file.js'
import { type Screen, plain, safeJson, table } from '../screen.js'
import { readEarlierVerdict, warmUpMsIn } from '../earlier-verdict.js'
import { RESULT_FILE } from '../result-files.js'

export interface BaselinePorts {
  readonly screen: Screen
  readonly workspace: string
}

const DEFAULT_BRANCH = 'main'
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/i
const LONGEST_REASON = 60

export const JSON_FLAG: Flag = { name: 'json', about: 'Print JSON on standard output.' }

export const RECORD_FLAGS: readonly Flag[] = [
  {
    name: 'baseline',
    value: 'file',
    about: 'Baseline document (.json.gz) to add the run to; created if it is missing. Required.'
  },
  {
    name: 'branch',
    value: 'name',
    about: `Branch that the document is of. Default: that of the document, or ${DEFAULT_BRANCH} for a new one.`
  },
  {
    name: 'commit',
    value: 'sha',
    about: 'Commit that ran, as a full SHA. Default: HEAD of the working directory.'
  },
  JSON_FLAG
]

/** `loadgate baseline record <folder>`: adds a finished run to a document. */
export async function runRecordCommand(
  args: Arguments,
  { screen, workspace }: BaselinePorts
): Promise<number> {
  if (!args.has('baseline')) throw new UsageError('give the baseline document with --baseline <file>')
  const path = resolve(workspace, args.text('baseline'))
  const commit = await readCommit(args.text('commit'), workspace)
  const known = await readBaselineFile(path, screen)
  const branch = args.text('branch') || (known?.branch ?? DEFAULT_BRANCH)
  if (known !== undefined && known.branch !== branch)
    throw new UsageError(
      `${path} has the runs of branch ${shorten(known.branch)}, not ${branch}; give another file with --baseline`
    )
  const { facts, measurements, thresholds } = await readFinishedRun(resolve(workspace, args.words[0] ?? ''))
  const refusal = whyNotRecorded(measurements)
  if (refusal !== undefined) throw new UsageError(`the run is not recorded: ${refusal}`)
  const run = recordRun({ ...facts, commit }, measurements, thresholds)
  const document = add(known, run, branch)
  await writeBaselineFile(path, document)
  const told = args.has('json')
    ? safeJson(summarize(run, document, path))
    : `${plain(describeRecorded(run, document, path))}\n`
  screen.out.write(told)
  return 0
}

function add(known: BaselineDocument | undefined, run: RecordedRun, branch: string): BaselineDocument {
  try {
    return addRun(known, run, branch)
  } catch (thrown) {
    if (!(thrown instanceof BaselineDocumentError)) throw thrown
    throw new UsageError(`the run cannot be recorded: ${thrown.message}`, { cause: thrown })
  }
}

function summarize(
  { runId, commit, unusable }: RecordedRun,
  document: BaselineDocument,
  path: string
): object {
  return {
    runId,
    commit,
    unusable,
    branch: document.branch,
    file: path,
    runs: document.runs.length,
    usableRuns: countUsable(document)
  }
}

function describeRecorded(run: RecordedRun, document: BaselineDocument, path: string): string {
  const usable = countUsable(document)
  const state = run.unusable === null ? '' : `, marked as not usable (${run.unusable})`
  const total = document.runs.length
  return `Recorded run ${run.runId} of ${run.commit.slice(0, 7)} on ${document.branch}${state}. ${path} has ${total} ${total === 1 ? 'run' : 'runs'}, ${usable} usable.`
}

async function readCommit(given: string, workspace: string): Promise<string> {
  if (given !== '') {
    if (!COMMIT.test(given))
      throw new UsageError(`--commit takes a full SHA of 40 characters, found "${given}"`)
    return given.toLowerCase()
  }
  const head = await new Promise<string>((done) => {
    execFile('git', ['rev-parse', 'HEAD'], { cwd: workspace }, (_, out) => done(out.trim()))
  })
  if (COMMIT.test(head)) return head
  throw new UsageError(
    `${workspace} is not a git working directory; give the commit that ran with --commit <sha>`
  )
}

/** `loadgate baseline show <file>`: what a document has, and what can be compared with what. */
export async function runShowCommand(args: Arguments, { screen, workspace }: BaselinePorts): Promise<number> {
  const { path, document } = await findBaselineFile(resolve(workspace, args.words[0] ?? ''), screen)
  screen.out.write(args.has('json') ? safeJson(document) : describeDocument(path, document))
  return 0
}

function countUsable({ runs }: BaselineDocument): number {
  return runs.filter(({ unusable }) => unusable === null).length
}

function describeDocument(path: string, document: BaselineDocument): string {
  const { branch, runs } = document
  const usable = countUsable(document)
  const headings = ['started', 'commit', 'run', 'samples', 'errors', 'p95', 'throughput', 'apdex', 'usable']
  const changes = runs.flatMap((run, i) => {
    const before = runs[i - 1]
    const difference = before && describeDifference(before.fingerprint, run.fingerprint)
    return difference === undefined ? [] : [`Not comparable before ${run.commit.slice(0, 7)}: ${difference}`]
  })
  return [
    `${path}: ${runs.length} ${runs.length === 1 ? 'run' : 'runs'} on ${shorten(branch)}, ${usable} usable`,
    '',
    table(headings, runs.map(describeRun)),
    ...(changes.length > 0 ? ['', ...changes] : []),
    ''
  ]
    .map(plain)
    .join('\n')
}

function describeRun(run: RecordedRun): string[] {
  const figures = asComparedRun(run).figures({})
  return [
    new Date(run.atMs).toISOString().slice(0, 16).replace('T', ' '),
    run.commit.slice(0, 7),
    shorten(run.runId, 20),
    ...['samples', 'error_rate', 'p95', 'throughput'].map((name) => formatFigure(name, figures)),
    run.apdex === null ? '–' : formatValue('apdex', run.apdex.score),
    run.unusable === null ? 'yes' : `no: ${shorten(run.unusable, LONGEST_REASON)}`
  ]
}

type Fields = Readonly<Record<string, unknown>>

/** A finished run, read back from the folder that `loadgate run --output` wrote. */
export interface FinishedRun {
  readonly facts: Omit<RunToRecord, 'commit'>
  readonly measurements: Measurements
  readonly thresholds: readonly Threshold[]
}

const REHEARSAL = 'a rehearsal with synthetic samples'
const ADVICE = 'only complete runs can be part of a baseline'

/** Reads a run back, and refuses one that must not be part of a baseline. */
async function readFinishedRun(folder: string): Promise<FinishedRun> {
  const verdict = await readVerdict(folder)
  checkVerdict(verdict, folder)
  const files = await listCsvs(folder, verdict)
  const { gap, times } = await readEarlierVerdict(files.map(({ path }) => path))
  if (gap !== undefined) throw new UsageError(`${shorten(gap, 400)} It is not recorded: ${ADVICE}.`)
  const thresholds = readThresholds(verdict)
  const stallLabels = listStallLabels(thresholds)
  const { measurements, foreign } = await readResults(
    files.map((file) => ({ ...file, stallLabels })),
    { warmUpMs: readWarmUpMs(verdict, folder), times }
  )
  if (measurements === undefined || foreign.length > 0)
    throw new UsageError(
      `the CSVs in ${folder} are not those of one run: ${shorten(foreign.join('; '), 400)}`
    )
  checkMeasurements(measurements, verdict, folder)
  const startedMs = fieldsOf(verdict.run).startedMs
  return {
    facts: {
      runId: String(verdict['run-id']),
      // A service's clock may be ahead, and a run from the future would be the newest for as long.
      atMs: Math.min(Date.now(), typeof startedMs === 'number' ? startedMs : (measurements.startMs ?? 0)),
      unusable: verdict.rehearsal === true ? REHEARSAL : null,
      fingerprint: readFingerprint(verdict, folder),
      apdex: readApdex(verdict)
    },
    measurements,
    thresholds
  }
}

async function readVerdict(folder: string): Promise<Fields> {
  const path = join(folder, 'verdict.json')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text === undefined)
    throw new UsageError(`${path} cannot be read; give the folder that \`loadgate run --output\` wrote`)
  try {
    return fieldsOf(JSON.parse(text))
  } catch (thrown) {
    throw new UsageError(`${path} is not JSON, so nothing is known about the run`, { cause: thrown })
  }
}

/** The figures that are recorded leave out what those that were judged did. */
function readWarmUpMs(verdict: Fields, folder: string): number {
  const ms = warmUpMsIn(verdict)
  if (Number.isNaN(ms))
    throw new UsageError(`verdict.json in ${folder} does not say how long \`warm_up\` was`)
  return ms
}

function checkVerdict(verdict: Fields, folder: string): void {
  const { verdict: word, reason } = verdict
  const alone = withoutBaseline(verdict)
  if (alone !== 'passed' && alone !== 'failed')
    throw new UsageError(
      `the run in ${folder} ended as ${quote(String(word))} (${shorten(String(reason), 300)}), so it is not recorded: ${ADVICE}`
    )
  const isStopped = ['stopped-early', 'stopped_early', 'stoppedEarly'].some((key) => isThere(verdict[key]))
  if (isStopped)
    throw new UsageError(`the run in ${folder} was stopped early, so it is not recorded: ${ADVICE}`)
  if (fieldsOf(verdict.baseline).kind === 'side-by-side')
    throw new UsageError(`the result in ${folder} is of runs side by side, which are not recorded`)
  if (typeof verdict['run-id'] !== 'string')
    throw new UsageError(`verdict.json in ${folder} names no run; reports of CSVs cannot be recorded`)
}

/** The verdict as it is without lines that name `baseline`: if they could keep runs from it, a baseline would never grow. */
function withoutBaseline(verdict: Fields): unknown {
  const lines = listThresholds(verdict).filter(({ level }) => level === 'fail')
  const compared = lines.filter(({ outcome }) => outcome !== undefined)
  const absolute = lines.filter(({ outcome }) => outcome === undefined)
  // A gap in the evidence is reported before any line that is inconclusive.
  const isOfLines = compared.some(
    (line) =>
      line.verdict === verdict.verdict &&
      /^(1 threshold is|\d+ thresholds are) \w+: /.test(String(verdict.reason)) &&
      String(verdict.reason).endsWith(`: ${String(line.reason)}`)
  )
  if (!isOfLines) return verdict.verdict
  if (absolute.some((line) => line.verdict === 'failed')) return 'failed'
  return absolute.some((line) => line.verdict === 'inconclusive') ? 'inconclusive' : 'passed'
}

function readFingerprint(verdict: Fields, folder: string): Readonly<Record<string, string>> {
  const fingerprint = fieldsOf(verdict.baseline).fingerprint
  const parts = Object.entries(fieldsOf(fingerprint))
  if (
    parts.length === 0 ||
    Array.isArray(fingerprint) ||
    parts.some(([, value]) => typeof value !== 'string')
  )
    throw new UsageError(
      `verdict.json in ${folder} has no \`baseline.fingerprint\`, and without it the run cannot be compared; run it again with this version, and with --baseline other than off`
    )
  return Object.fromEntries(parts.map(([key, value]) => [key, String(value)]))
}

/** Those of the run itself: runs that confirmed it are in folders of their own. */
async function listCsvs(
  folder: string,
  verdict: Fields
): Promise<{ path: string; grid: string; region: string }[]> {
  const results = join(folder, 'results')
  const names = (await readdir(results).catch(() => [])).filter((name) => RESULT_FILE.test(name)).sort()
  if (names.length === 0)
    throw new UsageError(`${results} has no CSVs; give the folder that \`loadgate run --output\` wrote`)
  const grids = (Array.isArray(verdict.grids) ? verdict.grids : []).map(fieldsOf)
  return names.map((name) => {
    const stem = basename(name).replace(RESULT_FILE, '')
    // Further CSVs of a grid are numbered.
    const grid = grids.find(
      ({ gridId, region }) => stem.replace(/\.\d+$/, '') === `${regionName(String(region))}-${String(gridId)}`
    )
    if (grid === undefined)
      throw new UsageError(
        `${join(results, name)} is of no grid that verdict.json names; is it of another run?`
      )
    return { path: join(results, name), grid: String(grid.gridId), region: String(grid.region) }
  })
}

/** The figures must be those that were judged. */
function checkMeasurements(measurements: Measurements, verdict: Fields, folder: string): void {
  const gap = gapInMeasurements(measurements)
  if (gap !== undefined) throw new UsageError(`the CSVs in ${folder} are not complete: ${shorten(gap, 400)}`)
  const judged = fieldsOf(fieldsOf(verdict.metrics).overall).samples
  const found = measurements.figures({})?.samples
  if (judged !== found)
    throw new UsageError(
      `the CSVs in ${folder} have ${String(found)} samples, and verdict.json says ${String(judged)}: they were changed, or are of another run`
    )
}

function readApdex(verdict: Fields): RunToRecord['apdex'] {
  const { apdex: score, 'apdex-target': targetMs } = verdict
  return typeof score === 'number' && typeof targetMs === 'number' ? { score, targetMs } : null
}

/** Labels that thresholds name are kept in detail. */
function readThresholds(verdict: Fields): readonly Threshold[] {
  const texts = listThresholds(verdict).map(({ text }) => String(text))
  return parseThresholds(texts.join('\n')).thresholds
}

function listThresholds({ thresholds }: Fields): Fields[] {
  return (Array.isArray(thresholds) ? thresholds : []).map(fieldsOf)
}

function isThere(value: unknown): boolean {
  return value !== undefined && value !== null && value !== false
}

function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}
