import type { Random } from './random.js'

const ORDERS = 999
/** Five runs in a row that only rise or only fall are just enough. */
const LEVEL = 0.02
const LEAST_RUNS = 5

/** Whether neighbours are closer to each other than in a random order: the figures drift or step. */
export function isDrifting(ys: readonly number[], random: Random): boolean {
  if (ys.length < LEAST_RUNS) return false
  const observed = sumOfSteps(ys)
  let asSmooth = 0
  for (let order = 0; order < ORDERS; order++) {
    if (sumOfSteps(shuffle(ys, random)) <= observed * (1 + 1e-12)) asSmooth++
  }
  return (asSmooth + 1) / (ORDERS + 1) <= LEVEL
}

function sumOfSteps(ys: readonly number[]): number {
  return ys.reduce((sum, y, i) => sum + (y - (ys[i - 1] ?? y)) ** 2, 0)
}

function shuffle(values: readonly number[], random: Random): number[] {
  return values
    .map((value) => ({ value, place: random.uniform() }))
    .sort((a, b) => a.place - b.place)
    .map(({ value }) => value)
}
