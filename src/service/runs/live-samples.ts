import { appendFile, rm } from 'node:fs/promises'
import { cutHeader } from '../../analysis/results/csv/header.js'
import { RowRewriter } from '../samples/row-rewriter.js'
import { readOn, type GrowingFile } from '../samples/sample-rows.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRedactor } from '../samples/row-redactor.js'
import { findNode } from './node-book.js'
import { findRowSecrets } from './row-secrets.js'
import { hasEnded, type GridRecord, type RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'

const CHUNK_BYTES = 1 << 20

/** A part of a file; `end` is the offset after its last byte. */
export interface FilePart {
  readonly file: string
  readonly start: number
  readonly end: number
}

/** One node's file, as far as it was read. */
interface Source extends GrowingFile {
  readonly cutter: RowCutter
  readonly redactor: RowRedactor
  /** The node's, from 0. */
  readonly index: number
  /** Known when its first rows come; undefined if they are shown as they are. */
  rewriter: RowRewriter | undefined
  wholeBytes: number
}

/**
 * The samples of grids whose run has not ended, as one growing CSV per grid: one header, complete rows only, and what was once at
 * an offset stays there, so that a reader can continue where it was. The nodes' rows follow each other as they are found; with several
 * nodes, thread names begin with the node, as in the results.
 */
export class LiveSamples {
  readonly #store: Store
  readonly #grids = new Map<string, LiveGrid>()

  constructor(store: Store) {
    this.#store = store
  }

  /** Undefined as long as there is nothing to show. */
  async partsOf(run: RunRecord, grid: GridRecord): Promise<readonly FilePart[] | undefined> {
    this.#forgetEnded()
    const key = `${run.id} ${grid.id}`
    const live = this.#grids.get(key) ?? new LiveGrid(run, grid, this.#store)
    this.#grids.set(key, live)
    return live.read()
  }

  #forgetEnded(): void {
    for (const [key, { run }] of this.#grids) if (hasEnded(run)) this.#grids.delete(key)
  }
}

class LiveGrid {
  readonly run: RunRecord
  readonly #store: Store
  readonly #grid: GridRecord
  #sources: readonly Source[] | undefined
  #hasSecrets = false
  /** In the file of rows that are not shown as the nodes wrote them. */
  #changedBytes = 0
  #header: Buffer | undefined
  #isBroken = false
  readonly #parts: FilePart[] = []
  #reading: Promise<unknown> = Promise.resolve()

  constructor(run: RunRecord, grid: GridRecord, store: Store) {
    this.run = run
    this.#grid = grid
    this.#store = store
  }

  /** One after the other: two requests at a time must not add the same rows twice. */
  read(): Promise<readonly FilePart[] | undefined> {
    const reading = this.#reading.then(() => this.#readOn())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  async #readOn(): Promise<readonly FilePart[] | undefined> {
    this.#sources ??= await this.#open()
    for (const source of this.#sources) await this.#follow(source)
    return this.#isBroken || this.#parts.length === 0 ? undefined : [...this.#parts]
  }

  async #open(): Promise<Source[]> {
    const { run } = this
    const secrets = await findRowSecrets(run, this.#store)
    const nodes = Array.from({ length: this.#grid.spec.instanceQuantity }, (_, index) =>
      this.#store.folder.nodeFiles({ runId: run.id, gridId: this.#grid.id, index })
    )
    this.#hasSecrets = secrets.length > 0
    // An earlier service may have left one, with the rows in another order.
    await rm(this.#store.folder.liveFile(run.id, this.#grid.id), { force: true })
    return nodes.map(({ samplesFile }, index) => ({
      file: samplesFile,
      cutter: new RowCutter(),
      redactor: new RowRedactor(secrets),
      index,
      rewriter: undefined,
      position: 0,
      wholeBytes: 0
    }))
  }

  async #follow(source: Source): Promise<void> {
    const isThere = await readOn(source, Buffer.alloc(CHUNK_BYTES), async (bytes) => {
      const rows = source.cutter.push(bytes)
      this.#isBroken ||= source.cutter.isBroken
      if (rows.length > 0) await this.#add(source, rows)
    })
    // A node that has not started has no file yet; one that disappears has become part of the results.
    if (!isThere) this.#isBroken ||= source.position > 0
  }

  async #add(source: Source, rows: Buffer): Promise<void> {
    const start = source.wholeBytes
    source.wholeBytes += rows.length
    const skipped = start === 0 ? this.#skipHeader(rows) : 0
    if (start === 0) source.rewriter = this.#rewriterOf(source)
    if (source.rewriter === undefined && !this.#hasSecrets) {
      this.#append({ file: source.file, start: start + skipped, end: source.wholeBytes })
      return
    }
    source.redactor.cover(rows)
    // The header does not change.
    const shown = (source.rewriter?.push(rows) ?? rows).subarray(skipped)
    const file = this.#store.folder.liveFile(this.run.id, this.#grid.id)
    await appendFile(file, shown).catch((thrown: unknown) => {
      // Some of it may have been written, on a disk that is full: nobody knows at which offset the next rows would be.
      this.#isBroken = true
      throw thrown
    })
    this.#append({ file, start: this.#changedBytes, end: this.#changedBytes + shown.length })
    this.#changedBytes += shown.length
  }

  #rewriterOf({ index }: Source): RowRewriter | undefined {
    const offsetMs = findNode(this.run, this.#grid.id, index)?.clockOffsetMs ?? 0
    const node = this.#grid.spec.instanceQuantity > 1 ? index : undefined
    return offsetMs === 0 && node === undefined ? undefined : new RowRewriter({ offsetMs, node })
  }

  /** The first header is shown; rows below another one cannot be shown with the others. */
  #skipHeader(rows: Buffer): number {
    const length = cutHeader(rows, true)?.length ?? 0
    const header = rows.subarray(0, length)
    if (this.#header === undefined) {
      this.#header = Buffer.from(header)
      return 0
    }
    this.#isBroken ||= !header.equals(this.#header)
    return length
  }

  #append(part: FilePart): void {
    if (part.start === part.end) return
    const last = this.#parts.at(-1)
    if (last?.file === part.file && last.end === part.start)
      this.#parts[this.#parts.length - 1] = { ...last, end: part.end }
    else this.#parts.push(part)
  }
}
