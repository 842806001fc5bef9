import { expect, test } from '@jest/globals'
import { Openings } from '../../../../src/service/nodes/kubernetes/exec.js'

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

test('so many are opened at a time and no more, in the order in which they came', async () => {
  const openings = new Openings(2)
  const entered: number[] = []
  for (let index = 0; index < 5; index++) void openings.enter().then(() => entered.push(index))
  await settle()
  expect(entered).toEqual([0, 1])
  openings.leave()
  await settle()
  expect(entered).toEqual([0, 1, 2])
  openings.leave()
  openings.leave()
  await settle()
  expect(entered).toEqual([0, 1, 2, 3, 4])
})

test('places that nobody waits for are free for those who come later', async () => {
  const openings = new Openings(1)
  await openings.enter()
  openings.leave()
  await expect(openings.enter()).resolves.toBeUndefined()
})
