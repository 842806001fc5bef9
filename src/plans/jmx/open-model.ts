/** JMeter's thread group whose users arrive by a schedule, whether others are waiting or not. */
export const OPEN_GROUP = 'OpenModelThreadGroup'
export const SCHEDULE = 'OpenModelThreadGroup.schedule'

const SECONDS: Readonly<Record<string, number>> = {
  ms: 0.001,
  s: 1,
  sec: 1,
  m: 60,
  min: 60,
  h: 3600,
  hour: 3600,
  d: 86_400,
  day: 86_400
}
const COMMENT = /\/\*[^]*?\*\/|\/\/[^\n]*/g
const STEP =
  /\s*(?:rate\(\s*(?<rate>\d+(?:\.\d+)?)\s*\/\s*(?<per>[a-z]+)\s*\)|(?<kind>random_arrivals|even_arrivals|pause)\(\s*(?<time>-?\d+(?:\.\d+)?)\s*(?<unit>[a-z]+)\s*\))\s*/iy

type Step = { readonly rate: number } | { readonly seconds: number; readonly isPause: boolean }

/**
 * How many users arrive by a schedule such as `rate(20/s) random_arrivals(60 s)`. Between two rates it changes evenly. Undefined if the
 * schedule cannot be read; JMeter starts nobody by one with a negative time.
 */
export function countArrivals(schedule: string): number | undefined {
  const steps = readSteps(schedule)
  if (steps === undefined) return undefined
  if (steps.some((step) => 'seconds' in step && step.seconds < 0)) return 0
  let rate = 0
  let arrivals = 0
  steps.forEach((step, at) => {
    if ('rate' in step) {
      rate = step.rate
      return
    }
    const next = steps[at + 1]
    const last = next !== undefined && 'rate' in next ? next.rate : rate
    if (!step.isPause) arrivals += ((rate + last) / 2) * step.seconds
  })
  return Math.floor(arrivals + 1e-6)
}

function readSteps(schedule: string): Step[] | undefined {
  const text = schedule.replace(COMMENT, ' ')
  const steps: Step[] = []
  for (let at = 0; at < text.length; at = STEP.lastIndex) {
    STEP.lastIndex = at
    const { rate, per, kind, time, unit } = STEP.exec(text)?.groups ?? {}
    const secondsPer = SECONDS[(per ?? unit ?? '').toLowerCase()]
    if (secondsPer === undefined) return undefined
    if (rate !== undefined) steps.push({ rate: Number(rate) / secondsPer })
    else steps.push({ seconds: Number(time) * secondsPer, isPause: kind?.toLowerCase() === 'pause' })
  }
  return steps
}
