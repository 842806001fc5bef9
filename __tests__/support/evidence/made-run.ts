import { Choice } from '../data/seeded-choice.js'
import { gridDocument, runDocument } from '../fake-documents.js'
import { CSV_HEADER } from '../gate/gate-service.js'

/** A sample, by the clock of its grid. */
export interface MadeRow {
  readonly startMs: number
  readonly elapsedMs: number
  readonly user: number
  readonly isFailure: boolean
}

export interface MadeGrid {
  readonly id: string
  readonly nodeCount: number
  readonly status: string
  /** The states of the nodes that the service lists. */
  readonly nodes: readonly string[]
  readonly users: number
  readonly rows: readonly MadeRow[]
  /** Where its results are; undefined where the service leaves the address to its caller. */
  readonly href?: string
}

/** A run and everything that the service says about it. */
export interface MadeRun {
  readonly id: string
  readonly durationSeconds: number
  /** By the service's clock; undefined if it does not say. */
  readonly startedMs: number | undefined
  readonly stoppedMs: number | undefined
  readonly grids: readonly MadeGrid[]
  /** How times are written. */
  readonly writeTime: (ms: number) => string
}

const APDEX_TARGET_MS = 500
const DAY_MS = Date.UTC(2026, 2, 1, 10)
/** Less than the slack that the gate allows for clocks. */
const LARGEST_CLOCK_MS = 45_000
/** Machines on demand may start when the load of others has ended. */
const LATEST_MS = 180_000

export const asEpoch = (ms: number): string => String(ms)
const asDate = (ms: number): string => new Date(ms).toISOString()
export const asZonelessDate = (ms: number): string => asDate(ms).slice(0, -1).replace('T', ' ')

/** A run as runs are: grids that start apart, clocks that hardly differ, samples that fail now and then. The same for the same seed. */
export function makeRun(seed: number): MadeRun {
  const choice = new Choice(seed * 31 + 7)
  const durationSeconds = choice.between(60, 240)
  const startedMs = DAY_MS + choice.between(0, 3_600_000)
  const areApart = choice.chance(0.3)
  const grids = Array.from({ length: choice.between(2, 4) }, (_, index): MadeGrid => {
    const bootMs = choice.between(0, 20_000) + (areApart && index > 0 ? choice.between(0, LATEST_MS) : 0)
    const users = choice.between(1, 5)
    const nodeCount = choice.between(1, 3)
    return {
      id: `grid${index + 1}`,
      nodeCount,
      status: choice.of(['started', 'stopped', 'running', 'finished']),
      nodes: choice.chance(0.5)
        ? []
        : Array.from({ length: nodeCount }, () => choice.of(['running', 'stopping'])),
      users,
      rows: makeRows(choice, { users, fromMs: startedMs + bootMs, durationSeconds })
    }
  })
  const lastMs = Math.max(...grids.flatMap(({ rows }) => rows.map(endOf)))
  const isTold = choice.chance(0.8)
  return {
    id: 'run1',
    durationSeconds,
    startedMs: isTold ? startedMs : undefined,
    stoppedMs: isTold ? lastMs + choice.between(0, 20_000) : undefined,
    grids: grids.map((grid) => shiftGrid(grid, choice.between(-LARGEST_CLOCK_MS, LARGEST_CLOCK_MS))),
    writeTime: choice.of([asEpoch, asEpoch, asDate, asZonelessDate])
  }
}

interface Load {
  readonly users: number
  readonly fromMs: number
  readonly durationSeconds: number
}

/** Users who send one request after the other until the time is over. */
function makeRows(choice: Choice, { users, fromMs, durationSeconds }: Load): MadeRow[] {
  const typicalMs = choice.between(20, 600)
  const thinkMs = choice.between(100, 1_500)
  const failures = choice.of([0, 0, 0.02, 0.3])
  const rows: MadeRow[] = []
  for (let user = 1; user <= users; user++)
    for (let atMs = fromMs + choice.between(0, 900); atMs < fromMs + durationSeconds * 1000;) {
      const elapsedMs = Math.round(typicalMs * (choice.between(50, 200) / 100))
      rows.push({ startMs: atMs, elapsedMs, user, isFailure: choice.chance(failures) })
      atMs += elapsedMs + choice.between(0, 2 * thinkMs)
    }
  return rows.sort((one, other) => endOf(one) - endOf(other))
}

export function endOf({ startMs, elapsedMs }: MadeRow): number {
  return startMs + elapsedMs
}

export function shiftGrid(grid: MadeGrid, ms: number): MadeGrid {
  return { ...grid, rows: grid.rows.map((row) => ({ ...row, startMs: row.startMs + ms })) }
}

export function changeGrid(run: MadeRun, index: number, change: (grid: MadeGrid) => MadeGrid): MadeRun {
  return { ...run, grids: run.grids.map((grid, i) => (i === index ? change(grid) : grid)) }
}

export function csvOf({ rows, users }: MadeGrid, { writeTime }: MadeRun): string {
  const lines = rows.map(({ startMs, elapsedMs, user, isFailure }) => {
    const outcome = isFailure ? '500,no' : '200,OK'
    return `${writeTime(startMs)},${elapsedMs},home,${outcome},t 1-${user},${!isFailure},512,${users}`
  })
  return `${[CSV_HEADER, ...lines].join('\n')}\n`
}

/** Of all samples, as the service computes it. */
function apdexOf({ grids }: MadeRun): string {
  const rows = grids.flatMap((grid) => grid.rows)
  const points = rows.map(({ elapsedMs, isFailure }) => {
    if (isFailure || elapsedMs > 4 * APDEX_TARGET_MS) return 0
    return elapsedMs > APDEX_TARGET_MS ? 0.5 : 1
  })
  const score = points.reduce<number>((sum, point) => sum + point, 0) / Math.max(1, rows.length)
  return `${score.toFixed(2)} [${APDEX_TARGET_MS}]`
}

/** As the service shows it after its end. */
export function documentOf(run: MadeRun, serviceUrl: string): Record<string, unknown> {
  const time = (ms: number | undefined): string | null => (ms === undefined ? null : asDate(ms))
  const document = runDocument({
    ...{ id: run.id, status: 'finished', serviceUrl, tags: [], apdex: apdexOf(run) },
    ...{ grids: [], permalink: 'https://service.example/run1', duration: run.durationSeconds },
    ...{ started: time(run.startedMs), stopped: time(run.stoppedMs) }
  })
  return {
    ...document,
    _embedded: {
      grids: run.grids.map((grid) => ({
        ...gridDocument(grid),
        nodes: grid.nodes.map((state, index) => ({ ip: `10.0.0.${index + 1}`, state }))
      })),
      files: [],
      results: run.grids.map(({ id, href }) => ({
        name: id,
        region: 'us-east-1',
        href: href ?? `${serviceUrl}/api/runs/${run.id}/result.csv?grid_id=${id}`
      }))
    }
  }
}
