import { BASELINE_SCHEMA, baselineSchema, recordedRunSchema, MOST_RUNS } from '../../../contract/baseline.js'
import type { RecordedScope, BaselineDocument, RecordedRun } from '../../../contract/baseline.js'
import { shorten } from '../../../contract/text.js'
import { gunzipSync, gzipSync } from 'node:zlib'
import { type Schema, decode } from '../../../contract/decode.js'
import { isObject } from '../../../contract/setting-values.js'

const MOST_RUNS_WITH_HISTOGRAMS = 10

/** A document that cannot be used. The message says why, and what to do. */
export class BaselineDocumentError extends Error {
  override name = 'BaselineDocumentError'

  /** The problem alone is for files that may be anything: the user must not be told to remove those. */
  constructor(
    readonly problem: string,
    { advice, cause }: { readonly advice?: string; readonly cause?: unknown } = {}
  ) {
    super(advice === undefined ? problem : `${problem} ${advice}`, { cause })
  }
}

export function withoutHistogram(scope: RecordedScope): RecordedScope {
  const bare: { -readonly [Key in keyof RecordedScope]: RecordedScope[Key] } = { ...scope }
  delete bare.histogram
  return bare
}

/** What a document may hold at most, when it is written and when it is read: everybody may have written it. */
export const MOST_BYTES = 1024 * 1024
/** Decompressed. */
const MOST_TEXT_BYTES = 16 * 1024 * 1024

/** The clock of the service that gave the times may be ahead. */
const CLOCK_SLACK_MS = 3_600_000
const MOST_NAMED = 3

/** The document without runs that are later than it can have: one of them would be the newest for years. `words` say which ones. */
export function leaveOutFutureRuns(document: BaselineDocument, latestMs: number) {
  const isEarlier = ({ atMs }: { readonly atMs: number }): boolean => atMs <= latestMs + CLOCK_SLACK_MS
  const future = document.runs.filter((run) => !isEarlier(run))
  if (future.length === 0) return { document, words: undefined }
  const named = future
    .slice(0, MOST_NAMED)
    .map(({ runId, commit, atMs }) => `${shorten(runId)} of ${commit.slice(0, 7)}, ${formatTime(atMs)}`)
  const more = future.length > MOST_NAMED ? `; and ${future.length - MOST_NAMED} more` : ''
  return {
    document: { ...document, runs: document.runs.filter(isEarlier) },
    words: `${future.length === 1 ? 'a recorded run is' : `${future.length} recorded runs are`} from the future (after ${formatTime(latestMs)}) and left out: ${named.join('; ')}${more}`
  }
}

function formatTime(ms: number): string {
  return new Date(ms).toISOString().slice(0, 19).replace('T', ' ')
}

const ADVICE = 'Remove it, and the next run on the branch records a new one.'

/** Reads a document that anybody may have written: what is not exactly as expected is refused, and nothing takes long or much memory. */
export function decodeBaseline(bytes: Uint8Array): BaselineDocument {
  const found = parse(decompress(bytes))
  if (isObject(found) && found.schema !== BASELINE_SCHEMA) throw wrongSchema(found.schema)
  const document = read(baselineSchema, found)
  const late = document.runs.findIndex(({ atMs }, i) => atMs < (document.runs[i - 1]?.atMs ?? 0))
  if (late >= 0) throw damaged(`runs[${late}].atMs`, 'is before the run that precedes it')
  return document
}

function read<T>(schema: Schema<T>, value: unknown, within?: string): T {
  const decoded = decode(schema, value, within)
  if ('value' in decoded) return decoded.value
  throw damaged(decoded.at || 'the document', decoded.message)
}

/** Says where in the document something is wrong. Its values are not quoted: anybody may have written them. */
function damaged(where: string, what: string): BaselineDocumentError {
  return refuse(`is damaged or was changed: ${where} ${what}.`)
}

function refuse(problem: string, { advice = ADVICE, cause }: { advice?: string; cause?: unknown } = {}) {
  return new BaselineDocumentError(`The baseline document ${problem}`, { advice, cause })
}

function decompress(bytes: Uint8Array): Buffer {
  if (bytes.length > MOST_BYTES)
    throw refuse(
      `is too large: ${bytes.length.toLocaleString('en-US')} bytes, and at most ${MOST_BYTES.toLocaleString('en-US')} are read.`
    )
  try {
    return gunzipSync(bytes, { maxOutputLength: MOST_TEXT_BYTES })
  } catch (thrown) {
    const { code, message } = thrown as NodeJS.ErrnoException
    const reason =
      code === 'ERR_BUFFER_TOO_LARGE'
        ? `is too large: decompressed it has more than ${MOST_TEXT_BYTES.toLocaleString('en-US')} bytes`
        : `is not a complete gzip file ("${message}")`
    throw refuse(`${reason}.`, { cause: thrown })
  }
}

function parse(text: Buffer): unknown {
  try {
    return JSON.parse(text.toString())
  } catch (thrown) {
    throw refuse('is not JSON.', { cause: thrown })
  }
}

function wrongSchema(schema: unknown): BaselineDocumentError {
  const isNewer = typeof schema === 'number' && schema > BASELINE_SCHEMA
  const found = typeof schema === 'number' ? String(schema) : 'none'
  const advice = `${isNewer ? 'Use the version that wrote it, or remove it to' : 'Remove it to'} start a new baseline.`
  return refuse(`has schema ${found}, and this version reads schema ${BASELINE_SCHEMA}.`, { advice })
}

interface Kept {
  /** Labels that no threshold names, with histograms. */
  readonly histograms: number
  /** Labels that no threshold names. */
  readonly labels: number
  /** Histograms of what is left: overall, regions, labels that thresholds name. 1 or 0. */
  readonly otherHistograms: number
  readonly namedLabels: number
  readonly runs: number
}

/** What is dropped first. */
const STAGES = ['histograms', 'labels', 'otherHistograms', 'namedLabels', 'runs'] as const

/** Half of what a reader accepts, because a reader must never refuse what was written. */
const MOST_WRITTEN_TEXT = MOST_TEXT_BYTES / 2
/** How much of one kind is left after each step. */
const KEPT_SHARE = 0.7

/** Gzipped JSON below 1 MiB. If too large, it loses histograms, then labels with few samples, labels that thresholds name, and old runs. */
export function encodeBaseline(document: BaselineDocument): Uint8Array {
  const ranks = rankLabels(document)
  const attempt = (some: Kept): Uint8Array | undefined => compress(trim(document, some, ranks))
  const { unnamed, named } = ranks
  const labels = { histograms: unnamed.size, labels: unnamed.size, namedLabels: named.size }
  let kept: Kept = { ...labels, otherHistograms: 1, runs: document.runs.length }
  let bytes = attempt(kept)
  for (const name of STAGES) {
    if (bytes !== undefined) break
    const least = name === 'runs' ? 1 : 0
    const { [name]: all } = kept
    kept = { ...kept, [name]: least }
    // How many fit is worth finding out only if it is small enough without them: compressing is what takes the time.
    if (attempt(kept) === undefined) continue
    for (let count = all; bytes === undefined;) {
      count = Math.max(least, Math.floor(count * KEPT_SHARE))
      bytes = attempt({ ...kept, [name]: count })
    }
  }
  if (bytes === undefined)
    throw new BaselineDocumentError('a single run is too large for a baseline document')
  return bytes
}

/** Undefined if it is too large. */
function compress(document: BaselineDocument): Uint8Array | undefined {
  const text = Buffer.from(JSON.stringify(document))
  if (text.length > MOST_WRITTEN_TEXT) return undefined
  const bytes = gzipSync(text)
  return bytes.length < MOST_BYTES ? bytes : undefined
}

interface Ranks {
  /** The place of each label, from 0; the one with the most samples in all runs comes first. */
  readonly unnamed: ReadonlyMap<string, number>
  readonly named: ReadonlyMap<string, number>
}

function rankLabels({ runs }: BaselineDocument): Ranks {
  const samples = new Map<string, number>()
  const named = new Set<string>()
  for (const scope of runs.flatMap(({ scopes }) => scopes)) {
    if (scope.label === undefined) continue
    if (scope.named) named.add(scope.label)
    if (scope.region === undefined) samples.set(scope.label, (samples.get(scope.label) ?? 0) + scope.samples)
  }
  const ranked = [...samples].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)).map(([label]) => label)
  const place = (labels: readonly string[]) => new Map(labels.map((label, i) => [label, i]))
  return {
    unnamed: place(ranked.filter((label) => !named.has(label))),
    named: place(ranked.filter((label) => named.has(label)))
  }
}

function trim(document: BaselineDocument, kept: Kept, ranks: Ranks): BaselineDocument {
  const trimScope = (scope: RecordedScope): RecordedScope[] => {
    const other = kept.otherHistograms > 0 ? scope : withoutHistogram(scope)
    if (scope.label === undefined) return [other]
    const named = ranks.named.get(scope.label)
    if (named !== undefined) return named < kept.namedLabels ? [other] : []
    const place = ranks.unnamed.get(scope.label) ?? Infinity
    return place < kept.labels ? [place < kept.histograms ? scope : withoutHistogram(scope)] : []
  }
  const trimRun = (run: RecordedRun): RecordedRun => ({ ...run, scopes: run.scopes.flatMap(trimScope) })
  return { ...document, runs: document.runs.slice(document.runs.length - kept.runs).map(trimRun) }
}

/** The documents of recorders that raced as one: each run once, by time. The order of the documents does not matter. */
export function mergeBaselines(documents: readonly BaselineDocument[]): BaselineDocument {
  const [first] = documents
  if (first === undefined) throw new BaselineDocumentError('there is no baseline document to merge')
  const other = documents.find(({ branch }) => branch !== first.branch)
  if (other !== undefined) throw differentBranches(first.branch, other.branch)
  const runs = new Map<string, RecordedRun>()
  for (const run of documents.flatMap((document) => document.runs)) {
    const known = runs.get(keyOf(run))
    runs.set(keyOf(run), known === undefined ? run : choose(known, run))
  }
  return arrange(first.branch, [...runs.values()])
}

/** Adds a run to the document of its branch, or makes a new one. A run that was recorded before is replaced. */
export function addRun(
  document: BaselineDocument | undefined,
  run: RecordedRun,
  branch: string
): BaselineDocument {
  if (document !== undefined && document.branch !== branch) throw differentBranches(document.branch, branch)
  const others = (document?.runs ?? []).filter((known) => keyOf(known) !== keyOf(run))
  // What is written must be accepted when it is read again.
  return arrange(branch, [...others, read(recordedRunSchema, run, `runs[${others.length}]`)])
}

function arrange(branch: string, runs: readonly RecordedRun[]): BaselineDocument {
  const kept = [...runs].sort(byTime).slice(-MOST_RUNS)
  const firstDetailed = kept.length - MOST_RUNS_WITH_HISTOGRAMS
  return {
    schema: BASELINE_SCHEMA,
    branch,
    runs: kept.map((run, i) =>
      i < firstDetailed ? { ...run, scopes: run.scopes.map(withoutHistogram) } : run
    )
  }
}

function keyOf({ runId, commit }: RecordedRun): string {
  return JSON.stringify([runId, commit])
}

function byTime(a: RecordedRun, b: RecordedRun): number {
  return a.atMs - b.atMs || (keyOf(a) < keyOf(b) ? -1 : 1)
}

/** Documents are trimmed by their size, so one may know more of a run than another. What speaks against a run is never lost. */
function choose(a: RecordedRun, b: RecordedRun): RecordedRun {
  if ((a.unusable === null) !== (b.unusable === null)) return a.unusable === null ? b : a
  const [one, other] = [a, b].map((run) => JSON.stringify(run)) as [string, string]
  const order = other.length - one.length || (one <= other ? -1 : 1)
  return order <= 0 ? a : b
}

function differentBranches(one: string, other: string): BaselineDocumentError {
  return new BaselineDocumentError(
    `baseline documents of different branches, ${shorten(one)} and ${shorten(other)}, do not belong together; use one document per branch`
  )
}
