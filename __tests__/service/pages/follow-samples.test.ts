import { afterAll, describe, expect, test } from '@jest/globals'
import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SampleFollower } from '../../../src/service/pages/follow-samples.js'
import { describeRun, type RunState } from '../../../src/report/page/served/run-page.js'
import type { PageDocument } from '../../../src/report/page/build-document.js'
import { ManualClock } from '../../support/manual-clock.js'
import { STALLED_START_MS, writeStalled } from '../../support/stalls/stalled-run.js'
import { createFolders } from '../support.js'

const HEADER = 'timeStamp,elapsed,label,success,allThreads\n'
const RUNNING: RunState = {
  ...{ id: 'r', name: undefined, status: 'running', tool: 'jmeter-5.6.3', threads: 12, durationSeconds: 60 },
  ...{ startedMs: STALLED_START_MS, stoppedMs: undefined, nowMs: 0, apdexTargetMs: undefined },
  ...{ summary: undefined, problem: undefined, rehearsal: false, warnings: [], grids: [] },
  measurements: undefined
}
const folders = createFolders()
afterAll(() => folders.remove())

describe('files that grow', () => {
  test('are read on from where they ended, whole rows only', async () => {
    const file = join(folders.create(), 'node.csv')
    const follower = new SampleFollower([{ file, grid: 'g', region: 'r' }])
    expect(await follower.look()).toBeUndefined()
    const row = (i: number): string => `${1000 + i * 100},${i + 1},"a, ""${i % 2}""\nb",${i % 4 > 0},2\n`
    const text = HEADER + Array.from({ length: 40 }, (_, i) => row(i)).join('')
    for (let from = 0, step = 1; from < text.length; from += step, step += 7) {
      appendFileSync(file, text.slice(from, from + step))
      const seen = await follower.look()
      expect(seen?.sources[0]?.problems.filter((problem) => problem.startsWith('row')) ?? []).toEqual([])
    }
    const seen = await follower.look()
    expect(seen?.figures({})).toMatchObject({ samples: 40, failures: 10, minMs: 1, maxMs: 40 })
    expect(seen?.labels).toEqual(['a, "0"\nb', 'a, "1"\nb'])
    rmSync(file)
    expect((await follower.look())?.figures({})?.samples).toBe(40)
  })

  test('of several nodes are one run, whose threads add up', async () => {
    const folder = folders.create()
    const files = ['a', 'b'].map((name) => ({ file: join(folder, name), grid: 'g', region: 'r' }))
    const follower = new SampleFollower(files)
    appendFileSync(files[0]!.file, `${HEADER}1000,10,home,true,3\n`)
    expect((await follower.look())?.figures({})?.samples).toBe(1)
    appendFileSync(files[1]!.file, `${HEADER}1000,30,home,true,4\n`)
    const both = await follower.look()
    expect(both?.figures({})).toMatchObject({ samples: 2, meanMs: 20 })
    expect(both?.series?.activeThreads).toEqual([7])
    expect(both?.grids).toEqual(['g'])
  })

  test('of several nodes with one user each show when nothing is answered', async () => {
    const folder = folders.create()
    const files = ['a', 'b', 'c'].map((name) => ({ file: join(folder, name), grid: 'g', region: 'r' }))
    const follower = new SampleFollower(files)
    const lookAt = async (untilMs: number): Promise<PageDocument> => {
      for (const { file } of files) writeFileSync(file, writeStalled({ users: 1, untilMs }))
      const measurements = await follower.look()
      return describeRun({ ...RUNNING, nowMs: STALLED_START_MS + untilMs, measurements })
    }
    expect((await lookAt(8_000)).live?.quiet).toBeNull()
    expect((await lookAt(12_200)).live?.quiet).toMatch(/^Nothing answered for 4 s/)
    expect((await lookAt(14_000)).stalls?.sentence).toMatch(
      /nothing was answered for .* while 3 users waited/
    )
  })

  test.each([
    ['of this machine', 0],
    ['that is 3 s ahead', 3_000]
  ])('show when nothing is answered, by the clock %s', async (_, aheadMs) => {
    const file = join(folders.create(), 'node.csv')
    const clock = new ManualClock(STALLED_START_MS)
    const follower = new SampleFollower([{ file, grid: 'g', region: 'r', offsetMs: () => aheadMs }])
    let written = 0
    const lookAt = async (atMs: number): Promise<PageDocument> => {
      await clock.advance(STALLED_START_MS + atMs - clock.now())
      const rows = writeStalled({ untilMs: atMs, aheadMs })
      appendFileSync(file, rows.slice(written))
      written = rows.length
      const measurements = await follower.look()
      return describeRun({ ...RUNNING, nowMs: clock.now(), measurements })
    }
    expect((await lookAt(8_000)).live?.quiet).toBeNull()
    expect((await lookAt(12_200)).live?.quiet).toBe('Nothing answered for 4 s; the last answer came at 0:08.')
    const after = await lookAt(14_000)
    expect(after.live?.quiet).toBeNull()
    expect(after.stalls).toMatchObject({
      sentence: 'At 0:08 nothing was answered for 4.8 s while 12 users waited.',
      bands: [[expect.any(Number), expect.any(Number)]]
    })
  })

  test('may be of any size before anyone watches', async () => {
    const file = join(folders.create(), 'node.csv')
    const rows = Array.from({ length: 100_000 }, (_, i) => `${1_000_000 + i},${i % 500},home,true,2\n`)
    appendFileSync(file, HEADER + rows.join(''))
    const follower = new SampleFollower([{ file, grid: 'g', region: 'r' }])
    expect((await follower.look())?.figures({})?.samples).toBe(100_000)
    appendFileSync(file, rows.join(''))
    expect((await follower.look())?.figures({})?.samples).toBe(200_000)
  })
})
