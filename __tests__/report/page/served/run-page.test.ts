import { describe, expect, test } from '@jest/globals'
import { describeRun, renderRunPage } from '../../../../src/report/page/served/run-page.js'
import type { RunState } from '../../../../src/report/page/served/run-page.js'
import { measure } from '../../../support/data/sample-csv.js'
import { measureStalled } from '../../../support/stalls/stalled-run.js'

const START_MS = 1_700_000_000_000
const PATHS = { eventsPath: '/runs/r/events', stopPath: '/runs/r/stop', homePath: '/' }

/** Ten samples per second of 100 ms, one of them failed, for this many seconds; the last one has only begun. */
function measureSeconds(seconds: number) {
  const rows = Array.from({ length: seconds * 10 + 1 }, (_, i) => {
    const atMs = START_MS + i * 100
    return `${atMs},${i % 10 === 5 ? 200 : 0},home,${i % 10 !== 5},2\n`
  })
  return measure(`timeStamp,elapsed,label,success,allThreads\n${rows.join('')}`)
}

function makeState(given: Partial<RunState> = {}): RunState {
  return {
    id: 'r',
    name: 'Nightly',
    status: 'running',
    tool: 'jmeter-5.6.3',
    threads: 2,
    durationSeconds: 60,
    startedMs: START_MS,
    stoppedMs: undefined,
    nowMs: START_MS + 8_250,
    apdexTargetMs: 150,
    summary: undefined,
    problem: undefined,
    rehearsal: false,
    warnings: [],
    grids: [],
    measurements: undefined,
    ...given
  }
}

describe('a run in progress', () => {
  test('shows the last seconds, without the incomplete one', () => {
    const document = describeRun(makeState({ measurements: measureSeconds(8) }))
    expect(document.live).toEqual({
      elapsedMs: 8_250,
      durationMs: 60_000,
      now: { windowMs: 5000, throughput: 10, failures: 5, bucketMs: 1000, p95Ms: 200 },
      quiet: null
    })
    expect(document.series?.throughput).toEqual(new Array(8).fill(10))
    expect(document.apdex).toEqual({ score: expect.closeTo(73 / 81, 4), targetMs: 150 })
    expect(document.reason).toBe('81 samples so far.')
  })

  test.each<[string, Partial<RunState>, number | null]>([
    ['before the first sample', {}, null],
    ['after the first sample', { firstSampleMs: START_MS + 6_000 }, 2_250],
    [
      'by the samples, where nobody has said when the first one was',
      { measurements: measureSeconds(8) },
      8_250
    ],
    ['by a clock that was set back', { firstSampleMs: START_MS + 9_000 }, 0]
  ])('counts from the first sample, however long the tool took to start: %s', (_, given, elapsedMs) => {
    const { live } = describeRun(makeState({ startedMs: START_MS - 28_000, ...given }))
    expect(live).toMatchObject({ elapsedMs, durationMs: 60_000 })
  })

  test('that waits says for what, if that is not the runs before it', () => {
    const waiting = makeState({ status: 'queued', queuePosition: 1 })
    const place = 'The run is waiting for its turn: it is 1st in the queue.'
    expect(describeRun(waiting).reason).toBe(place)
    const held = describeRun({ ...waiting, waitingReason: 'the queue is held: <b>restored</b>' })
    expect(held.reason).toBe(`${place} It does not start for now: the queue is held: <b>restored</b>.`)
    expect(renderRunPage(held, PATHS).html).not.toContain('<b>restored')
  })

  test('has one point as soon as there is a sample', () => {
    const { live, series } = describeRun(makeState({ measurements: measureSeconds(0) }))
    expect(live?.now).toMatchObject({ windowMs: 1000, throughput: 1, failures: 0 })
    expect(series?.atMs).toEqual([0])
  })

  test.each<[string, Partial<RunState>, string]>([
    ['queued', { status: 'queued', startedMs: undefined }, 'The run is waiting for its grids.'],
    ['running without samples', {}, 'The run is starting; there are no samples yet.'],
    [
      'stopping',
      { status: 'stopping', measurements: measureSeconds(1) },
      'The run is being stopped; 11 samples so far.'
    ]
  ])('says so: %s', (_, given, reason) => {
    expect(describeRun(makeState(given))).toMatchObject({ reason, thresholds: [] })
  })

  test('has a button to stop it, events, and no thresholds', () => {
    const { html, policy } = renderRunPage(describeRun(makeState({ name: '"><b>' })), PATHS)
    expect(html).toContain('data-path="/runs/r/stop"')
    expect(html).toContain('data-events="/runs/r/events"')
    expect(html).toContain('<a href="/">All runs</a>')
    const body = html.slice(html.indexOf('<body>'), html.indexOf('<script'))
    expect(body.includes('No thresholds')).toBe(false)
    expect(body.includes('<b>')).toBe(false)
    expect(policy).toContain("connect-src 'self'")
    expect(html).toContain(`content="${policy}"`)
  })
})

describe('a run that is over', () => {
  const ended = { status: 'finished', stoppedMs: START_MS + 9_600 } as const

  test('is complete, and nothing is fetched', () => {
    const document = describeRun(makeState({ ...ended, measurements: measureSeconds(8) }))
    expect(document.live).toBeUndefined()
    expect(document.series?.atMs).toHaveLength(9)
    expect(document.reason).toBe('81 samples in 0:08.')
    const { html, policy } = renderRunPage(document, PATHS)
    expect(html).not.toMatch(/data-events|data-path/)
    expect(policy).not.toContain('connect-src')
  })

  test('shows when nothing was answered, as a report does', () => {
    const document = describeRun(makeState({ ...ended, measurements: measureStalled() }))
    const { html } = renderRunPage(document, PATHS)
    expect(document.stalls?.bands).toHaveLength(1)
    expect(html).toContain('<p>At 0:08 nothing was answered for 4.8 s while 12 users waited.</p>')
  })

  test.each<[string, Partial<RunState>, string]>([
    ['without samples', ended, 'No samples were recorded.'],
    ['badly', { ...ended, status: 'problem', problem: 'no such class' }, 'no such class']
  ])('says how it ended: %s', (_, given, reason) => {
    expect(describeRun(makeState(given)).reason).toBe(reason)
  })
})
