import { appendFile, rm } from 'node:fs/promises'
import { cutHeader } from '../../analysis/results/csv/header.js'
import { readOn, RowRewriter, type GrowingFile } from '../samples/sample-rows.js'
import { RowCutter } from '../samples/row-cutter.js'
import { RowRedactor } from '../samples/row-redactor.js'
import { findNode } from './node-book.js'
import { findRowSecrets } from './row-secrets.js'
import { hasEnded, type GridRecord, type RunRecord } from '../../contract/records.js'
import type { RunData } from '../store/store.js'

const CHUNK_BYTES = 1 << 20

interface ShownFile {
  readonly file: string
  readonly bytes: number
}

/** The file of a node, and how far it was read. */
interface Source extends GrowingFile {
  readonly cutter: RowCutter
  readonly redactor: RowRedactor
  readonly index: number
  /** Known when its first rows come. */
  rewriter: RowRewriter | undefined
}

/**
 * The samples of grids whose run has not ended, as one growing CSV per grid: one header, complete rows only, and bytes
 * never move, so that a reader can continue where it was. The nodes' rows follow each other as they are found; with several
 * nodes, thread names begin with the node, as in the results.
 */
export class LiveSamples {
  readonly #grids = new Map<string, LiveGrid>()

  constructor(private readonly store: RunData) {}

  /** The file of the grid, and how many bytes of it can be shown; undefined as long as there are none. */
  async find(run: RunRecord, grid: GridRecord): Promise<ShownFile | undefined> {
    for (const [key, { run: other }] of this.#grids) if (hasEnded(other)) this.#grids.delete(key)
    const key = `${run.id} ${grid.id}`
    const live = this.#grids.get(key) ?? new LiveGrid(run, grid, this.store)
    this.#grids.set(key, live)
    return live.read()
  }
}

class LiveGrid {
  #sources: readonly Source[] | undefined
  #bytes = 0
  /** The only node's own file, if its rows are shown as they are: a copy would take as much disk space again. Otherwise our file. */
  #file = ''
  #hasSecrets = false
  #header: Buffer | undefined
  #isBroken = false
  #reading: Promise<unknown> = Promise.resolve()

  constructor(
    readonly run: RunRecord,
    private readonly grid: GridRecord,
    private readonly store: RunData
  ) {}

  /** One after the other: two requests at a time must not add the same rows twice. */
  read(): Promise<ShownFile | undefined> {
    const reading = this.#reading.then(() => this.#readOn())
    this.#reading = reading.catch(() => undefined)
    return reading
  }

  async #readOn(): Promise<ShownFile | undefined> {
    this.#sources ??= await this.#open()
    for (const source of this.#sources) if (!this.#isBroken) await this.#follow(source)
    return this.#isBroken || this.#bytes === 0 ? undefined : { file: this.#file, bytes: this.#bytes }
  }

  async #open(): Promise<Source[]> {
    const { run } = this
    const secrets = await findRowSecrets(run, this.store)
    this.#hasSecrets = secrets.length > 0
    // An earlier service may have left one, with the rows in another order.
    await rm(this.store.folder.liveFile(run.id, this.grid.id), { force: true })
    return this.store.folder.samplesFiles(run.id, this.grid).map((file, index) => ({
      file,
      cutter: new RowCutter(),
      redactor: new RowRedactor(secrets),
      index,
      rewriter: undefined,
      position: 0
    }))
  }

  async #follow(source: Source): Promise<void> {
    const isThere = await readOn(source, Buffer.alloc(CHUNK_BYTES), async (bytes) => {
      const rows = source.cutter.push(bytes)
      this.#isBroken ||= source.cutter.isBroken
      if (rows.length > 0) await this.#add(source, rows)
      return !this.#isBroken
    })
    // A node that has not started has no file yet; one that disappears has become part of the results.
    if (!isThere) this.#isBroken ||= source.position > 0
  }

  async #add(source: Source, rows: Buffer): Promise<void> {
    const skipped = source.rewriter === undefined ? this.#skipHeader(rows) : 0
    source.rewriter ??= this.#startRows(source)
    if (this.#file === source.file) {
      this.#bytes += rows.length
      return
    }
    source.redactor.cover(rows)
    // The header does not change.
    const shown = source.rewriter.push(rows).subarray(skipped)
    await appendFile(this.#file, shown).catch((thrown: unknown) => {
      // On a full disk, some of it may have been written: the offset of the next rows is unknown.
      this.#isBroken = true
      throw thrown
    })
    this.#bytes += shown.length
  }

  #startRows({ index, file }: Source): RowRewriter {
    const offsetMs = findNode(this.run, this.grid.id, index)?.clockOffsetMs ?? 0
    const node = this.grid.spec.instanceQuantity > 1 ? index : undefined
    const isAsItIs = offsetMs === 0 && node === undefined && !this.#hasSecrets
    this.#file = isAsItIs ? file : this.store.folder.liveFile(this.run.id, this.grid.id)
    return new RowRewriter({ offsetMs, node })
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
}
