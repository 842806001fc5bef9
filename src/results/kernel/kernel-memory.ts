import { HEAP_AT } from './kernel-layout.js'

export interface GrowingMemory {
  readonly buffer: ArrayBuffer
  grow(pages: number): number
}

const PAGE = 64 * 1024
const ALIGNMENT = 64
/** The kernel reads blocks of 64 bytes, the last of which may go beyond the end. */
const SLACK = 128

/** Shares out the kernel's memory. Nothing is given back: whatever outgrows its place gets one of twice the size. */
export class KernelMemory {
  bytes = new Uint8Array(0)
  ints = new Int32Array(0)
  wide = new BigInt64Array(0)
  readonly #memory: GrowingMemory
  #next = HEAP_AT

  constructor(memory: GrowingMemory) {
    this.#memory = memory
    this.#view()
  }

  /** The address of that many bytes, all zero. Views that were made before are void, but for those of this object. */
  reserve(length: number): number {
    const address = this.#next
    this.#next = Math.ceil((address + length) / ALIGNMENT) * ALIGNMENT
    const missing = this.#next + SLACK - this.#memory.buffer.byteLength
    if (missing > 0) {
      this.#memory.grow(Math.ceil(missing / PAGE))
      this.#view()
    }
    return address
  }

  // Views are made here and kept: a few for every block would be most of the garbage of a scan.
  #view(): void {
    const { buffer } = this.#memory
    this.bytes = new Uint8Array(buffer)
    this.ints = new Int32Array(buffer)
    this.wide = new BigInt64Array(buffer)
  }
}
