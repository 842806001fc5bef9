import { expect, test } from '@jest/globals'
import { publishWithoutRun } from '../../../src/gate/publish/publish-without-run.js'
import { makePorts } from '../../support/gate/gate-ports.js'

test('a verdict without a run has an output and a summary', async () => {
  const ports = await makePorts()
  await publishWithoutRun(ports, 'skipped', 'no token was given')
  expect(Object.fromEntries(ports.outputs)).toEqual({ verdict: 'skipped' })
  expect(ports.summaries).toEqual([expect.stringContaining('no token was given')])
  expect(ports.summaries[0]).toContain('skipped')
})

test('a summary that cannot be written is a warning', async () => {
  const ports = await makePorts({ writeSummary: () => Promise.reject(new Error('ENOSPC')) })
  await publishWithoutRun(ports, 'error', 'bad input')
  expect(ports.log.of('warning')).toEqual(['The job summary could not be written: ENOSPC'])
  expect(ports.outputs.get('verdict')).toBe('error')
})
