/** Remembers the last few results of work that takes seconds and is asked for again. What has failed is tried again. */
export class Recent<T> {
  readonly #known = new Map<string, Promise<T>>()

  constructor(private readonly most: number) {}

  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known) return known
    const made = make().catch((thrown: unknown) => {
      this.#known.delete(key)
      throw thrown
    })
    this.#known.set(key, made)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.most && oldest !== undefined) this.#known.delete(oldest)
    return made
  }
}
