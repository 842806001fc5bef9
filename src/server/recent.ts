/** Remembers the last few results of work that takes seconds and is asked for again. What has failed is tried again. */
export class Recent<T> {
  readonly #known = new Map<string, Promise<T>>()

  constructor(
    private readonly most: number,
    /** Whether it will be the same next time; otherwise only those who ask meanwhile get it too. */
    private readonly isLasting: (made: T) => boolean = () => true
  ) {}

  get(key: string, make: () => Promise<T>): Promise<T> {
    const known = this.#known.get(key)
    if (known) return known
    const made = make().then(
      (value) => {
        if (!this.isLasting(value)) this.#known.delete(key)
        return value
      },
      (thrown: unknown) => {
        this.#known.delete(key)
        throw thrown
      }
    )
    this.#known.set(key, made)
    const [oldest] = this.#known.keys()
    if (this.#known.size > this.most && oldest !== undefined) this.#known.delete(oldest)
    return made
  }
}
