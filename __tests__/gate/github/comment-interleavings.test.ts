import { describe, expect, test } from '@jest/globals'
import { readWriter } from '../../../src/report/markdown/comment-marker.js'
import { makeRandom } from '../../support/data/seeded-random.js'
import { slice } from '../../support/slice.js'
import { PULL, setCommentStage } from '../../support/step/comment-stage.js'
import type { GateOnPull } from '../../support/step/comment-stage.js'
import { answer } from '../../support/step/github-api.js'
import { Interleaving } from '../../support/step/interleaving.js'

/**
 * Gates with the same key, whose calls reach GitHub in any order and as late as possible: after all have ended, every
 * verdict of the run is in a comment, and the comments of earlier runs have not piled up.
 */
const stage = setCommentStage()

const SEEDS = slice(3, 6)
const RUNS = 4
const VERDICTS = ['failed', 'inconclusive', 'passed'] as const

type Kind = (index: number, run: number) => Partial<GateOnPull>

const KINDS: [name: string, kind: Kind][] = [
  ['nothing tells them apart', () => ({})],
  ['what is tested tells them apart', (index) => ({ subject: `plan ${index}` })],
  ['what is tested changes from run to run', (index, run) => ({ subject: `plan ${index} of ${run}` })],
  ['their jobs are known', (index) => ({ orchestration: `aaaa.call-${index}.gate.__default` })],
  [
    'some jobs are known',
    (index) => (index === 0 ? {} : { orchestration: `aaaa.call-${index}.gate.__default` })
  ]
]

/** The verdicts in comments of this run. */
function verdictsOf(run: number): string[] {
  return stage.api
    .of(PULL)
    .filter(({ body }) => readWriter(body)?.run === run)
    .map(({ body }) => /Load gate: (\w+)/.exec(body)?.[1] ?? '')
    .sort()
}

async function speak(seed: number, kind: Kind, count: number): Promise<void> {
  const random = makeRandom(seed)
  const interleaving = new Interleaving(stage.api, random)
  for (let run = 100; run < 100 + RUNS; run++) {
    const verdicts = VERDICTS.slice(0, count)
    await interleaving.run(
      verdicts.map((verdict, index) => () => stage.comment({ verdict, run, ...kind(index, run) }))
    )
    expect({ seed, run, verdicts: verdictsOf(run) }).toEqual({ seed, run, verdicts })
    expect(stage.api.of(PULL).length).toBeLessThanOrEqual(count)
  }
}

describe.each(KINDS)('%s', (_name, kind) => {
  test.each([2, 3])('%i gates in any order: no verdict is lost, no extra comment remains', async (count) => {
    for (let seed = 0; seed < SEEDS; seed++) {
      stage.api.of(PULL).splice(0)
      await speak(seed, kind, count)
    }
  })

  test('replies that are lost and errors in between: no verdict is lost', async () => {
    for (let seed = 0; seed < SEEDS; seed++) {
      stage.api.comments.clear()
      stage.api.faults.splice(0)
      const chance = makeRandom(seed + 1000)
      stage.api.faults.push((call, response) => {
        if (call.method === 'DELETE' || chance() > 0.1) return false
        const isWriting = ['PATCH', 'POST'].includes(call.method) && call.path !== '/graphql'
        if (isWriting && chance() < 0.5) return stage.api.loseReply(call, response)
        return answer(502, 'Bad Gateway')(call, response)
      })
      const interleaving = new Interleaving(stage.api, makeRandom(seed))
      for (const run of [100, 101])
        await interleaving.run(
          [0, 1].map((index) => () => {
            const verdict = VERDICTS[index]!
            return stage.comment({ verdict, run, ...kind(index, run) })
          })
        )
      const standing = new Set(verdictsOf(101))
      expect({ seed, standing }).toEqual({ seed, standing: new Set(['failed', 'inconclusive']) })
    }
  })
})

test('a write that arrives after everything else has ended takes no verdict away', async () => {
  await stage.comment({ verdict: 'passed' })
  await stage.comment({ verdict: 'passed' })
  let arrive = (): void => undefined
  const arrival = new Promise<void>((resolve) => (arrive = resolve))
  const sent = new Promise<void>((resolve) => {
    stage.api.pause = async ({ method, path }) => {
      if (!['PATCH', 'POST'].includes(method) || !path.includes('comments')) return
      stage.api.pause = () => Promise.resolve()
      resolve()
      await arrival
    }
  })
  const late = stage.comment({ verdict: 'inconclusive', run: 101 })
  await sent
  await stage.comment({ verdict: 'failed', run: 101 })
  arrive()
  await late
  expect(verdictsOf(101)).toEqual(['failed', 'inconclusive'])
  expect(stage.headlines()).toHaveLength(2)
})
