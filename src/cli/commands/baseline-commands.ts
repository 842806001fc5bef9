import { dirname, join, resolve } from 'node:path'
import { readFile, readdir, stat } from 'node:fs/promises'
import { NotAFileError, replaceFile } from '../../contract/files.js'
import {
  encodeBaseline,
  addRun,
  BaselineDocumentError
} from '../../analysis/baseline/document/baseline-document.js'
import { readBaselineFile as readDocument } from '../../gate/baseline/baseline-file.js'
import type { BaselineDocument, RecordedRun } from '../../contract/baseline.js'
import { asComparedRun } from '../../analysis/baseline/document/compared.js'
import { describeDifference } from '../../analysis/baseline/document/fingerprint.js'
import { recordRun, whyNotRecorded } from '../../analysis/baseline/document/record-run.js'
import { formatFigure, formatValue } from '../../analysis/thresholds/format.js'
import { count, shorten } from '../../contract/text.js'
import { quote } from '../../analysis/thresholds/quoting.js'
import { regionName } from '../../contract/regions/regions.js'
import { readResults } from '../../analysis/evidence/count-results.js'
import { gapInMeasurements } from '../../analysis/evidence/decide-run.js'
import type { Measurements } from '../../analysis/results/figures/measurements.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import { flagsOf, type Arguments, UsageError } from '../arguments.js'
import { readGitHead } from '../git-head.js'
import type { CommandPorts, Runnable } from '../ports.js'
import { plain, say, table, type Screen } from '../screen.js'
import {
  fieldsOf,
  listOf,
  readEarlierVerdict,
  warmUpMsIn,
  type Fields
} from '../../gate/results/earlier-verdict.js'
import { RESULT_FILE, refuse as refuseFile } from '../result-files.js'

const DEFAULT_BRANCH = 'main'
const COMMIT = /^([0-9a-f]{40}|[0-9a-f]{64})$/i
const LONGEST_REASON = 60

export const JSON_FLAG = { json: 'Print JSON on standard output.' }

const RECORD_FLAGS = flagsOf({
  'baseline <file>': 'Baseline document (.json.gz) to add the run to; created if it is missing. Required.',
  'branch <name>': `Branch that the document is of. Default: that of the document, or ${DEFAULT_BRANCH} for a new one.`,
  'commit <sha>': 'Commit that ran, as a full SHA. Default: HEAD of the working directory.',
  ...JSON_FLAG
})

/** `loadgate baseline record <folder>`: adds a finished run to a document. */
export const record: Runnable = { flags: RECORD_FLAGS, run: runRecordCommand }

async function runRecordCommand(args: Arguments, ports: CommandPorts): Promise<number> {
  const { screen, workspace } = ports
  if (!args.has('baseline')) throw new UsageError('give the baseline document with --baseline <file>')
  const file = resolve(workspace, args.text('baseline'))
  const commit = await readCommit(args.text('commit'), workspace)
  const known = await readBaselineFile(file, screen)
  const branch = args.text('branch') || (known?.branch ?? DEFAULT_BRANCH)
  if (known !== undefined && known.branch !== branch)
    throw new UsageError(
      `${file} has the runs of branch ${shorten(known.branch)}, not ${branch}; give another file with --baseline`
    )
  const { facts, measurements, thresholds } = await readFinishedRun(resolve(workspace, args.words[0] ?? ''))
  const refusal = whyNotRecorded(measurements)
  if (refusal !== undefined) throw new UsageError(`the run is not recorded: ${refusal}`)
  const run = recordRun({ ...facts, commit }, measurements, thresholds)
  const document = add(known, run, branch)
  await writeBaselineFile(file, document)
  const { runId, unusable } = run
  const runs = document.runs.length
  const usableRuns = countUsable(document)
  const state = unusable === null ? '' : `, marked as not usable (${unusable})`
  say(
    ports,
    args,
    { runId, commit, unusable, branch, file, runs, usableRuns },
    () =>
      `Recorded run ${runId} of ${commit.slice(0, 7)} on ${branch}${state}. ${file} has ${count(runs, 'run')}, ${usableRuns} usable.`
  )
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

async function readCommit(given: string, workspace: string): Promise<string> {
  if (given !== '') {
    if (!COMMIT.test(given))
      throw new UsageError(`--commit takes a full SHA of 40 characters, found "${given}"`)
    return given.toLowerCase()
  }
  const head = await readGitHead(workspace)
  if (COMMIT.test(head)) return head
  throw new UsageError(
    `${workspace} is not a git working directory; give the commit that ran with --commit <sha>`
  )
}

/** `loadgate baseline show <file>`: what a document has, and what can be compared with what. */
export const show: Runnable = { flags: flagsOf(JSON_FLAG), run: runShowCommand }

async function runShowCommand(args: Arguments, ports: CommandPorts): Promise<number> {
  const { path, document } = await findBaselineFile(args, ports)
  say(ports, args, document, () => describeDocument(path, document))
  return 0
}

/** Before which runs nothing is comparable, and why: another plan, another load. */
export function describeChange(runs: readonly RecordedRun[], at: number): string | undefined {
  const [before, run] = [runs[at - 1], runs[at]]
  const difference = before && run && describeDifference(before.fingerprint, run.fingerprint)
  return difference && `Not comparable before ${run.commit.slice(0, 7)}: ${difference}`
}

function countUsable({ runs }: BaselineDocument): number {
  return runs.filter(({ unusable }) => unusable === null).length
}

function describeDocument(path: string, document: BaselineDocument): string {
  const { branch, runs } = document
  const usable = countUsable(document)
  const headings = ['started', 'commit', 'run', 'samples', 'errors', 'p95', 'throughput', 'apdex', 'usable']
  const changes = runs.flatMap((_, at) => describeChange(runs, at) ?? [])
  return [
    `${path}: ${count(runs.length, 'run')} on ${shorten(branch)}, ${usable} usable`,
    '',
    table(headings, runs.map(describeRun)),
    ...(changes.length > 0 ? ['', ...changes] : [])
  ].join('\n')
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

const REHEARSAL = 'a rehearsal with synthetic samples'
const ADVICE = 'only complete runs can be part of a baseline'

function refuse(why: string, cause?: unknown): never {
  throw new UsageError(why, { cause })
}

/** Reads a run back, and refuses one that must not be part of a baseline. */
async function readFinishedRun(folder: string) {
  const verdict = await readVerdict(folder)
  checkVerdict(verdict, folder)
  const files = await listCsvs(folder, verdict)
  const { gap, times, asideGroups } = await readEarlierVerdict(files.map(({ path }) => path))
  if (gap !== undefined) refuse(`${shorten(gap, 400)} It is not recorded: ${ADVICE}.`)
  // Labels that thresholds name are kept in detail.
  const lines = listOf(verdict.thresholds).map((line) => String(fieldsOf(line).text))
  const { thresholds } = parseThresholds(lines.join('\n'))
  const stallLabels = listStallLabels(thresholds)
  // The figures that are recorded leave out what those that were judged did.
  const warmUpMs = warmUpMsIn(verdict)
  if (Number.isNaN(warmUpMs)) refuse(`verdict.json in ${folder} does not say how long \`warm_up\` was`)
  const { measurements, foreign } = await readResults(
    files.map((file) => ({ ...file, stallLabels, asideGroups: asideGroups.get(file.path) })),
    { warmUpMs, times }
  )
  if (measurements === undefined || foreign.length > 0)
    return refuse(`the CSVs in ${folder} are not those of one run: ${shorten(foreign.join('; '), 400)}`)
  checkMeasurements(measurements, verdict, folder)
  const { startedMs } = fieldsOf(verdict.run)
  const { apdex: score, 'apdex-target': targetMs } = verdict
  return {
    facts: {
      runId: String(verdict['run-id']),
      // A service's clock may be ahead, and a run from the future would stay the newest until then.
      atMs: Math.min(Date.now(), typeof startedMs === 'number' ? startedMs : (measurements.startMs ?? 0)),
      unusable: verdict.rehearsal === true ? REHEARSAL : null,
      fingerprint: readFingerprint(verdict, folder),
      apdex: typeof score === 'number' && typeof targetMs === 'number' ? { score, targetMs } : null
    },
    measurements,
    thresholds
  }
}

async function readVerdict(folder: string): Promise<Fields> {
  const path = join(folder, 'verdict.json')
  const text = await readFile(path, 'utf8').catch(() =>
    refuse(`${path} cannot be read; give the folder that \`loadgate run --output\` wrote`)
  )
  try {
    return fieldsOf(JSON.parse(text))
  } catch (thrown) {
    return refuse(`${path} is not JSON, so nothing is known about the run`, thrown)
  }
}

function checkVerdict(verdict: Fields, folder: string): void {
  const alone = withoutBaseline(verdict)
  if (alone !== 'passed' && alone !== 'failed')
    refuse(
      `the run in ${folder} ended as ${quote(String(verdict.verdict))} (${shorten(String(verdict.reason), 300)}), so it is not recorded: ${ADVICE}`
    )
  if (verdict.stopped_early != null)
    refuse(`the run in ${folder} was stopped early, so it is not recorded: ${ADVICE}`)
  if (fieldsOf(verdict.baseline).kind === 'side-by-side')
    refuse(`the result in ${folder} comes from runs side by side, which are not recorded`)
  if (typeof verdict['run-id'] !== 'string')
    refuse(`verdict.json in ${folder} names no run; reports of CSVs cannot be recorded`)
}

/** The verdict as it is without lines that name `baseline`: if they could keep runs from it, a baseline would never grow. */
function withoutBaseline({ verdict, reason, thresholds }: Fields): unknown {
  const lines = listOf(thresholds)
    .map(fieldsOf)
    .filter(({ level }) => level === 'fail')
  const absolute = lines.filter(({ outcome }) => outcome === undefined)
  // A gap in the evidence is reported before any line that is inconclusive.
  const isOfLines = lines.some(
    (line) =>
      line.outcome !== undefined &&
      line.verdict === verdict &&
      /^(1 threshold is|\d+ thresholds are) \w+: /.test(String(reason)) &&
      String(reason).endsWith(`: ${String(line.reason)}`)
  )
  if (!isOfLines) return verdict
  if (absolute.some((line) => line.verdict === 'failed')) return 'failed'
  return absolute.some((line) => line.verdict === 'inconclusive') ? 'inconclusive' : 'passed'
}

function readFingerprint({ baseline }: Fields, folder: string): Readonly<Record<string, string>> {
  const { fingerprint } = fieldsOf(baseline)
  const isFingerprint =
    !Array.isArray(fingerprint) &&
    Object.keys(fieldsOf(fingerprint)).length > 0 &&
    Object.values(fieldsOf(fingerprint)).every((value) => typeof value === 'string')
  if (isFingerprint) return fingerprint as Readonly<Record<string, string>>
  return refuse(
    `verdict.json in ${folder} has no \`baseline.fingerprint\`, and without it the run cannot be compared; run it again with this version, and with --baseline other than off`
  )
}

/** Those of the run itself: runs that confirmed it are in folders of their own. */
async function listCsvs(folder: string, verdict: Fields) {
  const results = join(folder, 'results')
  const names = (await readdir(results).catch(() => [])).filter((name) => RESULT_FILE.test(name)).sort()
  if (names.length === 0)
    refuse(`${results} has no CSVs; give the folder that \`loadgate run --output\` wrote`)
  const grids = listOf(verdict.grids).map(fieldsOf)
  return names.map((name) => {
    // Further CSVs of a grid are numbered.
    const stem = name.replace(RESULT_FILE, '').replace(/\.\d+$/, '')
    const grid = grids.find(
      ({ gridId, region }) => stem === `${regionName(String(region))}-${regionName(String(gridId))}`
    )
    const path = join(results, name)
    if (grid === undefined)
      return refuse(`${path} does not belong to a grid in verdict.json; is it from another run?`)
    return { path, grid: String(grid.gridId), region: String(grid.region) }
  })
}

/** The figures must be those that were judged. */
function checkMeasurements(measurements: Measurements, verdict: Fields, folder: string): void {
  const gap = gapInMeasurements(measurements)
  if (gap !== undefined) refuse(`the CSVs in ${folder} are not complete: ${shorten(gap, 400)}`)
  const judged = fieldsOf(fieldsOf(verdict.metrics).overall).samples
  const found = measurements.figures({})?.samples
  if (judged !== found)
    refuse(
      `the CSVs in ${folder} have ${String(found)} samples, and verdict.json says ${String(judged)}: they were changed, or are from another run`
    )
}

const DOCUMENT = /\.json\.gz$/i

/** The document in a file; undefined if there is no such file. Anybody may have written it. */
async function readBaselineFile(path: string, { err }: Screen): Promise<BaselineDocument | undefined> {
  const warn = (words: string): void => void err.write(`warning: ${plain(words)}\n`)
  try {
    return await readDocument(path, { nowMs: Date.now(), warn })
  } catch (thrown) {
    if (thrown instanceof NotAFileError) throw new UsageError(thrown.message, { cause: thrown })
    if (!(thrown instanceof BaselineDocumentError)) return refuseFile(path)(thrown)
    throw new UsageError(
      `${path} cannot be used. ${thrown.problem} Give a file that \`loadgate baseline record\` or a gate wrote.`,
      { cause: thrown }
    )
  }
}

/** The same for a file that must be there, or the only document in a folder. */
export async function findBaselineFile(args: Arguments, { workspace, screen }: CommandPorts) {
  const path = await locate(resolve(workspace, args.words[0] ?? ''))
  const document = await readBaselineFile(path, screen)
  if (document === undefined)
    throw new UsageError(`there is no file ${path}; \`loadgate baseline record\` creates a baseline document`)
  return { path, document }
}

async function locate(place: string): Promise<string> {
  const facts = await stat(place).catch(() => undefined)
  if (!facts?.isDirectory()) return place
  const found = (await readdir(place)).filter((name) => DOCUMENT.test(name)).sort()
  const [only, ...others] = found
  if (only === undefined) throw new UsageError(`there is no baseline document (.json.gz) in ${place}`)
  if (others.length > 0)
    throw new UsageError(
      `${place} has ${found.length} documents (${found.slice(0, 5).join(', ')}); name one of them`
    )
  return join(place, only)
}

async function writeBaselineFile(path: string, document: BaselineDocument): Promise<void> {
  await replaceFile(path, encodeBaseline(document)).catch((thrown: unknown) => {
    const why = WRITE_PROBLEMS[(thrown as NodeJS.ErrnoException).code ?? '']
    if (why === undefined) throw thrown
    throw new UsageError(`${path} cannot be written: ${why.replace('it', `the folder ${dirname(path)}`)}`, {
      cause: thrown
    })
  })
}

const WRITE_PROBLEMS: Readonly<Record<string, string>> = {
  ...{ ENOENT: 'it does not exist', ENOTDIR: 'it does not exist', ENOSPC: 'the disk is full' },
  ...{ EACCES: 'it is not writable', EPERM: 'it is not writable', EROFS: 'it is not writable' }
}
