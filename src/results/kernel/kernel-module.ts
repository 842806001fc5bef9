import { KERNEL_BASE64 } from './kernel-bytes.js'

declare const WebAssembly: {
  validate(bytes: Uint8Array): boolean
  readonly Module: new (bytes: Uint8Array) => object
  readonly Instance: new (module: object) => { readonly exports: object }
}

export interface GrowingMemory {
  readonly buffer: ArrayBuffer
}

/** The exports of ./assembly/index.ts. Addresses count from the start of the memory; any call may make the memory grow. */
export interface KernelExports {
  readonly memory: GrowingMemory
  prepare(): void
  reserve(bytes: number): number
  setDialect(delimiter: number, columns: number): void
  setColumns(
    timeStamp: number,
    elapsed: number,
    label: number,
    responseMessage: number,
    success: number,
    allThreads: number,
    sampleCount: number
  ): void
  setThreadColumns(threadName: number, hostname: number): void
  setMessage(length: number): number
  countBetween(startMs: bigint, lastMs: bigint): void
  findRows(from: number, to: number): number
  countRows(limit: number): number
  countTime(cell: number, elapsed: number): void
  nextRow(): number
  hasStopped(): number
  takenRows(): number
  earlyRows(): number
  hasFineTimes(): number
  endScopes(): number
  endPages(): number
  endPagesStop(): number
  leastStall(): number
  longRows(): number
  longRowsStop(): number
  learnLabel(start: number, end: number, hash: number, label: number, scope: number): void
  lineSlots(): number
  lineTimes(): number
  moveLine(startMs: bigint, widening: number): void
  countPages(): number
  countValues(): number
  wrapsStart(): number
  wrapsStop(): number
  sortPages(): number
}

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
