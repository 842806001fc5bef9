import { KERNEL_BASE64 } from './kernel-bytes.js'

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
  setTransactionColumns(dataType: number, url: number, latency: number, idleTime: number): void
  skipRowsOf(name: number): void
  setMessage(length: number): number
  setGroups(length: number): number
  countBetween(startMs: bigint, lastMs: bigint): void
  noteRows(length: number): number
  findRows(from: number, to: number): number
  countRows(limit: number): number
  countTime(cell: number, elapsed: number): void
  sortTimes(place: number): void
  learnLabel(start: number, end: number, hash: number, label: number, scope: number): void
  learnThread(place: number, thread: number): void
  moveLine(startMs: bigint, widening: number): void
  /** responseCode, bytes, sentBytes, Latency, Connect. */
  setDetailColumns(...columns: number[]): void
  startDetails(startMs: bigint, widthMs: number, count: number, labelWidening: number, labels: number): number
  learnCode(start: number, end: number, code: number): void
}
type KernelFigure =
  | ('endOfLines' | 'listRows' | 'listStart')
  | ('nextRow' | 'takenRows' | 'earlyRows' | 'hasFineTimes' | 'lineSlots' | 'lineTimes')
  | ('endScopes' | 'endPages' | 'endPagesStop' | 'leastStall' | 'longRows' | 'longRowsStop')
  | ('firstNote' | 'nextNote')
  | ('listPlaces' | 'sortedTimes' | 'detailTimes')
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

  get doubles(): Float64Array {
    return this.#fresh().doubles
  }

  /** When the memory grows, its views become empty. */
  #fresh(): ReturnType<typeof viewsOf> {
    if (this.#views.bytes.length === 0) this.#views = viewsOf(this.#memory)
    return this.#views
  }
}

function viewsOf({ buffer }: GrowingMemory) {
  return {
    ...{ bytes: new Uint8Array(buffer), shorts: new Uint16Array(buffer) },
    ...{ ints: new Int32Array(buffer), doubles: new Float64Array(buffer) }
  }
}
