import type { Random } from './random.js'

const ORDERS = 999
/** Five runs in a row that only rise or only fall are just enough. */
const LEVEL = 0.02
const LEAST_RUNS = 5

/** Whether neighbours are closer to each other than in a random order: the figures drift or step. */
export function isDrifting(ys: readonly number[], random: Random): boolean {
  if (ys.length < LEAST_RUNS) return false
  const observed = sumOfSteps(ys)
  const shuffled = [...ys]
  let asSmooth = 0
  for (let order = 0; order < ORDERS; order++) {
    if (sumOfSteps(shuffle(shuffled, random)) <= observed * (1 + 1e-12)) asSmooth++
  }
  return (asSmooth + 1) / (ORDERS + 1) <= LEVEL
}

function sumOfSteps(ys: readonly number[]): number {
  let sum = 0
  let last = ys[0] ?? 0
  for (const y of ys) {
    sum += (y - last) * (y - last)
    last = y
  }
  return sum
}

/** In place (Fisher and Yates). */
function shuffle(values: number[], random: Random): number[] {
  for (let end = values.length - 1; end > 0; end--) {
    const other = random.below(end + 1)
    const moved = values[end] ?? NaN
    values[end] = values[other] ?? NaN
    values[other] = moved
  }
  return values
}
