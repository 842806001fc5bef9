import type { ApiCall, GitHubApi } from './github-api.js'

/**
 * Lets one call through at a time, in an order of its own choice: each waits as long as chance wants it to, while the other
 * gates go on. It only chooses once every gate waits for an answer, so the order depends on the choices alone.
 */
export class Interleaving {
  readonly #waiting: { readonly call: ApiCall; readonly go: () => void }[] = []
  #active = 0

  constructor(
    api: GitHubApi,
    private readonly random: () => number
  ) {
    api.pause = (call) =>
      new Promise((go) => {
        this.#waiting.push({ call, go })
        this.#proceed()
      })
  }

  /** Gates that speak at the same time, until all have ended. */
  async run(gates: readonly (() => Promise<void>)[]): Promise<void> {
    this.#active = gates.length
    await Promise.all(
      gates.map((gate) =>
        gate().finally(() => {
          this.#active--
          this.#proceed()
        })
      )
    )
  }

  #proceed(): void {
    if (this.#waiting.length === 0 || this.#waiting.length < this.#active) return
    const [chosen] = this.#waiting.splice(Math.floor(this.random() * this.#waiting.length), 1)
    chosen?.go()
  }
}
