import { describe, expect, test } from '@jest/globals'
import { type KeptRun, planPruning } from '../../../src/service/retention/prune.js'
import type { Retention } from '../../../src/service/config/config.js'
import { makeRandom } from '../../support/data/seeded-random.js'

const DAY_MS = 86_400_000
const NOW_MS = 1000 * DAY_MS

function makeRuns(random: () => number): KeptRun[] {
  return Array.from({ length: Math.floor(random() * 40) }, (_, index) => {
    const createdMs = NOW_MS - random() * 100 * DAY_MS
    return {
      id: `r${index}`,
      sequence: index + 1,
      project: [null, 'shop', 'bank'][Math.floor(random() * 3)]!,
      userId: Math.floor(random() * 2),
      createdMs,
      bytes: Math.floor(random() * 1000),
      endedMs: random() < 0.8 ? createdMs + random() * (NOW_MS - createdMs) : undefined,
      isPinned: random() < 0.15
    }
  })
}

const makeLimits = (random: () => number): Retention => ({
  ...(random() < 0.5 && { days: Math.floor(random() * 100) }),
  ...(random() < 0.5 && { bytes: Math.floor(random() * 10_000) }),
  ...(random() < 0.5 && { runsPerProject: 1 + Math.floor(random() * 10) }),
  ...(random() < 0.5 && { listed: new Set(['shop']) }),
  ...(random() < 0.8 && { atLeastMs: Math.floor(random() * 30) * DAY_MS })
})

describe.each(Array.from({ length: 200 }, (_, seed) => seed + 1))('seed %i', (seed) => {
  const random = makeRandom(seed)
  const runs = makeRuns(random)
  const limits = makeLimits(random)
  const surelyMs = random() < 0.8 ? NOW_MS : NOW_MS - random() * 50 * DAY_MS
  const plan = planPruning(runs, limits, { nowMs: NOW_MS, surelyMs })
  const gone = new Set(plan.map(({ run }) => run))
  const kept = runs.filter((run) => !gone.has(run))
  const mayGo = ({ endedMs, isPinned }: KeptRun): boolean =>
    endedMs !== undefined && !isPinned && surelyMs - endedMs >= (limits.atLeastMs ?? DAY_MS)
  const isTooOld = ({ createdMs }: KeptRun): boolean =>
    limits.days !== undefined && createdMs < NOW_MS - limits.days * DAY_MS
  const newerOfProject = (run: KeptRun): KeptRun[] =>
    runs.filter(
      ({ project, userId, sequence, endedMs, isPinned }) =>
        project === run.project &&
        (limits.listed === undefined || project === 'shop' || userId === run.userId) &&
        sequence > run.sequence &&
        endedMs !== undefined &&
        !isPinned
    )
  const isTooMany = (run: KeptRun): boolean =>
    limits.runsPerProject !== undefined && newerOfProject(run).length >= limits.runsPerProject

  test('oldest first, each once, and none that has not ended, is pinned or ended too short a time ago', () => {
    const numbers = plan.map(({ run }) => run.sequence)
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b))
    expect(plan.filter(({ run }) => !mayGo(run))).toEqual([])
  })

  test('nothing that can be deleted is left beyond a limit', () => {
    const left = kept.filter(mayGo)
    expect(left.filter((run) => isTooOld(run) || isTooMany(run))).toEqual([])
    const total = kept.reduce((sum, { bytes }) => sum + bytes, 0)
    expect(left.length === 0 || total <= (limits.bytes ?? Infinity)).toBe(true)
  })

  test('nothing is deleted without need: the last one for its size was needed, and it is the oldest', () => {
    const forSize = plan.map(({ run }) => run).filter((run) => !isTooOld(run) && !isTooMany(run))
    const total = kept.reduce((sum, { bytes }) => sum + bytes, 0)
    const last = forSize.at(-1)
    expect(last === undefined || total + last.bytes > limits.bytes!).toBe(true)
    const newest = Math.max(0, ...forSize.map(({ sequence }) => sequence))
    expect(kept.filter((run) => mayGo(run) && run.sequence < newest)).toEqual([])
  })
})

test('says which limit a run is beyond', () => {
  const run = (sequence: number, changes: Partial<KeptRun>): KeptRun => ({
    ...{ id: `r${sequence}`, sequence, project: null, userId: 1, createdMs: NOW_MS, bytes: 10 },
    ...{ endedMs: 0, isPinned: false },
    ...changes
  })
  const runs = [
    run(1, { createdMs: 0 }),
    ...[run(2, { project: 'shop' }), run(3, { project: 'shop' })],
    ...[run(4, {}), run(5, { project: 'bank', bytes: 20 }), run(6, {})]
  ]
  const plan = planPruning(runs, { days: 90, runsPerProject: 1, bytes: 30 }, { nowMs: NOW_MS })
  expect(plan.map(({ run: { id }, why }) => `${id}: ${why}`)).toEqual([
    'r1: it is older than 90 days',
    'r2: project "shop" has more than 1 runs',
    'r3: all runs together are larger than the limit',
    'r4: there are, without a project, more than 1 runs'
  ])
  expect(planPruning(runs, {}, { nowMs: NOW_MS })).toEqual([])
})

test('runs in a project that is not in the config file push out none of somebody else', () => {
  const run = (sequence: number, project: string | null, userId: number): KeptRun => ({
    ...{ id: `r${sequence}`, sequence, project, userId, createdMs: NOW_MS, bytes: 10 },
    ...{ endedMs: 0, isPinned: false }
  })
  const runs = [
    ...[run(1, 'acme/shop', 1), run(2, 'acme/shop', 2), run(3, 'acme/shop', 2)],
    ...[run(4, null, 1), run(5, null, 2), run(6, null, 2)],
    ...[run(7, 'bank', 1), run(8, 'bank', 2)]
  ]
  const retention = { runsPerProject: 1, listed: new Set(['bank']) }
  expect(
    planPruning(runs, retention, { nowMs: NOW_MS }).map(({ run: { id }, why }) => `${id}: ${why}`)
  ).toEqual([
    'r2: project "acme/shop" has more than 1 runs of this user',
    'r5: there are, without a project, more than 1 runs of this user',
    'r7: project "bank" has more than 1 runs'
  ])
})
