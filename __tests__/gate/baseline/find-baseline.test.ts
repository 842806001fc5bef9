import { expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import type { BaselineDocument } from '../../../src/contract/baseline.js'
import { readHistory } from '../../../src/gate/baseline/find-baseline.js'

test('the history of a file is that of the clone, if it has the commit of a run', async () => {
  const head = execFileSync('git', ['rev-parse', 'HEAD'], { encoding: 'utf8' }).trim()
  const runsOf = (...commits: string[]): BaselineDocument =>
    ({ runs: commits.map((commit) => ({ commit })) }) as unknown as BaselineDocument
  expect((await readHistory(runsOf('a'.repeat(40), head)))?.[0]).toBe(head)
  expect(await readHistory(runsOf('a'.repeat(40)))).toBeUndefined()
  expect(await readHistory(runsOf())).toBeUndefined()
})
