import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtemp, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import '../../../src/gate/live/early-stop.js'
import { CancelledError } from '../../../src/gate/errors.js'
import type { Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readAddress } from '../../../src/client/http/address.js'
import { TOKEN, makePorts, makeSettings, makeSpecification } from '../../support/gate/gate-ports.js'
import type { TestPorts } from '../../support/gate/gate-ports.js'
import { GateService, faults } from '../../support/gate/gate-service.js'
import type { ServedRun } from '../../support/gate/gate-service.js'
import { csvAt, steady } from '../../support/gate/live-samples.js'
import type { TimedSample } from '../../support/gate/live-samples.js'
import { QUIET_PLAN } from '../../support/quiet-plan.js'

const MINUTE = 60_000
const DURATION_MS = 5 * MINUTE
/** The whole run holds `p92 < 800ms`; the windows between 2 and 3.5 minutes do not. */
const SLOW = steady(DURATION_MS, 4, (atMs) => ({
  elapsedMs: atMs % 1000 === 0 && atMs > MINUTE ? 1240 : 100
}))
const FINE = steady(DURATION_MS, 4)

let service: GateService
let ports: TestPorts
let plan: string
let stoppedMs: number | undefined
let readMs: number | undefined
/** The run ends between the reading of its samples and the look after it. */
let endsWhenLookedAtAgain: boolean
let samplesOf: (grid: string) => readonly TimedSample[]

beforeEach(async () => {
  service = new GateService()
  ports = await makePorts()
  service.now = () => ports.clock.now()
  plan = join(await mkdtemp(join(tmpdir(), 'gate-plan-')), 'plan.jmx')
  await writeFile(plan, QUIET_PLAN)
  stoppedMs = undefined
  readMs = undefined
  endsWhenLookedAtAgain = false
  samplesOf = () => SLOW
  serveByTheClock()
})

afterEach(() => service.close())

/** The run ends when its time is over or it is stopped, and its CSVs grow until then. */
function serveByTheClock(): void {
  const { clock } = ports
  const add = service.addRun.bind(service)
  service.addRun = (changes) => {
    const run = add(changes)
    let own: string[] | undefined
    const end = (statuses: string[]): void => {
      own = statuses
      stoppedMs = clock.elapsedMs
    }
    return Object.defineProperty(run, 'statuses', {
      get: () => {
        if (endsWhenLookedAtAgain && readMs === clock.elapsedMs) end(['finished'])
        return own ?? (clock.elapsedMs < DURATION_MS ? ['running'] : ['finished'])
      },
      set: end
    }) satisfies ServedRun
  }
  serve((grid) => {
    readMs = clock.elapsedMs
    return csvAt(samplesOf(grid), stoppedMs ?? clock.elapsedMs)
  })
}

function serve(csvOf: (grid: string) => string): void {
  service.csvs.get = (grid) => (grid.startsWith('?') ? undefined : csvOf(grid))
}

function gate(changes: Partial<Settings> & { thresholdLines?: string } = {}): Promise<Outcome> {
  const settings = makeSettings({
    target: { kind: 'remote', address: readAddress(service.url), token: TOKEN },
    origin: { kind: 'files', paths: [plan], grids: [makeSpecification()] },
    thresholdLines: 'p92 < 800ms',
    durationSeconds: DURATION_MS / 1000,
    stopEarly: true,
    ...changes
  })
  return ports.clock.run(runGate(ports, settings))
}

const liveInfos = (): string[] => ports.log.of('info').filter((line) => line.startsWith('stop-early:'))

describe('a run that breaks a threshold', () => {
  test('is stopped, collected and failed, and says what that saved', async () => {
    const outcome = await gate()
    expect(outcome.reason).toMatch(
      /^Stopped early after (2 min( \d+ s)?) of 5 min: p92 is 1,240 ms so far, and was above 800 ms in each of the last six 10-second windows \(latest 1,240 ms\); it might have recovered, so this is the verdict on the first \1 only\.$/
    )
    expect(outcome).toMatchObject({
      verdict: 'failed',
      stoppedEarly: { ofSeconds: 300, threshold: 'p92 < 800ms' },
      judgements: [{ verdict: 'failed', actual: 1240 }],
      warnings: []
    })
    const { afterSeconds, savedSeconds } = outcome.stoppedEarly!
    expect(Object.keys(outcome.stoppedEarly!).sort()).toEqual([
      'afterSeconds',
      'ofSeconds',
      'savedSeconds',
      'threshold'
    ])
    expect([afterSeconds + savedSeconds, afterSeconds < 150]).toEqual([300, true])
    expect(ports.outputs.get('saved-seconds')).toBe(String(savedSeconds))
    expect(ports.log.of('notice')[0]).toContain(
      'Stopping run run1 early: p92 is 1,240 ms so far, and was above 800 ms'
    )
    expect(service.count('stopRun')).toBe(1)
    expect(stoppedMs).toBeLessThan(160_000)
    expect(ports.states.at(-1)).toMatchObject({ cleanupDue: false, leaveIfKilled: false })
    expect(ports.clock.pendingCount).toBe(0)
  })

  test('is not stopped while its samples so far hold, however bad the last minute is', async () => {
    samplesOf = () =>
      steady(DURATION_MS, 4, (atMs) => ({ elapsedMs: atMs % 2000 === 0 && atMs > MINUTE ? 1240 : 100 }))
    // One in eight after the first minute: 10 % of all in the end.
    const outcome = await gate({ thresholdLines: 'p89 < 800ms' })
    expect([outcome.verdict, service.count('stopRun')]).toEqual(['passed', 0])
  })

  test('stays failed if the samples until it had ended would hold', async () => {
    const good = steady(DURATION_MS, 2000, () => ({ elapsedMs: 1 }))
    samplesOf = () => (stoppedMs === undefined ? SLOW : [...SLOW, ...good])
    const outcome = await gate({ thresholdLines: 'p92 < 800ms\nmax < 5s' })
    expect(outcome.judgements.map(({ verdict }) => verdict)).toEqual(['failed', 'passed'])
    expect(outcome.verdict).toBe('failed')
  })

  test('says so where the rest could not have changed it', async () => {
    const outcome = await gate({ thresholdLines: 'max < 1s' })
    expect(outcome.reason).toMatch(
      /^Stopped early after [^:]+: max must be < 1,000 ms and is already 1,240 ms, whatever the rest of the run would have been\.$/
    )
    expect(outcome.verdict).toBe('failed')
  })

  test.each([
    ['holds', 'error_rate < 20%', 'passed', 0],
    ['is stopped', 'error_rate < 5%', 'failed', 1]
  ])('with a warm-up that failed %s by the rest alone', async (_, thresholdLines, verdict, stops) => {
    // All of the first minute fail, and then every sixth one.
    samplesOf = () => steady(DURATION_MS, 4, (atMs) => ({ isFailure: atMs < MINUTE || atMs % 1500 === 0 }))
    const outcome = await gate({ warmUpMs: MINUTE, thresholdLines })
    expect(outcome).toMatchObject({
      verdict,
      judgements: [{ verdict }],
      warmUp: { ms: MINUTE, samples: 240, failures: 240 }
    })
    expect(service.count('stopRun')).toBe(stops)
  })

  test('stays failed without its CSV', async () => {
    serve((grid) =>
      stoppedMs === undefined ? csvAt(samplesOf(grid), ports.clock.elapsedMs) : '<html></html>'
    )
    const outcome = await gate()
    expect(outcome.verdict).toBe('failed')
    expect(outcome.reason).toContain('Stopped early')
    expect(outcome.grids[0]?.problem).toBeDefined()
  })

  test.each([
    ['of other times', FINE],
    ['fewer', SLOW.filter(({ atMs }) => atMs % 2000 !== 0)],
    ['of another label', SLOW.map((sample) => ({ ...sample, label: 'other' }))],
    ['none', []]
  ])('is inconclusive if the samples downloaded after the stop are others: %s', async (_name, others) => {
    samplesOf = () => (stoppedMs === undefined ? SLOW : others)
    const outcome = await gate({ thresholdLines: 'p92 < 800ms\nmax < 1s' })
    expect(service.count('stopRun')).toBe(1)
    expect(outcome).toMatchObject({ verdict: 'inconclusive', stoppedEarly: { ofSeconds: 300 } })
    expect(outcome.judgements.map(({ verdict }) => verdict)).toEqual(['inconclusive', 'inconclusive'])
    expect(outcome.reason).toMatch(
      /^The results are not the samples that were read during the run: .+ During the run: stopped early after /
    )
  })

  test('is not stopped without stop-early, and then it passes', async () => {
    samplesOf = () => SLOW.map((sample) => (sample.atMs > 150_000 ? { ...sample, elapsedMs: 100 } : sample))
    expect(await gate({ stopEarly: false, thresholdLines: 'p91 < 800ms' })).toMatchObject({
      verdict: 'passed'
    })
    expect([service.count('stopRun'), ports.outputs.has('saved-seconds')]).toEqual([0, false])
  })

  test('that others started is not stopped', async () => {
    service.addRun({ id: 'theirs' })
    await gate({ origin: { kind: 'existing', runId: 'theirs' } })
    expect(service.count('stopRun')).toBe(0)
  })

  test('and whose stop fails is watched to its end and judged as a whole', async () => {
    samplesOf = () => SLOW.map((sample) => (sample.atMs > 150_000 ? { ...sample, elapsedMs: 100 } : sample))
    service.meet('stopRun', ...Array.from({ length: 50 }, () => faults.answer(403)))
    const outcome = await gate({ thresholdLines: 'p91 < 800ms' })
    expect(outcome).toMatchObject({ verdict: 'passed', stoppedEarly: undefined })
    expect(ports.log.of('warning').join()).toContain('The run could not be stopped early')
    expect(ports.outputs.get('saved-seconds')).toBe('0')
  })

  test('and that has just ended by itself is judged as a whole', async () => {
    endsWhenLookedAtAgain = true
    const outcome = await gate()
    expect(stoppedMs).toBeGreaterThan(MINUTE)
    expect([service.count('stopRun'), outcome.stoppedEarly]).toEqual([0, undefined])
    expect(ports.log.of('notice')).toEqual([])
  })

  test('cancelled while it is being stopped is cancelled', async () => {
    service.meet('stopRun', () => ports.cancellation.abort(new CancelledError('SIGINT')))
    expect(await gate()).toMatchObject({ verdict: 'cancelled' })
    expect(service.count('stopRun')).toBeGreaterThan(1)
  })
})

describe('a run that is not stopped', () => {
  test('holds: it is read in step with the polls, and passes', async () => {
    samplesOf = () => FINE
    expect(await gate()).toMatchObject({ verdict: 'passed' })
    expect(ports.outputs.get('saved-seconds')).toBe('0')
    const reads = service.count('result')
    expect(reads).toBeGreaterThan(5)
    expect(reads).toBeLessThanOrEqual(service.count('showRun') + 1)
    expect(liveInfos()).toEqual([])
  })

  test('one of two grids lags behind', async () => {
    service.ownGrids = ['grid1', 'grid2'].map((id) => ({ id, region: 'us-east-1' }))
    samplesOf = (grid) => (grid === 'grid1' ? SLOW : SLOW.filter(({ atMs }) => atMs < 90_000))
    const grids = [makeSpecification(), makeSpecification()]
    await gate({ origin: { kind: 'files', paths: [plan], grids } })
    expect(service.count('stopRun')).toBe(0)
  })

  test.each([
    ['404', faults.answer(404)],
    ['409', faults.answer(409)],
    ['503', faults.answer(503)],
    ['an empty reply', faults.answer(200, '')],
    ['a page', faults.answer(200, '<html>\n</html>\n')],
    ['a broken connection', faults.dropBefore]
  ])('a service without live samples: %s is told once, and the watch goes on', async (_name, fault) => {
    samplesOf = () => FINE
    service.meet('result', ...Array.from({ length: 14 }, () => fault))
    expect(await gate()).toMatchObject({ verdict: 'passed' })
    expect(liveInfos()).toHaveLength(1)
    expect(ports.log.of('warning')).toEqual([])
  })

  test('a service that never answers holds up the watch once, for five seconds', async () => {
    samplesOf = () => FINE
    service.meet('result', faults.hold)
    const gating = gate()
    await service.reached('result')
    // Nothing else moves the clock while a request is open.
    await ports.clock.advance(5000)
    expect(await gating).toMatchObject({ verdict: 'passed' })
    expect(liveInfos()[0]).toContain('took longer than 5 s')
    expect(service.count('result')).toBeLessThan(5)
  })

  test('a row that cannot be read', async () => {
    serve(() =>
      csvAt(SLOW, ports.clock.elapsedMs).replace(/\n(\d+),100,home,200/, '\n$1,100,home,200,more,columns')
    )
    await gate()
    expect(service.count('stopRun')).toBe(0)
    expect(liveInfos()).toHaveLength(1)
  })

  test('samples that are further than the clock', async () => {
    samplesOf = () => SLOW.map((sample) => ({ ...sample, atMs: sample.atMs * 3 }))
    serve((grid) => csvAt(samplesOf(grid), ports.clock.elapsedMs * 3))
    await gate({ durationSeconds: 900 })
    expect(service.count('stopRun')).toBe(0)
  })

  test('more new rows than one look takes, one node after the other', async () => {
    const label = 'x'.repeat(8000)
    const rows = csvAt(
      steady(2 * MINUTE, 20, () => ({ label })),
      2 * MINUTE
    )
    const replies = [rows + rows.slice(rows.indexOf('\n') + 1)]
    // The first look has most rows of one node, and none of the other.
    serve(() => (ports.clock.elapsedMs < 2 * MINUTE ? undefined : replies.pop()) ?? csvAt(FINE, -1))
    await gate({ thresholdLines: 'throughput >= 30/s', rampupSeconds: 10 })
    expect([service.count('stopRun'), replies]).toEqual([0, []])
  })

  test.each([
    ['before', -24 * 60 * MINUTE, 'from before the start of the run'],
    ['after', 24 * 60 * MINUTE, 'from the future']
  ])('samples of a day %s', async (_name, shiftMs, words) => {
    serve((grid) =>
      csvAt(samplesOf(grid), ports.clock.elapsedMs).replace(/^\d+/gm, (ms) => String(Number(ms) + shiftMs))
    )
    await gate()
    expect(service.count('stopRun')).toBe(0)
    expect(liveInfos()).toEqual([expect.stringContaining(words)])
  })
})
