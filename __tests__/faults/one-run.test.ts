import { expect, test } from '@jest/globals'
import { runScenario } from '../support/one-run/one-run-scenario.js'
import { slice } from '../support/slice.js'

/** All of them are in `npm run faults`. LOADGATE_SEED=123 runs one by itself. */
const SEEDS =
  process.env.LOADGATE_SEED === undefined
    ? Array.from({ length: slice(30, 150) }, (_, index) => index + 1)
    : [Number(process.env.LOADGATE_SEED)]
/** They take several times as long. */
const SEVERAL_SEEDS = SEEDS.slice(0, slice(12, 60))

test('whatever becomes of requests and replies: one run, never left running, and nobody else’s touched', async () => {
  const broken: unknown[] = []
  const verdicts = new Set<string>()
  for (const seed of SEEDS) {
    const { problems, verdict, log } = await runScenario(seed)
    verdicts.add(verdict)
    if (problems.length > 0) broken.push({ seed, problems, log })
  }
  expect(broken).toEqual([])
  expect(verdicts.size).toBeGreaterThanOrEqual(Math.min(SEEDS.length, 5))
}, 120_000)

test('a scenario is the same for the same seed', async () => {
  for (const seed of [3, 42, 77]) expect(await runScenario(seed)).toEqual(await runScenario(seed))
})

test.each(['side-by-side', 'confirm'] as const)(
  'several runs (%s): none created twice, none left running, and no grid',
  async (kind) => {
    const broken: unknown[] = []
    const verdicts = new Set<string>()
    for (const seed of SEVERAL_SEEDS) {
      const { problems, verdict, log } = await runScenario(seed, kind)
      verdicts.add(verdict)
      if (problems.length > 0) broken.push({ seed, problems, log })
    }
    expect(broken).toEqual([])
    expect(verdicts.size).toBeGreaterThanOrEqual(Math.min(SEVERAL_SEEDS.length, 3))
  },
  120_000
)
