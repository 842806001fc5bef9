import { expect, test } from '@jest/globals'
import { makeMachinesCsv, type MachinesCsv } from '../../../support/data/machines-csv.js'
import { measure } from '../../../support/data/sample-csv.js'
import { slice } from '../../../support/slice.js'

/** LOADGATE_SEED=17 takes one. */
const SEEDS = slice(16, 48)
const LOOPS = 8
const only = process.env.LOADGATE_SEED
const seeds = only === undefined ? Array.from({ length: SEEDS }, (_, i) => i + 1) : [Number(only)]
/** Not of one seed alone. */
const testMany = only === undefined ? test : test.skip

function answer({ text, counted }: MachinesCsv): 'right' | 'problem' | 'wrong' {
  const measured = measure(text)
  if (measured.sources.some(({ problems }) => problems.length > 0)) return 'problem'
  const { samples = 0, failures = 0, meanMs = 0 } = measured.figures({}) ?? {}
  const sumMs = counted.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0)
  const isRight =
    samples === counted.length &&
    failures === counted.filter(({ isFailure }) => isFailure).length &&
    Math.abs(meanMs * samples - sumMs) < 0.5
  return isRight ? 'right' : 'wrong'
}

const answersOf = (given: Parameters<typeof makeMachinesCsv>[1], of = seeds) =>
  of.map((seed) => {
    const csv = makeMachinesCsv(seed, { loops: LOOPS, ...given })
    return { answer: answer(csv), about: csv.about }
  })

test('what one machine wrote is right, and no problem', () => {
  const answers = answersOf({ machines: 1, hasHosts: false })
  expect(answers.filter((one) => one.answer !== 'right')).toEqual([])
})

test('what several machines wrote is right where their hosts are known', () => {
  const answers = answersOf({ hasHosts: true })
  expect(answers.filter((one) => one.answer !== 'right')).toEqual([])
})

const mixed = [2, 3, 4].map((machines) => answersOf({ machines, hasHosts: false })).flat()

test('what several machines wrote under the same thread names is right, or a problem', () => {
  expect(mixed.filter((one) => one.answer === 'wrong')).toEqual([])
})

test('so is a transaction that differs from all others of its controller: the last one, or one whose requests are in another block', () => {
  const last = answersOf({ machines: 2, hasHosts: false }, [5034, 5049])
  const torn = answersOf({ machines: 3, hasHosts: false }, [9100])
  expect([...last, ...torn].map((one) => one.answer)).toEqual(['right', 'problem', 'problem'])
})

testMany('much of it is right', () => {
  expect(mixed.filter((one) => one.answer === 'right').length).toBeGreaterThan(mixed.length / 3)
})
