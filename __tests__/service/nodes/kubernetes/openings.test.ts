import { expect, test } from '@jest/globals'
import { Openings } from '../../../../src/service/nodes/kubernetes/open-cluster.js'

const never = new AbortController().signal
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

function enterMany(openings: Openings, count: number): { entered: number[]; leave: (() => void)[] } {
  const entered: number[] = []
  const leave: (() => void)[] = []
  for (let index = 0; index < count; index++)
    void openings.enter(never).then((left) => {
      entered.push(index)
      leave.push(left)
    })
  return { entered, leave }
}

test('so many are opened at a time and no more, in the order in which they came', async () => {
  const { entered, leave } = enterMany(new Openings(2), 5)
  await settle()
  expect(entered).toEqual([0, 1])
  leave[1]?.()
  await settle()
  expect(entered).toEqual([0, 1, 2])
  leave[0]?.()
  leave[2]?.()
  await settle()
  expect(entered).toEqual([0, 1, 2, 3, 4])
})

test('a place is given back once, however often that is said', async () => {
  const { entered, leave } = enterMany(new Openings(1), 3)
  await settle()
  leave[0]?.()
  leave[0]?.()
  await settle()
  expect(entered).toEqual([0, 1])
})

test('who gives up while waiting takes no place', async () => {
  const openings = new Openings(1)
  const leave = await openings.enter(never)
  const impatient = new AbortController()
  const given = openings.enter(impatient.signal)
  const next = openings.enter(never)
  impatient.abort(new Error('enough'))
  await expect(given).rejects.toThrow('enough')
  leave()
  expect(typeof (await next)).toBe('function')
})

test('places that nobody waits for are free for those who come later', async () => {
  const openings = new Openings(1)
  const leave = await openings.enter(never)
  leave()
  expect(typeof (await openings.enter(never))).toBe('function')
})
