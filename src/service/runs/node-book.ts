import type { NodeSet } from '../nodes/load-node.js'
import type { GridRecord, NodeRecord, RunRecord, GridSpec } from '../../contract/records.js'

/** A grid of a run with its nodes; there are none if it ended before the run was continued. */
export interface RunGrid {
  readonly grid: GridRecord
  readonly set: NodeSet | undefined
}

/** Nodes that started further apart generated only part of the load for a while. */
const SPREAD_TO_DOUBT_MS = 1000
/** From here on that is not the load that was requested. */
const SHARE_OF_DURATION_LOST = 0.1
const SHORTEST_LOSS_MS = 2000

export interface Spread {
  readonly words: string
  /** What it did to the load; undefined if that is not worth reporting. */
  readonly effect: { readonly isLoss: boolean; readonly words: string } | undefined
}

interface Work {
  readonly node: NodeRecord
  readonly startMs: number
  readonly endMs: number | undefined
}

/** Keeps what is known about a run's nodes in its record. */
export class NodeBook {
  readonly #endsMs = new Map<NodeRecord, number>()

  /** Keeps what an earlier service recorded. */
  constructor(
    private readonly run: RunRecord,
    private readonly grids: readonly RunGrid[]
  ) {
    run.nodes = grids.flatMap(({ grid, set }) =>
      shareThreads(grid.spec, run.request.threads).map((threads, index) => {
        const number = index + 1
        const known = findNode(run, grid.id, index)
        const place = set?.factsOf(index).place ?? known?.place ?? 'unknown'
        return { ...(known ?? blankRecord(grid, number, threads)), place }
      })
    )
  }

  of(grid: GridRecord, index: number): NodeRecord | undefined {
    return findNode(this.run, grid.id, index)
  }

  /** Copies what the node's place knows about it. */
  update(grid: GridRecord, index: number): void {
    const record = this.of(grid, index)
    const facts = this.#factsOf(grid, index)
    if (record === undefined || facts === undefined) return
    const { place, cpuLimit, restarts, throttled, clockOffsetMs } = facts
    const startedMs = facts.startedMs ?? record.startedMs
    Object.assign(record, { place, startedMs, cpuLimit, restarts, throttled, clockOffsetMs })
  }

  #factsOf(grid: GridRecord, index: number): ReturnType<NodeSet['factsOf']> | undefined {
    return this.grids.find((other) => other.grid === grid)?.set?.factsOf(index)
  }

  /** The nodes were told to start: from here on their rows arrive, which need their clocks. */
  noteGo(atMs: number): void {
    for (const { grid } of this.grids)
      for (let index = 0; index < grid.spec.instanceQuantity; index++) {
        this.update(grid, index)
        const record = this.of(grid, index)
        if (record && record.threads !== 0) record.startedMs ??= atMs
      }
  }

  /** A node has ended; its place knows best when. */
  noteEnd(grid: GridRecord, index: number, atMs: number): void {
    this.update(grid, index)
    const record = this.of(grid, index)
    if (record) this.#endsMs.set(record, this.#factsOf(grid, index)?.endedMs ?? atMs)
  }

  get spread(): Spread | undefined {
    const works = (this.run.nodes ?? []).flatMap((node): Work[] =>
      node.startedMs === null || node.threads === 0
        ? []
        : [{ node, startMs: node.startedMs, endMs: this.#endsMs.get(node) }]
    )
    const [first, ...others] = works.sort((one, other) => one.startMs - other.startMs)
    const last = others.at(-1)
    if (first === undefined || last === undefined) return undefined
    const spreadMs = last.startMs - first.startMs
    const words =
      `the ${works.length} nodes started within ${formatSpread(spreadMs)}` +
      (spreadMs === 0 ? '' : `: first ${this.#nameOf(first.node)}, last ${this.#nameOf(last.node)}`)
    return { words, effect: this.#effectOf(spreadMs, last.startMs, works) }
  }

  #effectOf(spreadMs: number, lastStartMs: number, works: readonly Work[]): Spread['effect'] {
    if (spreadMs <= SPREAD_TO_DOUBT_MS) return undefined
    const endsMs = works.flatMap(({ endMs }) => endMs ?? [])
    if (lastStartMs >= Math.min(...endsMs))
      return { isLoss: true, words: 'by then, others had ended: the nodes never ran all at the same time' }
    const { durationSec } = this.run.request
    // If the plan decides, the time that it took.
    const durationMs =
      durationSec === null ? Math.max(...endsMs) - (lastStartMs - spreadMs) : durationSec * 1000
    const isLoss = spreadMs > Math.max(SHORTEST_LOSS_MS, SHARE_OF_DURATION_LOST * durationMs)
    return { isLoss, words: 'until then, only part of the load was generated' }
  }

  #nameOf({ grid, number }: NodeRecord): string {
    const found = this.grids.find((other) => other.grid.id === grid)
    return found ? nameOfNode(found.grid, number - 1) : `node ${number}`
  }
}

/** For people: `node 2 of 4 in eu-central-1`. */
export function nameOfNode({ spec }: GridRecord, index: number): string {
  return `node ${index + 1} of ${spec.instanceQuantity} in ${spec.region}`
}

export function findNode(run: RunRecord, gridId: string, index: number): NodeRecord | undefined {
  return run.nodes?.find((node) => node.grid === gridId && node.number === index + 1)
}

function blankRecord(grid: GridRecord, number: number, threads: number | null): NodeRecord {
  return {
    ...{ grid: grid.id, region: grid.spec.region, number, threads, place: '' },
    ...{ startedMs: null, rows: null, cpuLimit: null, restarts: null, throttled: null },
    ...{ clockOffsetMs: 0, lost: null }
  }
}

function formatSpread(spreadMs: number): string {
  return spreadMs < 1000 ? `${Math.round(spreadMs)} ms` : `${(spreadMs / 1000).toFixed(1)} s`
}

/** The threads of each node: divided among an on-demand grid's nodes, all of them for each node of a hosted one; null: left to the plan. */
export function shareThreads(spec: GridSpec, threads: number | null): (number | null)[] {
  const nodes = spec.instanceQuantity
  return Array.from({ length: nodes }, (_, index) => {
    if (threads === null || spec.infrastructure === 'hosted') return threads
    return Math.floor(threads / nodes) + (index < threads % nodes ? 1 : 0)
  })
}
