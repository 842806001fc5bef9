import type { Live, PageDocument } from '../build-document.js'
import { formatElapsed } from '../numbers.js'
import { find } from './elements.js'

export class LivePanel {
  readonly #box = find('live', HTMLElement)
  readonly #words = find('progress-words', HTMLElement)
  readonly #bar = find('progress', HTMLProgressElement)
  readonly #quiet = find('quiet', HTMLElement)
  readonly #announcement = find('announcement', HTMLElement)
  /** Only for those who may stop the run. */
  readonly #stop: StopButton | undefined
  #announced: string | undefined

  constructor(makeRoom: MakeRoom) {
    if (document.getElementById('stop') !== null)
      this.#stop = new StopButton(makeRoom, () => this.#words.focus({ preventScroll: true }))
  }

  show({ live, headline }: PageDocument): void {
    this.#announce(headline)
    const hadFocus = this.#box.contains(document.activeElement)
    this.#box.hidden = live === undefined
    const actions = document.getElementById('actions')
    if (actions !== null) actions.hidden = live !== undefined
    // The result is what the reader has waited for.
    if (live === undefined && hadFocus) find('overview', HTMLElement).focus({ preventScroll: true })
    if (live === undefined) return
    this.#words.textContent = describe(live, headline)
    this.#bar.hidden = live.durationMs === null
    if (live.durationMs !== null) this.#bar.value = Math.min(1, (live.elapsedMs ?? 0) / live.durationMs)
    this.#showQuiet(live.quiet)
    if (headline === 'stopping') this.#stop?.markStopping()
  }

  /** Its seconds are counted for those who see them; others hear when it begins and when it is over. */
  #showQuiet(quiet: string | null): void {
    const wasQuiet = !this.#quiet.hidden
    this.#quiet.hidden = quiet === null
    this.#quiet.textContent = quiet
    if (wasQuiet !== (quiet !== null))
      this.#announcement.textContent =
        quiet === null ? 'Answers are coming in again.' : 'Nothing is being answered.'
  }

  /** Only what changes, not every figure. */
  #announce(headline: string): void {
    if (this.#announced !== undefined && this.#announced !== headline)
      this.#announcement.textContent = `The run is now: ${headline}.`
    this.#announced = headline
  }
}

type MakeRoom = (request: () => Promise<Response>) => Promise<Response>

class StopButton {
  readonly #stop = find('stop', HTMLButtonElement)
  readonly #question = find('confirm', HTMLElement)

  constructor(
    private readonly makeRoom: MakeRoom,
    private readonly moveFocus: () => void
  ) {
    const keep = find('keep-going', HTMLButtonElement)
    this.#stop.addEventListener('click', () => {
      this.#ask(true)
      // The answer that changes nothing, for a key that was pressed twice.
      keep.focus()
    })
    keep.addEventListener('click', () => this.#keepGoing())
    find('stop-now', HTMLButtonElement).addEventListener('click', () => void this.#stopRun())
    this.#question.addEventListener('keydown', ({ key }) => {
      if (key === 'Escape') this.#keepGoing()
    })
  }

  /** Also if somebody else has stopped the run. */
  markStopping(): void {
    const hadFocus = this.#question.contains(document.activeElement) || document.activeElement === this.#stop
    this.#ask(false)
    this.#stop.disabled = true
    this.#stop.textContent = 'Stopping…'
    if (hadFocus) this.moveFocus()
  }

  #ask(isAsking: boolean): void {
    this.#question.hidden = !isAsking
    this.#stop.hidden = isAsking
  }

  #keepGoing(): void {
    this.#ask(false)
    this.#stop.focus()
  }

  async #stopRun(): Promise<void> {
    this.markStopping()
    find('connection', HTMLElement).textContent = ''
    try {
      const path = this.#stop.dataset.path ?? ''
      const reply = await this.makeRoom(() => fetch(path, { method: 'POST' }))
      if (!reply.ok) throw new Error(`the service answered ${reply.status}`)
    } catch (thrown) {
      this.#stop.disabled = false
      this.#stop.textContent = 'Stop the run'
      this.#stop.focus()
      find('connection', HTMLElement).textContent = `The run could not be stopped: ${String(thrown)}`
    }
  }
}

function describe({ elapsedMs, durationMs }: Live, headline: string): string {
  if (elapsedMs === null) return headline === 'queued' ? 'Not started yet' : 'Starting'
  const elapsed = formatElapsed(Math.floor(elapsedMs / 1000))
  return durationMs === null ? elapsed : `${elapsed} of ${formatElapsed(durationMs / 1000)}`
}
