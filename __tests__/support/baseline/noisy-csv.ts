import { CSV_HEADER } from '../gate/gate-service.js'
import { makeRandom } from '../data/seeded-random.js'

/** A run of 600 samples of about 100 ms, each as noisy as samples are; `factor` makes all of them slower, and 2 % of noise the whole run. */
export function noisyCsv(
  seed: number,
  factor = 1,
  { label = 'checkout', startMs = 1_760_000_000_000 } = {}
): string {
  const random = makeRandom(seed)
  const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const typicalMs = 1000 * factor * Math.exp(0.02 * normal())
  const rows = Array.from({ length: 600 }, (_, row) => {
    const elapsedMs = Math.round(typicalMs * Math.exp(0.3 * normal()))
    return `${startMs + row * 100},${elapsedMs},${label},200,OK,t-1,true,512,5`
  })
  return `${[CSV_HEADER, ...rows].join('\n')}\n`
}
