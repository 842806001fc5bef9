import type { CountedRuns } from '../counts/histogram.js'
import { KERNEL_BASE64 } from './kernel-bytes.js'
import { PAGE_BITS, TIME_BITS } from './assembly/layout.js'

declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

interface GrowingMemory {
  readonly buffer: ArrayBuffer
}

/** The exports of ./assembly/index.ts. Addresses count from the start of the memory; any call may make the memory grow. */
export interface KernelExports extends Record<KernelFigure, () => number> {
  readonly memory: GrowingMemory
  prepare(): void
  reserve(bytes: number): number
  setDialect(delimiter: number, columns: number): void
  /** timeStamp, elapsed, label, responseMessage, success, allThreads, sampleCount. */
  setColumns(...columns: number[]): void
  setThreadColumns(threadName: number, hostname: number): void
  setPartColumn(partOf: number): void
  skipRowsOf(name: number): void
  setMessage(length: number): number
  setGroups(length: number): number
  countBetween(startMs: bigint, lastMs: bigint): void
  findRows(from: number, to: number): number
  countRows(limit: number): number
  learnLabel(start: number, end: number, hash: number, label: number, scope: number): void
  moveLine(startMs: bigint, widening: number): void
}
type KernelFigure =
  | ('endOfLines' | 'listRows' | 'listStart')
  | ('nextRow' | 'hasStopped' | 'takenRows' | 'earlyRows' | 'hasFineTimes' | 'lineSlots' | 'lineTimes')
  | ('endScopes' | 'endPages' | 'endPagesStop' | 'leastStall' | 'longRows' | 'longRowsStop')
  | ('countPages' | 'countValues' | 'wrapsStart' | 'wrapsStop' | 'sortPages')

/** Null if WebAssembly SIMD is not available. */
let compiled: object | null | undefined

/** A kernel with its own memory; undefined if WebAssembly SIMD is not available. */
export function startKernel(): KernelExports | undefined {
  compiled ??= compile()
  if (compiled === null) return undefined
  const exports = new WebAssembly.Instance(compiled).exports as KernelExports
  exports.prepare()
  return exports
}

function compile(): object | null {
  const bytes = Buffer.from(KERNEL_BASE64, 'base64')
  return WebAssembly.validate(bytes) ? new WebAssembly.Module(bytes) : null
}

/** Reads the kernel's memory. Views are cached: a few per block would be most of the garbage of a scan. */
export class KernelMemory {
  readonly #memory: GrowingMemory
  #views: ReturnType<typeof viewsOf>

  constructor(memory: GrowingMemory) {
    this.#memory = memory
    this.#views = viewsOf(memory)
  }

  get bytes(): Uint8Array {
    return this.#fresh().bytes
  }

  get shorts(): Uint16Array {
    return this.#fresh().shorts
  }

  get ints(): Int32Array {
    return this.#fresh().ints
  }

  /** When the memory grows, its views become empty. */
  #fresh(): ReturnType<typeof viewsOf> {
    if (this.#views.bytes.length === 0) this.#views = viewsOf(this.#memory)
    return this.#views
  }
}

function viewsOf({ buffer }: GrowingMemory) {
  return { bytes: new Uint8Array(buffer), shorts: new Uint16Array(buffer), ints: new Int32Array(buffer) }
}

/* eslint-disable @typescript-eslint/no-non-null-assertion -- every index into a typed array is in range by construction */

const PAGE_SIZE = 1 << PAGE_BITS
const PAGES_PER_CELL_BITS = TIME_BITS - PAGE_BITS
const COUNT_WRAP = 0x10000

/** What the kernel has counted in pages, for `cells` cells from `first` on, one run each. */
export function readPages(
  exports: KernelExports,
  memory: KernelMemory,
  { first, cells }: { readonly first: number; readonly cells: number }
): CountedRuns {
  const from = exports.sortPages() / 4
  const to = from + exports.countPages() * 2
  const wraps = readWraps(exports, memory)
  const size = exports.countValues()
  const [values, counts] = [new Uint32Array(size), new Uint32Array(size)]
  const offsets = new Uint32Array(cells + 1)
  const { ints, shorts } = memory
  let next = 0
  let cell = 0
  for (let at = from; at < to; at += 2) {
    const page = ints[at]! >>> 1
    const key = (ints[at + 1]! >>> 0) - 1
    const owner = (key >>> PAGES_PER_CELL_BITS) - first
    if (owner < 0 || owner >= cells) continue
    while (cell < owner) offsets[++cell] = next
    const least = (key & ((1 << PAGES_PER_CELL_BITS) - 1)) << PAGE_BITS
    for (let i = 0; i < PAGE_SIZE; i++) {
      const more = wraps.size === 0 ? 0 : (wraps.get(page + i) ?? 0) * COUNT_WRAP
      const count = shorts[page + i]! + more
      if (count === 0) continue
      values[next] = least + i
      counts[next++] = count
    }
  }
  offsets.fill(next, cell + 1)
  if (next === size) return { offsets, values, counts }
  return { offsets, values: values.slice(0, next), counts: counts.slice(0, next) }
}

/** How often counts have wrapped around, by their index among the shorts. */
function readWraps(exports: KernelExports, memory: KernelMemory): Map<number, number> {
  const wraps = new Map<number, number>()
  for (const address of memory.ints.subarray(exports.wrapsStart() / 4, exports.wrapsStop() / 4))
    wraps.set(address / 2, (wraps.get(address / 2) ?? 0) + 1)
  return wraps
}
