import { find } from './elements.js'

/**
 * Stays open to the page's own service. Each event holds all there is to know, so nothing is lost with a connection; the
 * browser connects again by itself, and the reader is told in the meantime. `take` says whether that was the last event.
 *
 * A browser has six connections to one host, for all its tabs together, and each open one takes one of them away: a tab
 * that nobody sees has none, and a request of the page's own takes the place of its events.
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

  /** Makes room for a request; afterwards the first event catches up. */
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
      // Others have words there too, and theirs stay.
      if (this.#isLost) this.#words.textContent = ''
      this.#isLost = false
      this.#isOver = this.take(data)
      this.#update()
    })
    source.addEventListener('error', () => {
      this.#isLost = true
      this.#words.textContent =
        source.readyState === EventSource.CLOSED
          ? 'The service does not answer this page any more; load it again.'
          : 'Connection lost, trying again…'
    })
    return source
  }
}
