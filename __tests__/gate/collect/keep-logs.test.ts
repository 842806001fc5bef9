import { beforeEach, describe, expect, test } from '@jest/globals'
import { join } from 'node:path'
import type { Findings } from '../../../src/gate/findings.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import { keepLogs } from '../../../src/gate/cleanup/main-step.js'
import type { LocalService } from '../../../src/gate/ports.js'
import { makeGate, makeRun, type TestGate } from '../../support/gate/gate-ports.js'

let gate: TestGate
let requests: Parameters<NonNullable<LocalService['keepLogs']>>[0][]

beforeEach(async () => {
  requests = []
  const local: LocalService = {
    url: '',
    token: 'local-token',
    keepLogs: async (request) => {
      requests.push(request)
      return [join(request.folder, 'node.log')]
    },
    close: async () => undefined
  }
  gate = { ...(await makeGate('http://127.0.0.1:1', { githubToken: 'github-token' })), local }
})

/** Everything that a run with a good end brings, so that each case changes one thing. */
const goodRun = makeRun({ durationSeconds: 10, startedMs: 0, stoppedMs: 10_000 })
const goodEnd = (): Findings => ({
  run: goodRun,
  collection: {
    run: goodRun,
    missingGrids: [],
    spansMs: new Map(),
    report: { summary: 'well', means: {}, rehearsal: false, warnings: [] },
    reportProblem: undefined,
    resultsDir: '',
    grids: [],
    measurements: undefined
  }
})

describe('the logs are kept', () => {
  test.each<{ name: string; findings: Findings }>([
    { name: 'a run that did not finish', findings: { ...goodEnd(), run: makeRun({ status: 'problem' }) } },
    {
      name: 'a run that lost load',
      findings: { ...goodEnd(), run: makeRun({ remoteErrors: 'load lost: users.csv' }) }
    },
    { name: 'a timeout', findings: { ...goodEnd(), failure: { kind: 'timed-out', message: 'late' } } },
    { name: 'a cancel', findings: { ...goodEnd(), failure: { kind: 'cancelled', message: 'SIGINT' } } },
    {
      name: 'an end before its time',
      findings: { ...goodEnd(), run: makeRun({ durationSeconds: 10, startedMs: 0, stoppedMs: 2000 }) }
    }
  ])('after $name', async ({ findings }) => {
    const logs = await keepLogs(gate, conclude(gate.settings, findings))
    const folder = join(gate.ports.scratchDir, 'logs')
    expect(requests).toEqual([{ runId: 'run1', folder, secrets: ['local-token', 'github-token'] }])
    expect(logs).toEqual([join(folder, 'node.log')])
    expect(gate.ports.log.of('info')).toEqual([`The tool's logs are saved in ${folder}.`])
  })
})

test.each(['passed', 'failed'] as const)('warnings alone are no reason to keep them: %s', async (verdict) => {
  const warnings = ['The service says: The load generator was short of CPU: it used 97 % of 2 cores.']
  const outcome = { ...conclude(gate.settings, goodEnd()), verdict, warnings }
  expect(await keepLogs(gate, outcome)).toEqual([])
  expect(requests).toEqual([])
})

test('where there is no run there are no logs', async () => {
  const findings: Findings = { failure: { kind: 'error', message: 'no java' } }
  const logs = await keepLogs(gate, conclude(gate.settings, findings))
  expect([requests, logs]).toEqual([[], []])
})

test('logs that cannot be copied cost a warning', async () => {
  const failing = { ...gate.local!, keepLogs: () => Promise.reject(new Error('ENOSPC')) }
  const findings: Findings = { run: makeRun({ status: 'problem' }) }
  const logs = await keepLogs({ ...gate, local: failing }, conclude(gate.settings, findings))
  expect(gate.ports.log.of('warning')).toEqual(["The tool's logs could not be saved: ENOSPC"])
  expect(logs).toEqual([])
})

test('of several runs, those of the bad ones are kept apart, even after a good end', async () => {
  const badRuns = [{ runId: 'run7', folder: '02-base' }]
  const logs = await keepLogs(gate, conclude(gate.settings, goodEnd()), badRuns)
  const folder = join(gate.ports.scratchDir, 'logs', '02-base')
  expect(requests).toEqual([{ runId: 'run7', folder, secrets: ['local-token', 'github-token'] }])
  expect(logs).toEqual([join(folder, 'node.log')])
})
