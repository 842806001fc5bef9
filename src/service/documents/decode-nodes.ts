import type { RunNode } from './documents.js'

/** More than anyone runs: a reply must not fill a report. */
const MOST_NODES = 2000
const LONGEST_TEXT = 1000

/** What the embedded service says about the nodes of a run; undefined for other services. What cannot be read is unknown. */
export function decodeRunNodes(value: unknown): RunNode[] | undefined {
  if (!Array.isArray(value)) return undefined
  const nodes = value.slice(0, MOST_NODES).flatMap((node: unknown) => decodeRunNode(node) ?? [])
  // The rows of a part of the nodes say nothing about those of their grid.
  return nodes.length === value.length ? nodes : nodes.map((node) => ({ ...node, rows: null }))
}

function decodeRunNode(value: unknown): RunNode | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  const node = value as Record<string, unknown>
  const grid = textOf(node.grid)
  if (grid === null) return undefined
  const startedMs = typeof node.started === 'string' ? Date.parse(node.started) : node.started
  return {
    grid,
    region: textOf(node.region) ?? 'unknown',
    number: countOf(node.number) ?? 0,
    place: textOf(node.place) ?? 'unknown',
    startedMs: numberOf(startedMs),
    rows: countOf(node.rows),
    ...spanOf(numberOf(node.first_sample), numberOf(node.last_sample)),
    threads: countOf(node.threads),
    cpuLimit: numberOf(node.cpu_limit),
    restarts: countOf(node.restarts),
    throttled: shareOf(node.throttled),
    clockOffsetMs: numberOf(node.clock_offset_ms) ?? 0,
    lost: textOf(node.lost)
  }
}

function spanOf(
  firstSampleMs: number | null,
  lastSampleMs: number | null
): Pick<RunNode, 'firstSampleMs' | 'lastSampleMs'> {
  return firstSampleMs === null || lastSampleMs === null || firstSampleMs > lastSampleMs
    ? {}
    : { firstSampleMs, lastSampleMs }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value.slice(0, LONGEST_TEXT) : null
}

function numberOf(value: unknown): number | null {
  return typeof value === 'number' && Number.isFinite(value) ? value : null
}

function countOf(value: unknown): number | null {
  return Number.isSafeInteger(value) && Number(value) >= 0 ? Number(value) : null
}

function shareOf(value: unknown): number | null {
  const share = numberOf(value)
  return share === null ? null : Math.min(1, Math.max(0, share))
}
