import type { NodeFacts } from '../../load-node.js'
import { type ClockReading, driftOf, offsetOf } from './pod-clock.js'
import { type PodFigures, throttledShare, type TurnState } from './turn-state.js'

const DOUBTFUL_CLOCK_MS = 1000

/** What is learned of a pod while it works. */
export class PodRecord {
  readonly #readings: ClockReading[] = []
  #state: TurnState = { started: undefined, ended: undefined }
  #figures: PodFigures | undefined

  constructor(
    private readonly pod: string,
    private readonly machine: string
  ) {}

  noteClock(reading: ClockReading): void {
    this.#readings.push(reading)
  }

  noteState(state: TurnState, figures?: PodFigures): void {
    this.#state = state
    this.#figures = state.ended?.figures ?? figures ?? this.#figures
  }

  get exitCode(): number | undefined {
    return this.#state.ended?.code
  }

  /** Why nothing more could be written in the pod at the end; empty if it could. */
  get diskTrouble(): string {
    return this.#state.ended?.diskTrouble ?? ''
  }

  /** Processes that were killed for want of memory since the start. */
  get oomKills(): number {
    const before = this.#state.started?.figures.oomKills ?? null
    const after = this.#figures?.oomKills ?? null
    return before === null || after === null ? 0 : after - before
  }

  facts(): Pick<NodeFacts, 'startedMs' | 'endedMs' | 'throttled' | 'clockOffsetMs'> {
    const clockOffsetMs = offsetOf(this.#readings)
    const { started, ended } = this.#state
    return {
      startedMs: started === undefined ? null : Math.round(started.atMs - clockOffsetMs),
      endedMs: ended === undefined ? null : Math.round(ended.atMs - clockOffsetMs),
      throttled:
        started === undefined || this.#figures === undefined
          ? null
          : throttledShare(started.figures, this.#figures),
      clockOffsetMs
    }
  }

  doubts(): string[] {
    const offsetMs = offsetOf(this.#readings)
    const driftMs = Math.round(driftOf(this.#readings))
    const doubts: string[] = []
    if (Math.abs(offsetMs) > DOUBTFUL_CLOCK_MS)
      doubts.push(
        `The clock of the pod ${this.pod} is ${Math.abs(offsetMs)} ms ${offsetMs > 0 ? 'ahead' : 'behind'}: ` +
          `the times of its samples are corrected by that; synchronize the clock of the machine ${this.machine}.`
      )
    if (driftMs > DOUBTFUL_CLOCK_MS)
      doubts.push(
        `The clock of the pod ${this.pod} moved by ${driftMs} ms during the run: the times of its samples are off by up to half of that.`
      )
    if (this.oomKills > 0)
      doubts.push(
        `In the pod ${this.pod}, the kernel killed ${this.oomKills} ${this.oomKills === 1 ? 'process' : 'processes'} for want of memory: ` +
          'give the node more.'
      )
    return doubts
  }
}
