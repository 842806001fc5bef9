import type { ScanResult } from '../results/counts/scan-result.js'
import { type GridRows, rowsOf } from './own-rows.js'

/** What results are compared by. */
export interface ComparedRows extends Pick<ScanResult, 'grid' | 'shape' | 'rows' | 'firstRows' | 'buckets'> {
  /** Undefined if it has no times. */
  readonly starts: Pick<GridRows, 'firstMs' | 'lastStartMs'> | undefined
}

export function toCompare(scan: ScanResult): ComparedRows {
  const { grid, shape, rows, firstRows, buckets } = scan
  return { grid, shape, rows, firstRows, buckets, starts: rowsOf([scan]) }
}

/** What is known of the results of an earlier run of the step. */
export interface EarlierResults {
  readonly runId: string
  /** For people: "round 3 of 10: base". */
  readonly name: string
  readonly scans: readonly ComparedRows[]
}

/**
 * Results that begin with the same rows as others of the step, in clauses: one of them is not what it is said to be, and its samples
 * would count twice. A file that has grown since then begins with them too.
 */
export function findSameRows(all: readonly ScanResult[], earlier: readonly EarlierResults[] = []): string[] {
  const scans = all.map(toCompare)
  return scans.flatMap((scan, index) => {
    const twin = scans.slice(0, index).find((other) => areSame(scan, other))
    const before = earlier.find((results) => results.scans.some((other) => areSame(scan, other)))
    if (twin === undefined && before === undefined) return describeOverlap(scan, earlier)
    const have = scan.shape === 'tidy' ? 'have' : 'begin with'
    if (twin?.grid === scan.grid) return [`two results of grid ${scan.grid} ${have} the same rows`]
    const others = twin === undefined ? `those of ${before?.name ?? ''}` : `those of grid ${twin.grid}`
    return [
      `the results of grid ${scan.grid} ${have} the same rows as ${others}, and cannot be the results of both`
    ]
  })
}

/** A grid has one clock, and does one run after the other. */
function describeOverlap(scan: ComparedRows, earlier: readonly EarlierResults[]): string[] {
  const before = earlier.find((results) => results.scans.some((other) => overlap(scan, other)))
  if (before === undefined) return []
  return [
    `the results of grid ${scan.grid} overlap in time with those of ${before.name} on the same grid: rows of one run are in the results of the other`
  ]
}

function overlap(one: ComparedRows, other: ComparedRows): boolean {
  if (one.grid !== other.grid || one.starts === undefined || other.starts === undefined) return false
  return one.starts.firstMs < other.starts.lastStartMs && other.starts.firstMs < one.starts.lastStartMs
}

/** Of the rows that both have, as far as they were compared. */
function areSame(one: ComparedRows, other: ComparedRows): boolean {
  if (one.rows === 0 || other.rows === 0) return false
  // Many begin alike, before the load: only all of them together tell two apart.
  if (one.shape === 'tidy' && other.shape === 'tidy')
    return JSON.stringify(one.buckets) === JSON.stringify(other.buckets)
  const last = Math.min(one.firstRows.length, other.firstRows.length) - 1
  return last >= 0 && one.firstRows[last] === other.firstRows[last]
}

/** A grid as one look at the service shows it. */
export interface LookedGrid {
  readonly id: string
  readonly status: string
  /** As many as it should have. */
  readonly nodeCount: number | undefined
  readonly nodes: readonly { readonly address: string | undefined; readonly state: string | undefined }[]
}

const BAD: ReadonlySet<string> = new Set(['failed', 'failure', 'problem', 'error', 'lost', 'crashed'])
/** `unknown` stands for a status that is missing. */
const GOOD: ReadonlySet<string> = new Set([
  ...['unknown', 'queued', 'pending', 'provisioning', 'starting', 'started', 'ready', 'idle', 'running'],
  ...['stopping', 'stopped', 'terminating', 'terminated', 'shutting-down', 'invoiced'],
  ...['finished', 'complete', 'completed']
])

interface Health {
  /** What went wrong, in clauses. */
  readonly bad: Set<string>
  /** Words that nobody knows. */
  readonly unknown: Set<string>
  nodeCount: number | undefined
  mostNodes: number
  /** Whether nodes were listed before the run had ended: afterwards they go, one by one. */
  wasListed: boolean
}

/** What all looks at a run together say about its grids: machines that are gone after its end were there. */
export class GridHealth {
  readonly #grids = new Map<string, Health>()

  note(grids: readonly LookedGrid[], { hasEnded }: { readonly hasEnded: boolean }): void {
    for (const { id, status, nodeCount, nodes } of grids) {
      const health = this.#of(id)
      health.nodeCount = nodeCount ?? health.nodeCount
      health.mostNodes = Math.max(health.mostNodes, nodes.length)
      health.wasListed ||= nodes.length > 0 && !hasEnded
      weigh(health, `grid ${id}`, status)
      for (const [index, { address, state = '' }] of nodes.entries())
        if (state !== '') weigh(health, `node ${address ?? index + 1} of grid ${id}`, state)
    }
  }

  /** What makes the results incomplete evidence, in sentences. */
  get gaps(): string[] {
    return [...this.#grids].flatMap(([id, { bad, nodeCount = 0, mostNodes, wasListed }]) => {
      const isShort = wasListed && mostNodes < nodeCount
      const few = `The service lists ${mostNodes} of the ${nodeCount} nodes of grid ${id}: the others did not take part.`
      return [...[...bad].map((clause) => `The service says that ${clause}.`), ...(isShort ? [few] : [])]
    })
  }

  /** What looks wrong without proving that something is missing, in sentences. */
  get doubts(): string[] {
    return [...this.#grids.values()].flatMap(({ unknown }) =>
      [...unknown].map((clause) => `The service says that ${clause}, which may mean that load is missing.`)
    )
  }

  #of(id: string): Health {
    const known = this.#grids.get(id) ?? {
      ...{ bad: new Set<string>(), unknown: new Set<string>() },
      ...{ nodeCount: undefined, mostNodes: 0, wasListed: false }
    }
    this.#grids.set(id, known)
    return known
  }
}

function weigh({ bad, unknown }: Health, subject: string, word: string): void {
  const plain = word.trim().toLowerCase()
  if (BAD.has(plain)) bad.add(`${subject} is "${word}"`)
  else if (!GOOD.has(plain)) unknown.add(`${subject} is "${word}"`)
}
