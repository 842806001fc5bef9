import { stat } from 'node:fs/promises'
import type { GridFacts } from '../../analysis/outcome.js'
import type { ResultFile } from '../../analysis/results/parallel/scan-stretch.js'
import { messageOf } from '../../contract/text.js'
import type { RunRecord } from '../../contract/records.js'
import { openRegular } from '../regular-file.js'
import type { RunData } from '../store/store.js'

const NEWLINE = 0x0a

/** Why results cannot be used now. They may be back later: a backup is being restored, a disk mounted, a permission corrected. */
export interface ResultsProblem {
  /** Undefined if it is unknown which one. */
  readonly gridId: string | undefined
  readonly words: string
  /** For the operator, with the file's name. */
  readonly detail: string
}

/** Reads the results of a run; `found` is undefined if the disk failed meanwhile, which can happen at any byte. */
export async function readResults<T>(
  run: RunRecord,
  store: RunData,
  read: (files: readonly ResultFile[]) => Promise<T>
): Promise<{ readonly found: T | undefined; readonly problems: readonly ResultsProblem[] }> {
  const files: ResultFile[] = []
  const problems: ResultsProblem[] = []
  const grids = store.gridsOf(run)
  const { asideGroups } = run
  for (const id of run.gridIds)
    if (!grids.some((grid) => grid.id === id))
      problems.push(describeFailure(new Error('it has no record'), id))
  for (const { id, spec } of grids) {
    const path = store.folder.resultFile(run.id, id)
    try {
      // A copy that is not complete yet, for example.
      const [words, detail] = [`grid ${id}: its results end within a row`, `${path} ends within a row`]
      if (!(await lookAt(path)).endsWithRow) problems.push({ gridId: id, words, detail })
      files.push({ path, grid: id, region: spec.region, asideGroups })
    } catch (thrown) {
      problems.push(describeFailure(thrown, id))
    }
  }
  try {
    return { found: await read(files), problems }
  } catch (thrown) {
    if (codeOf(thrown) === undefined) throw thrown
    return { found: undefined, problems: [...problems, describeFailure(thrown)] }
  }
}

/** The grids of a run, with the size of their results; undefined if they are not there. */
export async function describeGrids(
  run: RunRecord,
  problems: readonly ResultsProblem[],
  store: RunData
): Promise<GridFacts[]> {
  const facts = store.gridsOf(run).map(async ({ id, spec }) => {
    const bytes = (await stat(store.folder.resultFile(run.id, id)).catch(() => undefined))?.size
    const problem = problems.find(({ gridId }) => gridId === id)?.words
    return {
      ...{ gridId: id, region: spec.region, nodeCount: spec.instanceQuantity },
      ...(bytes !== undefined && { bytes }),
      ...(problem !== undefined && { problem })
    }
  })
  return Promise.all(facts)
}

export function describeUnreadable({ id }: RunRecord, detail: string): string {
  return `the results of run ${id} cannot be read: ${detail}`
}

/** Its size, and whether it is complete. Throws if it cannot be read. */
export async function lookAt(path: string): Promise<{ size: number; endsWithRow: boolean }> {
  const handle = await openRegular(path)
  try {
    const { size } = await handle.stat()
    const { buffer } = await handle.read(Buffer.alloc(1), 0, 1, Math.max(0, size - 1))
    return { size, endsWithRow: size === 0 || buffer[0] === NEWLINE }
  } finally {
    await handle.close()
  }
}

function describeFailure(thrown: unknown, gridId?: string): ResultsProblem {
  const code = codeOf(thrown)
  const what = code === 'ENOENT' ? 'are not there' : `cannot be read${code === undefined ? '' : ` (${code})`}`
  const words = gridId === undefined ? `the results ${what}` : `grid ${gridId}: its results ${what}`
  return { gridId, words, detail: messageOf(thrown) }
}

function codeOf(thrown: unknown): string | undefined {
  const { code, syscall } = thrown as NodeJS.ErrnoException
  return syscall === undefined ? undefined : code
}
