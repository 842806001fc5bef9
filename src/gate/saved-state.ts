import type { StepState } from './step-state.js'
import { messageOf } from '../contract/text.js'

/** A duplicate shows up within seconds: the runs long before need no second look, and the state must stay small. */
const MOST_EARLIER_RUNS = 50

/** The saved state of the step; every change is saved at once. */
export class SavedState {
  #state: StepState
  readonly #save: (state: StepState) => void
  readonly #warn: (message: string) => void

  constructor(
    initial: StepState,
    save: (state: StepState) => void,
    warn: (message: string) => void = () => undefined
  ) {
    this.#state = initial
    this.#save = save
    this.#warn = warn
    this.note({})
  }

  get state(): StepState {
    return this.#state
  }

  /** For what is about to happen. Throws if it cannot be saved: nothing is started that the post step would not know about. */
  note(change: Partial<StepState>): void {
    const next = { ...this.#state, ...change }
    try {
      this.#save(next)
    } catch (thrown) {
      throw new Error(
        `The state of the step could not be saved: ${messageOf(thrown)}. Without it the post step would not know what to ` +
          'stop, so the gate stops here.',
        { cause: thrown }
      )
    }
    this.#state = next
  }

  /** Moves on to another run of the step, once the one before has ended. What is not noted as cleaned up stays in the state. */
  beginAnotherRun(changes: Pick<StepState, 'leaveIfKilled'>): void {
    const { marker, runId, askedMs, earlier = [], cleanupDue, madeGrids } = this.#state
    this.note({
      earlier:
        marker === undefined ? earlier : [...earlier, { marker, runId, askedMs }].slice(-MOST_EARLIER_RUNS),
      marker: undefined,
      runId: undefined,
      repeat: undefined,
      madeGrids: cleanupDue ? madeGrids : [],
      ...changes
    })
  }

  /** For what has already happened. If it cannot be saved, this process still knows it; the post step may not. */
  noteDone(change: Partial<StepState>): void {
    this.#state = { ...this.#state, ...change }
    try {
      this.#save(this.#state)
    } catch (thrown) {
      this.#warn(
        `The state of the step could not be saved: ${messageOf(thrown)}. If this step is killed now, check the service ` +
          'for what it left running.'
      )
    }
  }
}
