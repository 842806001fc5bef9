import { describe, expect, test } from '@jest/globals'
import { describeRun } from '../../../../src/report/page/served/run-page.js'
import type { RunState } from '../../../../src/report/page/served/run-page.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { measureStalled, STALLED_START_MS, type StalledRun } from '../../../support/stalls/stalled-run.js'

const STATE: RunState = {
  ...{ id: 'r', name: 'Nightly', status: 'running', tool: 'jmeter-5.6.3', threads: 12, durationSeconds: 600 },
  ...{ startedMs: STALLED_START_MS, stoppedMs: undefined, nowMs: 0, apdexTargetMs: undefined },
  ...{ summary: undefined, problem: undefined, rehearsal: false, warnings: [], grids: [] },
  measurements: undefined
}

/** What the page says when so much time has passed since the start, by the samples that have ended by then. */
async function sayAt(atMs: number, run: StalledRun, given: Partial<RunState> = {}): Promise<string | null> {
  const clock = new ManualClock(STALLED_START_MS)
  await clock.advance(atMs)
  const measurements = measureStalled({ ...run, untilMs: atMs })
  return describeRun({ ...STATE, nowMs: clock.now(), measurements, ...given }).live?.quiet ?? null
}

describe('while nothing is answered', () => {
  test.each<[number, string | null]>([
    [8_000, null],
    [10_000, null],
    [10_500, 'Nothing answered for 2 s; the last answer came at 0:08.'],
    [12_200, 'Nothing answered for 4 s; the last answer came at 0:08.'],
    [13_000, null],
    [20_000, null]
  ])('the page says so, %d ms after the start', async (atMs, said) => {
    expect(await sayAt(atMs, {})).toBe(said)
  })

  test('its figures of the moment are none', () => {
    const nowMs = STALLED_START_MS + 12_200
    const { live } = describeRun({ ...STATE, nowMs, measurements: measureStalled({ untilMs: 12_200 }) })
    expect(live?.now).toMatchObject({ windowMs: 4_000, throughput: 0, failures: 0, p95Ms: null })
  })

  test('it says so the second time as well', async () => {
    const stalls = [
      [8100, 4800],
      [20_000, 6000]
    ] as const
    expect(await sayAt(23_500, { stalls })).toBe('Nothing answered for 3 s; the last answer came at 0:20.')
  })

  test('a run that has only just begun takes longer to be unusual', async () => {
    const stalls = [[2_000, 60_000]] as const
    expect(await sayAt(12_000, { stalls })).toBeNull()
    expect(await sayAt(33_000, { stalls })).toBe('Nothing answered for 31 s; the last answer came at 0:02.')
  })
})

describe('nothing unusual is said', () => {
  test.each<[string, StalledRun]>([
    ['with a user who asks every 10 s', { users: 1, thinkMs: 10_000, seconds: 200, stalls: [] }],
    ['with a user who waits 8 s for each answer', { users: 1, answerMs: 8_000, seconds: 200, stalls: [] }],
    ['with users who all pause for 5 s', { users: 10, thinkMs: 5_000, seconds: 100, stalls: [] }],
    ['with three users and two seconds in between', { users: 3, thinkMs: 2_000, seconds: 100, stalls: [] }]
  ])('%s, at any time', async (_, run) => {
    for (let atMs = 1_000; atMs < (run.seconds ?? 0) * 1000; atMs += 3_700)
      expect([atMs, await sayAt(atMs, run)]).toEqual([atMs, null])
  })

  test.each<[string, Partial<RunState>]>([
    ['when the run is being stopped', { status: 'stopping' }],
    ['after its planned end', { durationSeconds: 11 }],
    ['without samples', { measurements: undefined }]
  ])('%s', async (_, given) => {
    expect(await sayAt(12_200, {}, given)).toBeNull()
    expect(await sayAt(12_200, {})).not.toBeNull()
  })

  test('by a node whose clock is ahead', async () => {
    expect(await sayAt(12_200, {}, { nowMs: STALLED_START_MS })).toBeNull()
  })
})
