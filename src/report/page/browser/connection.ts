import { find } from './elements.js'

/**
 * Stays connected to the page's own service. Each event has the complete state, so a lost connection loses nothing; the
 * browser reconnects by itself, and the reader is informed meanwhile. `take` returns whether that was the last event.
 *
 * A browser allows six connections to one host, for all its tabs together, and each event stream occupies one: a hidden
 * tab has none, and the page closes its own for the time of a request.
 */
export class Connection {
  readonly #words = find('connection', HTMLElement)
  #source: EventSource | undefined
  #isLost = false
  #isOver = false
  #requests = 0

  constructor(
    private readonly path: string,
    private readonly take: (data: string) => boolean
  ) {
    document.addEventListener('visibilitychange', () => this.#update())
    this.#update()
  }

  /** Frees the connection for a request; the first event afterwards catches up. */
  async makeRoom<T>(request: () => Promise<T>): Promise<T> {
    this.#requests++
    this.#update()
    try {
      return await request()
    } finally {
      this.#requests--
      this.#update()
    }
  }

  #update(): void {
    const isWanted = !this.#isOver && this.#requests === 0 && !document.hidden
    if (isWanted) this.#source ??= this.#open()
    else {
      this.#source?.close()
      this.#source = undefined
    }
  }

  #open(): EventSource {
    const source = new EventSource(this.path)
    source.addEventListener('message', ({ data }: MessageEvent<string>) => {
      // Others show messages there too, and theirs stay.
      if (this.#isLost) this.#words.textContent = ''
      this.#isLost = false
      this.#isOver = this.take(data)
      this.#update()
    })
    source.addEventListener('error', () => {
      this.#isLost = true
      this.#words.textContent =
        source.readyState === EventSource.CLOSED
          ? 'The service no longer answers this page; reload it.'
          : 'Connection lost, reconnecting…'
    })
    return source
  }
}
