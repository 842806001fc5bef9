import { open } from 'node:fs/promises'
import type { RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'

const NEWLINE = 0x0a
const BLOCK_BYTES = 1024 * 1024

interface Counted {
  /** By the nodes' files: how far each was read, and the lines so far. */
  readonly files: Map<string, { position: number; lines: number }>
  /** Of its samples, added to the total. */
  samples: number
}

/** How many samples all runs have had since the service started: rows of running ones, and the final number of others. */
export class SampleCount {
  readonly #runs = new Map<string, Counted>()
  #total = 0
  #counting: Promise<unknown> = Promise.resolve()

  constructor(private readonly store: Store) {}

  /** A run has changed; its number of samples is known once its results are merged. */
  note(run: RunRecord): void {
    if (run.samples === null || (this.#runs.get(run.id)?.samples ?? 0) >= run.samples) return
    const counted = this.#open(run)
    counted.files.clear()
    this.#credit(counted, run.samples)
  }

  /** How many runs are remembered. */
  get size(): number {
    return this.#runs.size
  }

  /** Its samples have been counted; it is not to be noted again. */
  forget({ id }: RunRecord): void {
    this.#runs.delete(id)
  }

  /** One after the other, since two readers must not add the same rows. */
  total(): Promise<number> {
    const counting = this.#counting.then(() => this.#count())
    this.#counting = counting.catch(() => undefined)
    return counting
  }

  async #count(): Promise<number> {
    for (const run of this.store.unsettledRuns())
      if (run.status === 'running' || run.status === 'stopping') await this.#countRun(run)
    return this.#total
  }

  async #countRun(run: RunRecord): Promise<void> {
    const counted = this.#open(run)
    for (const grid of this.store.gridsOf(run)) {
      for (let index = 0; index < grid.spec.instanceQuantity; index++) {
        const { samplesFile } = this.store.folder.nodeFiles({ runId: run.id, gridId: grid.id, index })
        const file = counted.files.get(samplesFile) ?? { position: 0, lines: 0 }
        counted.files.set(samplesFile, file)
        await countLines(samplesFile, file)
      }
    }
    // The first line of each is its header.
    const samples = [...counted.files.values()].reduce((sum, { lines }) => sum + Math.max(0, lines - 1), 0)
    this.#credit(counted, samples)
  }

  #open({ id }: RunRecord): Counted {
    const counted = this.#runs.get(id) ?? { files: new Map(), samples: 0 }
    this.#runs.set(id, counted)
    return counted
  }

  /** A counter never goes back. */
  #credit(counted: Counted, samples: number): void {
    this.#total += Math.max(0, samples - counted.samples)
    counted.samples = Math.max(samples, counted.samples)
  }
}

async function countLines(path: string, file: { position: number; lines: number }): Promise<void> {
  // Not there yet, or no longer.
  const handle = await open(path).catch(() => undefined)
  if (!handle) return
  try {
    const block = Buffer.allocUnsafe(BLOCK_BYTES)
    for (;;) {
      const { bytesRead } = await handle.read(block, 0, BLOCK_BYTES, file.position)
      if (bytesRead === 0) return
      file.position += bytesRead
      const read = block.subarray(0, bytesRead)
      for (let at = read.indexOf(NEWLINE); at !== -1; at = read.indexOf(NEWLINE, at + 1)) file.lines++
    }
  } finally {
    await handle.close()
  }
}
