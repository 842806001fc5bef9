import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import type { BaselineDocument, RecordedRun } from '../baseline/document/baseline-document.js'
import { BaselineDocumentError } from '../baseline/document/baseline-document.js'
import { asComparedRun } from '../baseline/document/compared.js'
import { describeDifference } from '../baseline/document/fingerprint.js'
import { recordRun, whyNotRecorded } from '../baseline/document/record-run.js'
import { addRun } from '../baseline/document/unite.js'
import { formatValue } from '../thresholds/format.js'
import type { Metric } from '../thresholds/grammar/threshold.js'
import { shorten } from '../thresholds/quoting.js'
import type { Arguments, Flag } from './arguments.js'
import { UsageError } from './arguments.js'
import { findBaselineFile, readBaselineFile, writeBaselineFile } from './baseline-file.js'
import { readFinishedRun } from './recorded-result.js'
import type { Screen } from './screen.js'
import { plain, safeJson, table } from './screen.js'

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
  const show = (metric: Metric, value: number | undefined): string =>
    value === undefined ? '–' : formatValue(metric, value)
  return [
    new Date(run.atMs).toISOString().slice(0, 16).replace('T', ' '),
    run.commit.slice(0, 7),
    shorten(run.runId, 20),
    show('samples', figures?.samples),
    show('error_rate', figures?.errorRate),
    show('percentile', figures?.percentileMs(95)),
    show('throughput', figures?.throughput),
    show('apdex', run.apdex?.score),
    run.unusable === null ? 'yes' : `no: ${shorten(run.unusable, LONGEST_REASON)}`
  ]
}
