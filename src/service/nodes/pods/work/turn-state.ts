/** What the control group said at a moment; null where it says nothing. */
export interface PodFigures {
  readonly periods: number | null
  readonly throttledPeriods: number | null
  readonly oomKills: number | null
}

/** How far a turn is, as the pod tells it. */
export interface TurnState {
  readonly started: { readonly atMs: number; readonly figures: PodFigures } | undefined
  readonly ended:
    | {
        readonly code: number
        readonly atMs: number
        readonly figures: PodFigures
        /** Why nothing more could be written in the pod, in its words; empty if it could. */
        readonly diskTrouble: string
      }
    | undefined
}

/** `<time> <periods> <throttled> <kills>`, with the exit code before it once it has ended, and what is wrong with the disk after it. */
export function readTurnState(started: string, ended: string): TurnState {
  const [time = '', ...atStart] = started.split(' ')
  const [code = '', endTime = '', ...atEnd] = ended.split(' ')
  return {
    started: started === '' ? undefined : { atMs: readTimeMs(time).ms, figures: readFigures(atStart) },
    ended:
      ended === ''
        ? undefined
        : {
            code: /^\d+$/.test(code) ? Number(code) : NaN,
            atMs: readTimeMs(endTime).ms,
            figures: readFigures(atEnd),
            diskTrouble: atEnd.slice(3).join(' ').trim()
          }
  }
}

export function readFigures(words: readonly string[]): PodFigures {
  const [periods, throttledPeriods, oomKills] = words.map((word) =>
    /^\d+$/.test(word) ? Number(word) : null
  )
  return {
    periods: periods ?? null,
    throttledPeriods: throttledPeriods ?? null,
    oomKills: oomKills ?? null
  }
}

/** Of `date +%s%N`; small images have no `%N`, and a second is all they say. */
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
