import { expect, test } from '@jest/globals'
import { publishBare } from '../../../src/gate/publish/publish-without-run.js'
import { makeBench } from '../../support/gate/gate-bench.js'

test('a verdict without a run has an output and a summary', async () => {
  const bench = await makeBench()
  await publishBare(bench, 'skipped', 'there is no token here')
  expect(Object.fromEntries(bench.outputs)).toEqual({ verdict: 'skipped' })
  expect(bench.summaries).toEqual([expect.stringContaining('there is no token here')])
  expect(bench.summaries[0]).toContain('skipped')
})

test('a summary that cannot be written is a warning', async () => {
  const bench = await makeBench({ writeSummary: () => Promise.reject(new Error('ENOSPC')) })
  await publishBare(bench, 'error', 'bad input')
  expect(bench.log.of('warning')).toEqual(['The job summary could not be written: ENOSPC'])
  expect(bench.outputs.get('verdict')).toBe('error')
})
