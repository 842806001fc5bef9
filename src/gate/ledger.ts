import type { StepState } from './step-state.js'

/** Keeps the step's saved state in step with what has happened; every change is saved at once. */
export class Ledger {
  #state: StepState
  readonly #save: (state: StepState) => void

  constructor(initial: StepState, save: (state: StepState) => void) {
    this.#state = initial
    this.#save = save
    save(initial)
  }

  get state(): StepState {
    return this.#state
  }

  note(change: Partial<StepState>): void {
    this.#state = { ...this.#state, ...change }
    this.#save(this.#state)
  }
}
