import { messageOf } from '../../contract/text.js'
import { createId, DataFolder, probeFolder } from './data-folder.js'
import { type GridRecord, isSettled, type RunRecord } from '../../contract/records.js'
import { matchesFilter, type RunListRequest, type RunPage, type Store } from './store.js'

const PROBE_BYTES = 20

/** For a service that ends with the step it is in: nobody comes after it who could use what it wrote down. */
export class MemoryStore implements Store {
  readonly folder: DataFolder
  readonly #runs = new Map<string, RunRecord>()
  readonly #grids = new Map<string, GridRecord>()
  readonly #marker = createId()

  constructor(dataDir: string) {
    this.folder = new DataFolder(dataDir)
  }

  run(id: string): RunRecord | undefined {
    return this.#runs.get(id)
  }

  grid(id: string): GridRecord | undefined {
    return this.#grids.get(id)
  }

  gridsOf({ gridIds }: RunRecord): GridRecord[] {
    return gridIds.flatMap((id) => this.#grids.get(id) ?? [])
  }

  listRuns({ filter = {}, offset, limit }: RunListRequest): RunPage {
    const found = [...this.#runs.values()].reverse().filter((run) => matchesFilter(run, filter))
    return { runs: found.slice(offset, offset + limit), total: found.length }
  }

  unsettledRuns(): RunRecord[] {
    return [...this.#runs.values()].filter((run) => !isSettled(run))
  }

  activeGrids(): GridRecord[] {
    return [...this.#grids.values()].filter(({ status }) => status !== 'stopped')
  }

  nextSequence(): number {
    return this.#runs.size + 1
  }

  create({ run, grids }: { run?: RunRecord; grids: readonly GridRecord[] }): void {
    for (const grid of grids) this.saveGrid(grid)
    if (run) this.saveRun(run)
  }

  saveRun(run: RunRecord): void {
    this.#runs.set(run.id, run)
  }

  saveGrid(grid: GridRecord): void {
    this.#grids.set(grid.id, grid)
  }

  flush(): void {
    return
  }

  secure(): Promise<void> {
    return Promise.resolve()
  }

  /** The step's own state knows them. */
  saveProcess(): void {
    return
  }

  forgetProcess(): void {
    return
  }

  leftoverProcesses(): [] {
    return []
  }

  marker(): string {
    return this.#marker
  }

  /** Nobody else uses the folder; but better no start than a plan that finds no space. */
  claim(): void {
    const { path } = this.folder
    try {
      probeFolder(path, PROBE_BYTES)
    } catch (thrown) {
      throw new Error(
        `the data folder ${path} cannot be written to (${messageOf(thrown)}); free up space, or choose another folder`,
        { cause: thrown }
      )
    }
  }

  close(): void {
    return
  }
}
