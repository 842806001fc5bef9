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

/** How many users arrive by a schedule, evenly between two rates; nobody by one with a negative time. Undefined if it cannot be read. */
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

/** The value of a property, or of the default that the function has for it; undefined if it is only known at run time. */
type PropertyLookup = (name: string, fallback: string) => string | undefined

/** The value of a function call without its `${…}`, as far as it depends on properties alone. */
export function callFunction(expression: string, property: PropertyLookup): string | undefined {
  const [, name, fallback] = /^__P\(([^,()]*)(?:,(.*))?\)$/s.exec(expression) ?? []
  if (name !== undefined) return property(name.trim(), fallback ?? '1')
  const [, other, text] = /^__property\(([^,()]*)(?:,[^,()]*(?:,(.*))?)?\)$/s.exec(expression) ?? []
  if (other !== undefined) return property(other.trim(), text ?? other)
  const sum = /^__(?:int|long)Sum\(\s*(-?\d{1,15}(?:\s*,\s*-?\d{1,15})+)\s*\)$/.exec(expression)?.[1]
  return sum
    ?.split(',')
    .reduce((total, number) => total + Number(number), 0)
    .toString()
}
