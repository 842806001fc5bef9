import { beforeAll, expect, test } from '@jest/globals'
import { runSeed } from '../support/whole/whole-or-not.js'
import type { WholeResult } from '../support/whole/whole-or-not.js'
import { slice } from '../support/slice.js'

/** `npm run faults` takes a thousand; LOADGATE_SEED=17 takes one. */
const SEEDS = slice(20, 100)
const only = process.env.LOADGATE_SEED
const seeds = only === undefined ? Array.from({ length: SEEDS }, (_, i) => i + 1) : [Number(only)]
const results: WholeResult[] = []

beforeAll(async () => {
  for (const seed of seeds) results.push(await runSeed(seed))
}, 300_000)

test('a result is whole or it is not a result', () => {
  const broken = results.filter(({ problems }) => problems.length > 0)
  expect(broken.map(({ name, problems, log }) => ({ name, problems, log }))).toEqual([])
  expect(results).toHaveLength(seeds.length)
})

/** Not of one seed alone. */
const testMany = only === undefined ? test : test.skip

testMany('the seeds bring every verdict, and green ones among spoilt replies', () => {
  const verdicts = new Set(results.map(({ verdict }) => verdict))
  expect([...verdicts]).toEqual(expect.arrayContaining(['passed', 'failed', 'inconclusive']))
  const green = results.filter(
    ({ verdict, group }) => verdict === 'passed' && group !== 'replies spoilt, none'
  )
  expect(green.length).toBeGreaterThan(SEEDS / 10)
})
