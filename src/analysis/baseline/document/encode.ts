import { gzipSync } from 'node:zlib'
import type { BaselineDocument, RecordedRun, RecordedScope } from '../../../contract/baseline.js'
import { BaselineDocumentError, withoutHistogram, MOST_BYTES, MOST_TEXT_BYTES } from './baseline-document.js'

/** How much of a document is kept. */
interface Kept {
  /** Labels that no threshold names, with histograms. */
  readonly histograms: number
  /** Labels that no threshold names. */
  readonly labels: number
  /** Histograms of what is left: overall, regions, labels that thresholds name. 1 or 0. */
  readonly otherHistograms: number
  /** Labels that thresholds name. */
  readonly namedLabels: number
  readonly runs: number
}

/** What is dropped first, and the least that must stay of it. */
const STAGES: readonly (readonly [keyof Kept, least: number])[] = [
  ['histograms', 0],
  ['labels', 0],
  ['otherHistograms', 0],
  ['namedLabels', 0],
  ['runs', 1]
]

/** Half of what a reader accepts, because a reader must never refuse what was written. */
const MOST_WRITTEN_TEXT = MOST_TEXT_BYTES / 2
const MOST_WRITTEN_BYTES = MOST_BYTES - 1
/** Sizes are only roughly proportional. */
const CAUTION = 0.95

/** A document as bytes; without them if it is too large, which a size above 1 says. */
interface Attempt {
  readonly kept: Kept
  readonly size: number
  readonly bytes?: Uint8Array
}

/**
 * The document as gzipped JSON, below 1 MiB. If it is too large, histograms are dropped first, then the labels with the fewest
 * samples, the same in all runs; those that thresholds name stay as long as anything else is there, and the oldest runs go last.
 */
export function encodeBaseline(document: BaselineDocument): Uint8Array {
  const ranks = rankLabels(document)
  const attempt = (kept: Kept): Attempt => ({ kept, ...compress(trim(document, kept, ranks)) })
  let last = attempt({
    histograms: ranks.unnamed.size,
    labels: ranks.unnamed.size,
    otherHistograms: 1,
    namedLabels: ranks.named.size,
    runs: document.runs.length
  })
  for (const [name, least] of STAGES) {
    if (last.bytes !== undefined) break
    if (last.kept[name] > least) last = shrink(last, name, { least, attempt })
  }
  if (last.bytes === undefined)
    throw new BaselineDocumentError('a single run is too large for a baseline document')
  return last.bytes
}

/** Drops as much of one kind as is needed, or all of it: two sizes tell about how much is needed. Compressing is what takes the time. */
function shrink(
  whole: Attempt,
  name: keyof Kept,
  { least, attempt }: { least: number; attempt: (kept: Kept) => Attempt }
): Attempt {
  const none = attempt({ ...whole.kept, [name]: least })
  let large = whole
  while (none.bytes !== undefined) {
    const share = (CAUTION * (1 - none.size)) / (large.size - none.size)
    const count = Math.floor(least + (large.kept[name] - least) * Math.min(CAUTION, share))
    if (count <= least) break
    large = attempt({ ...whole.kept, [name]: count })
    if (large.bytes !== undefined) return large
  }
  return none
}

function compress(document: BaselineDocument): { bytes?: Uint8Array; size: number } {
  const text = Buffer.from(JSON.stringify(document))
  if (text.length > MOST_WRITTEN_TEXT) return { size: text.length / MOST_WRITTEN_TEXT }
  const bytes = gzipSync(text)
  const size = bytes.length / MOST_WRITTEN_BYTES
  return size > 1 ? { size } : { bytes, size }
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
