import type { Live, PageDocument } from '../document.js'
import { formatElapsed } from '../numbers.js'
import { find } from './elements.js'

/** The run's progress, with a button to stop it. */
export class LivePanel {
  readonly #box = find('live', HTMLElement)
  readonly #words = find('progress-words', HTMLElement)
  readonly #bar = find('progress', HTMLProgressElement)
  readonly #stop = find('stop', HTMLButtonElement)

  constructor(private readonly makeRoom: (request: () => Promise<Response>) => Promise<Response>) {
    this.#stop.addEventListener('click', () => void this.#stopRun())
  }

  show({ live, headline }: PageDocument): void {
    this.#box.hidden = live === undefined
    if (live === undefined) return
    this.#words.textContent = describe(live)
    this.#bar.hidden = live.durationMs === null
    if (live.durationMs !== null) this.#bar.value = Math.min(1, (live.elapsedMs ?? 0) / live.durationMs)
    if (headline === 'stopping') this.#markStopping()
  }

  async #stopRun(): Promise<void> {
    this.#markStopping()
    find('connection', HTMLElement).textContent = ''
    try {
      const path = this.#stop.dataset.path ?? ''
      const reply = await this.makeRoom(() => fetch(path, { method: 'POST' }))
      if (!reply.ok) throw new Error(`the service answered ${reply.status}`)
    } catch (thrown) {
      this.#stop.disabled = false
      this.#stop.textContent = 'Stop the run'
      find('connection', HTMLElement).textContent = `The run could not be stopped: ${String(thrown)}`
    }
  }

  #markStopping(): void {
    this.#stop.disabled = true
    this.#stop.textContent = 'Stopping…'
  }
}

function describe({ elapsedMs, durationMs }: Live): string {
  if (elapsedMs === null) return 'Not started yet'
  const elapsed = formatElapsed(Math.floor(elapsedMs / 1000))
  return durationMs === null ? elapsed : `${elapsed} of ${formatElapsed(durationMs / 1000)}`
}
