import { formatActual } from '../thresholds/format.js'
import { asAbsolute, type Judgement } from '../thresholds/judge/judgement.js'
import { formatWait } from '../thresholds/stall-words.js'

/** The two figures of a line: of the requests that were sent, and of those that would have arrived at any moment. */
export interface OverTimeCells {
  /** `174 ms by samples` */
  readonly bySamples: string
  /** `at least 4.6 s over time` */
  readonly overTime: string
}

/** Undefined where the figure over time says no more than the one by samples: it is only a bound. */
export function overTimeCells(judgement: Judgement): OverTimeCells | undefined {
  const { overTime, threshold, actual } = judgement
  if (overTime === undefined || actual === undefined) return undefined
  const { value, bySamples } = overTime
  const isScore = threshold.metric === 'apdex'
  if (isScore ? value >= bySamples : value <= bySamples) return undefined
  const limit = asAbsolute(judgement)?.value
  const write = (figure: number): string =>
    isScore ? formatActual({ ...judgement, actual: figure }) : formatWait(figure, limit)
  return {
    bySamples: `${write(bySamples)} by samples`,
    overTime: `at ${isScore ? 'most' : 'least'} ${write(value)} over time`
  }
}
