import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Findings } from '../../../src/gate/findings.js'
import type { Gate } from '../../../src/gate/gate.js'
import { describePartial, howToClose } from '../../../src/gate/cleanup/main-step.js'
import { collectPartial } from '../../../src/gate/follow-run.js'
import { makeClient, makeRun, makeSettings } from '../../support/gate/gate-ports.js'
import { sideBySide } from '../../support/gate/side-by-side.js'
import { JumpingClock, ManualClock } from '../../support/manual-clock.js'
import { GateService, faults } from '../../support/gate/gate-service.js'

let scratchDir: string
beforeEach(() => {
  scratchDir = mkdtempSync(join(tmpdir(), 'loadgate-partial-'))
})
afterEach(() => rmSync(scratchDir, { recursive: true }))

const CANCELLED: Findings = { failure: { kind: 'cancelled', message: 'cancelled by SIGINT' } }
const TIMED_OUT: Findings = { failure: { kind: 'timed-out', message: 'too long' } }
const local = { url: '', token: '', close: () => Promise.resolve() }
const makeGate = (parts: Partial<Gate> = {}): Gate =>
  ({ ports: { clock: new JumpingClock(), scratchDir }, settings: makeSettings(), local, ...parts }) as Gate

describe('how the embedded service is closed after a cancellation', () => {
  test.each([
    { name: 'at once', spentMs: 0, withinMs: 5000 },
    { name: 'after a slow stop', spentMs: 3200, withinMs: 1800 },
    { name: 'when the time is over', spentMs: 5000, withinMs: 500 },
    { name: 'when it has been over for long', spentMs: 60_000, withinMs: 500 }
  ])('$name: in what is left, and what nobody has read is kept', ({ spentMs, withinMs }) => {
    const gate = makeGate()
    const endedMs = gate.ports.clock.now() - spentMs
    expect(howToClose(gate, { ...CANCELLED, endedMs })).toEqual({
      withinMs,
      keepSamplesIn: join(scratchDir, 'results')
    })
  })

  test('side by side, where all runs share their grids, the samples of one would overwrite those of another', () => {
    const gate = makeGate({ settings: makeSettings({ baseline: sideBySide(3) }) })
    expect(howToClose(gate, CANCELLED)).toEqual({ withinMs: 5000 })
  })

  test.each([
    { name: 'another end than a cancellation', gate: {}, findings: TIMED_OUT },
    { name: 'no failure', gate: {}, findings: {} },
    { name: 'a service elsewhere', gate: { local: undefined }, findings: CANCELLED }
  ])('$name is none of its business', ({ gate, findings }) => {
    expect(howToClose(makeGate(gate), { ...findings, endedMs: 0 })).toEqual({})
  })
})

describe('what is said of the CSVs', () => {
  test('their names, and that nobody has read them', async () => {
    mkdirSync(join(scratchDir, 'results'))
    for (const name of ['b.csv', 'a.csv', 'c.csv.part']) writeFileSync(join(scratchDir, 'results', name), '')
    expect(await describePartial(makeGate(), CANCELLED)).toEqual([
      'Partial results, measured before the cancellation: results/a.csv, results/b.csv. There was no time to read them.'
    ])
  })

  test('nothing where there are none', async () => {
    expect(await describePartial(makeGate(), CANCELLED)).toEqual([])
  })
})

describe('what is read of a cancelled run', () => {
  test('nothing while it still runs, though a reply says that another one has ended', async () => {
    const service = new GateService()
    service.addRun({ id: 'mine', statuses: ['running'] })
    service.meet('showRun', faults.answer(200, { uuid: 'another', status: 'finished' }))
    const clock = new ManualClock()
    const client = makeClient(service.url, clock)
    const ports = { clock, scratchDir, log: { info: () => undefined } }
    const gate = makeGate({ client, ports } as unknown as Partial<Gate>)
    const findings = { ...CANCELLED, run: makeRun({ id: 'mine', status: 'running' }), endedMs: clock.now() }
    expect(await clock.run(collectPartial(gate, findings))).toBe(findings)
    expect(service.count('showRun')).toBe(2)
    expect(service.count('result')).toBe(0)
    await client.close()
    service.close()
  })
})
