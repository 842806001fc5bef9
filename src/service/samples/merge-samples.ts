import { lstat, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { findOddity, openRegular, truncateRegular } from '../regular-file.js'
import { readThreads, RowRewriter, SampleRows } from './sample-rows.js'
import { redactSamples } from './row-redactor.js'
import { RowCutter } from './row-cutter.js'

const CHUNK_BYTES = 1 << 20

export interface NodeSamples {
  readonly hasRows: boolean
  /** Bytes after the last complete row: a truncated row, or one with an unclosed quote. */
  readonly restBytes: number
  /** The rest is not a truncated row: it is longer than any row can be. */
  readonly isBroken: boolean
  /** The rows could not be merged with the other nodes' because the header differs. */
  readonly hasOtherColumns: boolean
  /** Only the result was there, so that it is unknown which rows are this node's. */
  readonly isMerged?: boolean
  /** What is where its file should be, such as `a pipe`: nothing of it was read. */
  readonly oddity?: string | undefined
}

interface Merge {
  readonly files: readonly string[]
  readonly target: string
  /** What receives the complete rows of a node's file as bytes, including the header. */
  readonly sinkOf: (index: number) => (rows: Uint8Array) => void
  /** Secrets to redact in the files before anyone reads them, in every form. */
  readonly secrets?: readonly string[]
  /** How far each node's clock is ahead of this machine's: its times are corrected on the way, its file is not. */
  readonly offsetsMs?: readonly number[]
  /** Stops the work when time is up; the nodes' files stay as they were. */
  readonly signal?: AbortSignal
}

type Survey = Awaited<ReturnType<typeof survey>>

const NO_SAMPLES: NodeSamples = { hasRows: false, restBytes: 0, isBroken: false, hasOtherColumns: false }

/**
 * Merges the nodes' files into one CSV, without rows that a kill truncated. A grid's only file is moved, which needs no space on a full
 * disk. With several, `allThreads` becomes the grid's, and thread names begin with the node.
 */
export async function mergeSamples(merge: Merge): Promise<NodeSamples[]> {
  const { files, target, secrets = [], signal } = merge
  const isThere = await Promise.all(files.map(isFile))
  const oddities = await Promise.all(files.map(findOddity))
  if (!isThere.includes(true) && oddities.every((oddity) => oddity === undefined) && (await isFile(target))) {
    // A service killed between merging and recording it leaves only the result.
    const { samples } = await survey(target, 0, { ...merge, offsetsMs: [] })
    return files.map(() => ({ ...samples, restBytes: 0, isMerged: true }))
  }
  for (const file of secrets.length === 0 ? [] : files.filter((_, index) => isThere[index]))
    await redactSamples(file, secrets, signal)
  const surveys: (Survey | undefined)[] = []
  for (const [index, file] of files.entries())
    surveys.push(isThere[index] ? await survey(file, index, merge) : undefined)
  const written = surveys.flatMap((found) => (found && found.wholeBytes > 0 ? [found] : []))
  const header = written[0]?.header ?? Buffer.alloc(0)
  const [first, ...others] = written.filter((found) => found.header.equals(header))
  makeFolder(dirname(target))
  if (first && others.length === 0 && first.offsetMs === 0) {
    await truncateRegular(first.file, first.wholeBytes)
    await rename(first.file, target)
  } else await writeRows(first ? [first, ...others] : [], target, signal)
  return surveys.map((found, index) => {
    if (found === undefined) return { ...NO_SAMPLES, oddity: oddities[index] }
    return { ...found.samples, hasOtherColumns: found.wholeBytes > 0 && !found.header.equals(header) }
  })
}

async function isFile(path: string): Promise<boolean> {
  const found = await lstat(path).catch(() => undefined)
  return found?.isFile() ?? false
}

/** Reads the file of the node with this index, from 0; up to `wholeBytes` it consists of complete rows. */
async function survey(file: string, index: number, merge: Merge) {
  const offsetMs = merge.offsetsMs?.[index] ?? 0
  const sink = merge.sinkOf(index)
  const rewriter = new RowRewriter({ offsetMs })
  const cutter = new RowCutter()
  const threads = new ThreadProfile()
  const sampleRows = new SampleRows()
  let header: Buffer = Buffer.alloc(0)
  let wholeBytes = 0
  for await (const chunk of readChunks(file)) {
    merge.signal?.throwIfAborted()
    const written = cutter.push(chunk)
    // The rest may have a hole of any size.
    if (cutter.isBroken) break
    if (written.length === 0) continue
    const rows = rewriter.push(written)
    sink(rows)
    const start = sampleRows.takeHeader(rows)
    if (start > 0) header = Buffer.from(rows.subarray(0, start))
    const { at } = sampleRows
    if (merge.files.length > 1 && at)
      sampleRows.split(rows.subarray(start), (row, isWhole) => {
        const found = isWhole ? readThreads(row, at) : undefined
        if (found) threads.add(found.endMs, found.threads)
      })
    wholeBytes += written.length
  }
  const { isBroken } = cutter
  const restBytes = isBroken ? (await lstat(file)).size - wholeBytes : cutter.restBytes
  const samples = { hasRows: wholeBytes > header.length, restBytes, isBroken, hasOtherColumns: false }
  return { file, index, offsetMs, header, wholeBytes, threads, samples }
}

async function* readChunks(file: string): AsyncIterable<Buffer> {
  const stream = (await openRegular(file)).createReadStream({ highWaterMark: CHUNK_BYTES })
  yield* stream as AsyncIterable<Buffer>
}

async function writeRows(surveys: readonly Survey[], target: string, signal?: AbortSignal): Promise<void> {
  const draft = `${target}.part`
  try {
    await writeFile(draft, mergeRows(surveys, signal))
    await rename(draft, target)
  } catch (thrown) {
    // A partial result would only take up the space that is missing.
    await rm(draft, { force: true }).catch(() => undefined)
    throw thrown
  }
}

async function* mergeRows(surveys: readonly Survey[], signal?: AbortSignal): AsyncGenerator<Buffer> {
  for (const { file, header, index, offsetMs, threads } of surveys) {
    const others = surveys.map((other) => other.threads).filter((other) => other !== threads)
    const node = others.length === 0 ? {} : { node: index, othersAt: sumOf(others) }
    const rewriter = new RowRewriter({ offsetMs, ...node })
    const cutter = new RowCutter()
    let skipped = index === surveys[0]?.index ? 0 : header.length
    for await (const chunk of readChunks(file)) {
      signal?.throwIfAborted()
      const rows = rewriter.push(cutter.push(chunk))
      if (cutter.isBroken) break
      if (rows.length === 0) continue
      yield rows.subarray(skipped)
      skipped = 0
    }
  }
}

/** Rows of the same second are adjacent, so the other nodes' threads are looked up once per second. */
function sumOf(others: readonly ThreadProfile[]): (endMs: number) => number {
  let known = { second: -1, sum: 0 }
  return (endMs) => {
    const second = Math.floor(endMs / BUCKET_MS)
    if (second !== known.second)
      known = { second, sum: others.reduce((total, other) => total + other.at(endMs), 0) }
    return known.sum
  }
}

const BUCKET_MS = 1000

/** How many threads a node had over time, by its samples: the maximum of each second. */
export class ThreadProfile {
  readonly #most = new Map<number, number>()
  #buckets: number[] | undefined

  add(atMs: number, threads: number): void {
    this.#buckets = undefined
    const bucket = Math.floor(atMs / BUCKET_MS)
    this.#most.set(bucket, Math.max(threads, this.#most.get(bucket) ?? 0))
  }

  /** The last known number at this time; 0 before the first sample and after the last one. */
  at(timeMs: number): number {
    const buckets = (this.#buckets ??= [...this.#most.keys()].sort((a, b) => a - b))
    const wanted = Math.floor(timeMs / BUCKET_MS)
    let from = 0
    let to = buckets.length
    while (from < to) {
      const middle = (from + to) >> 1
      if ((buckets[middle] ?? 0) <= wanted) from = middle + 1
      else to = middle
    }
    const found = buckets[from - 1]
    const isOver = from === buckets.length && found !== wanted
    return found === undefined || isOver ? 0 : (this.#most.get(found) ?? 0)
  }
}
