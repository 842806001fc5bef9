import { expect, test } from '@jest/globals'
import { publishWithoutRun } from '../../../src/gate/publish/publish.js'
import { makePorts } from '../../support/gate/gate-ports.js'

test('a verdict without a run has an output and a summary', async () => {
  const ports = await makePorts()
  await publishWithoutRun(ports, 'skipped', 'no token was given')
  expect(Object.fromEntries(ports.outputs)).toEqual({ verdict: 'skipped' })
  expect(ports.summaries).toEqual([expect.stringContaining('no token was given')])
  expect(ports.summaries[0]).toContain('skipped')
})

test('a list of problems has a line each in the summary, however long the list is', async () => {
  const ports = await makePorts()
  const problems = Array.from(
    { length: 40 },
    (_, at) => `- thresholds: line ${at}, column 10: p95 needs a unit`
  )
  const reason = ['40 invalid inputs, nothing was sent:', ...problems, '  p95 < 800', '           ^'].join(
    '\n'
  )
  await publishWithoutRun(ports, 'error', reason)
  const lines = ports.summaries[0]!.split('\n').filter((line) => line !== '')
  expect(lines).toHaveLength(43)
  expect(lines[1]).toBe('40 invalid inputs, nothing was sent:')
  expect(lines[41]).toContain('thresholds: line 39, column 10')
  expect(lines[42]).toMatch(/p95 &#60; 800$/)
})

test('a summary that cannot be written is a warning', async () => {
  const ports = await makePorts({ writeSummary: () => Promise.reject(new Error('ENOSPC')) })
  await publishWithoutRun(ports, 'error', 'bad input')
  expect(ports.log.of('warning')).toEqual(['The job summary could not be written: ENOSPC'])
  expect(ports.outputs.get('verdict')).toBe('error')
})
