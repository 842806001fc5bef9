import type { NodeFacts } from '../../load-node.js'
import type { Clock } from '../../../../contract/clock.js'

const DOUBTFUL_CLOCK_MS = 1000

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
  get diskProblem(): string {
    return this.#state.ended?.diskProblem ?? ''
  }

  /** Processes that were killed since the start because memory ran out. */
  get oomKills(): number {
    const before = this.#state.started?.figures.oomKills ?? null
    const after = this.#figures?.oomKills ?? null
    return before === null || after === null ? 0 : after - before
  }

  facts(): Pick<NodeFacts, 'startedMs' | 'endedMs' | 'throttled' | 'clockOffsetMs'> {
    const clockOffsetMs = offsetOf(this.#readings)
    const { started, ended } = this.#state
    const here = (moment: Moment | undefined): number | null =>
      moment === undefined ? null : Math.round(moment.atMs - clockOffsetMs)
    const throttled = started && this.#figures ? throttledShare(started.figures, this.#figures) : null
    return { startedMs: here(started), endedMs: here(ended), throttled, clockOffsetMs }
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
        `In the pod ${this.pod}, the kernel killed ${this.oomKills} ${this.oomKills === 1 ? 'process' : 'processes'} because memory ran out: ` +
          'give the node more.'
      )
    return doubts
  }
}

/** A pod's clock minus this machine's; the truth is within the error. */
export interface ClockReading {
  readonly offsetMs: number
  readonly errorMs: number
}

const ROUND_TRIPS = 10
/** The resolution of this machine's clock, which counts whole milliseconds. */
const RESOLUTION_MS = 0.5
const HALF_SECOND_MS = 500

/** The quickest of ten round trips: the slower ones waited somewhere, and it is unknown in which direction. */
export async function readPodClock(clock: Clock, askTime: () => Promise<string>): Promise<ClockReading> {
  let best: ClockReading | undefined
  for (let trip = 0; trip < ROUND_TRIPS; trip++) {
    const sentMs = clock.now()
    const { ms, isWholeSecond } = readTimeMs(await askTime())
    const arrivedMs = clock.now()
    const reading = {
      offsetMs: ms + (isWholeSecond ? HALF_SECOND_MS : 0) - (sentMs + arrivedMs) / 2,
      errorMs: (arrivedMs - sentMs) / 2 + RESOLUTION_MS + (isWholeSecond ? HALF_SECOND_MS : 0)
    }
    if (best === undefined || reading.errorMs < best.errorMs) best = reading
  }
  return best ?? { offsetMs: 0, errorMs: Infinity }
}

/** What to subtract from the pod's times: 0 if that is within the error; if the clock moved, what is right in the middle of the run. */
export function offsetOf(readings: readonly ClockReading[]): number {
  const [first, ...others] = readings
  if (first === undefined) return 0
  if (driftOf(readings) > 0)
    return Math.round(readings.reduce((sum, { offsetMs }) => sum + offsetMs, 0) / readings.length)
  const best = others.reduce((found, next) => (next.errorMs < found.errorMs ? next : found), first)
  return Math.abs(best.offsetMs) > best.errorMs ? Math.round(best.offsetMs) : 0
}

/** How far the clock moved between the first and the last reading, beyond their errors. */
export function driftOf(readings: readonly ClockReading[]): number {
  const [first] = readings
  const last = readings.at(-1)
  if (first === undefined || last === undefined) return 0
  const movedMs = Math.abs(last.offsetMs - first.offsetMs)
  return movedMs > first.errorMs + last.errorMs ? movedMs : 0
}

/** What the control group said at a moment; null where it says nothing. */
export interface PodFigures {
  readonly periods: number | null
  readonly throttledPeriods: number | null
  readonly oomKills: number | null
}

interface Moment {
  readonly atMs: number
  readonly figures: PodFigures
}

/** How far a turn is, as the pod reports it. `diskProblem`: why nothing more could be written there; empty if it could. */
export interface TurnState {
  readonly started: Moment | undefined
  readonly ended: (Moment & { readonly code: number; readonly diskProblem: string }) | undefined
}

/** `<time> <periods> <throttled> <kills>`, with the exit code before it once it has ended, and what is wrong with the disk after it. */
export function readTurnState(started: string, ended: string): TurnState {
  const [time = '', ...atStart] = started.split(' ')
  const [code = '', endTime = '', ...atEnd] = ended.split(' ')
  const end = {
    code: /^\d+$/.test(code) ? Number(code) : NaN,
    atMs: readTimeMs(endTime).ms,
    figures: readFigures(atEnd),
    diskProblem: atEnd.slice(3).join(' ').trim()
  }
  return {
    started: started === '' ? undefined : { atMs: readTimeMs(time).ms, figures: readFigures(atStart) },
    ended: ended === '' ? undefined : end
  }
}

export function readFigures(words: readonly string[]): PodFigures {
  const numbers = words.map((word) => (/^\d+$/.test(word) ? Number(word) : null))
  const [periods = null, throttledPeriods = null, oomKills = null] = numbers
  return { periods, throttledPeriods, oomKills }
}

/** Of `date +%s%N`; small images have no `%N` and only give seconds. */
export function readTimeMs(text: string): { ms: number; isWholeSecond: boolean } {
  const digits = /^\d+/.exec(text)?.[0] ?? ''
  const isWholeSecond = digits.length < 16
  return { ms: isWholeSecond ? Number(digits) * 1000 : Number(digits.slice(0, -3)) / 1000, isWholeSecond }
}

/** The part of the time between two moments in which the CPU was throttled. */
export function throttledShare(from: PodFigures, to: PodFigures): number | null {
  if (from.periods === null || to.periods === null) return null
  if (from.throttledPeriods === null || to.throttledPeriods === null) return null
  const periods = to.periods - from.periods
  return periods > 0 ? Math.min(1, (to.throttledPeriods - from.throttledPeriods) / periods) : 0
}
