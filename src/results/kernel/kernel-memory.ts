import type { GrowingMemory } from './kernel-module.js'

/** Reads the kernel's memory. Views are cached: a few per block would be most of the garbage of a scan. */
export class KernelMemory {
  readonly #memory: GrowingMemory
  #bytes = new Uint8Array(0)
  #shorts = new Uint16Array(0)
  #ints = new Int32Array(0)

  constructor(memory: GrowingMemory) {
    this.#memory = memory
  }

  get bytes(): Uint8Array {
    if (this.#bytes.length === 0) this.#view()
    return this.#bytes
  }

  get shorts(): Uint16Array {
    if (this.#shorts.length === 0) this.#view()
    return this.#shorts
  }

  get ints(): Int32Array {
    if (this.#ints.length === 0) this.#view()
    return this.#ints
  }

  /** When the memory grows, its views become empty. */
  #view(): void {
    this.#bytes = new Uint8Array(this.#memory.buffer)
    this.#shorts = new Uint16Array(this.#memory.buffer)
    this.#ints = new Int32Array(this.#memory.buffer)
  }
}
