import { describe, expect, test } from '@jest/globals'
import { readWriter } from '../../../src/report/markdown/comment-marker.js'
import { readHistory } from '../../../src/report/markdown/history.js'
import { PULL, setCommentStage } from '../../support/step/comment-stage.js'
import type { ApiComment } from '../../support/step/github-api.js'
import { answer } from '../../support/step/github-api.js'

/** A failed verdict that is overwritten by another gate's passed one is a red job under a green comment. */
const stage = setCommentStage()

const FAILED = '❌ Load gate: failed · performance / gate'
const PASSED = '✅ Load gate: passed · performance / gate'

describe('a gate on its own', () => {
  test.each([
    ['a new commit', { run: 101, commit: '2' }],
    ['a new attempt', { attempt: 2 }],
    ['another plan', { run: 101, subject: 'another plan' }]
  ])('%s updates in place', async (_name, changes) => {
    await stage.comment({ verdict: 'failed' })
    await stage.comment({ verdict: 'passed', ...changes })
    expect(stage.headlines()).toEqual([PASSED])
  })

  test('a comment from before gates were told apart is reused', async () => {
    await stage.comment({ verdict: 'passed' })
    const [comment] = stage.api.of(PULL)
    comment!.body = comment!.body.replace(/<!-- loadgate gate .*-->\n/, '')
    expect(readWriter(comment!.body)).toBeUndefined()
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toEqual([FAILED])
  })

  test('a marker that someone has edited is ignored', async () => {
    await stage.comment({ verdict: 'passed' })
    const [comment] = stage.api.of(PULL)
    comment!.body = comment!.body.replace(/<!-- loadgate gate .*-->/, '<!-- loadgate gate 1 2 x -->')
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toEqual([FAILED])
  })
})

test('the only comment is updated in place, also if the runner does not name the job', async () => {
  await stage.comment({ verdict: 'passed', subject: 'a' })
  const [before] = stage.api.of(PULL)
  await stage.comment({ verdict: 'failed', subject: 'b', run: 101 })
  const [after, ...others] = stage.api.of(PULL)
  expect([after?.id, others]).toEqual([before?.id, []])
  expect(stage.headlines()).toEqual([FAILED])
})

describe('a reusable workflow that is called twice in one run', () => {
  test.each([
    ['passed', 'failed'],
    ['failed', 'passed']
  ] as const)('%s, then %s: both are there', async (first, second) => {
    await stage.comment({ verdict: first, subject: 'a' })
    await stage.comment({ verdict: second, subject: 'b' })
    const signs = { passed: PASSED, failed: FAILED }
    expect(stage.headlines()).toEqual([signs[first], `${signs[second]} [2]`])
  })

  test('the next run updates both, each its own, in whatever order they end', async () => {
    await stage.comment({ verdict: 'failed', subject: 'a' })
    await stage.comment({ verdict: 'passed', subject: 'b' })
    await stage.comment({ verdict: 'failed', subject: 'b', run: 101, commit: '2' })
    await stage.comment({ verdict: 'passed', subject: 'a', run: 101, commit: '2' })
    expect(stage.headlines()).toEqual([`${FAILED} [2]`, PASSED])
    expect(stage.api.of(PULL).map(({ body }) => readHistory(body).map(({ verdict }) => verdict))).toEqual([
      ['failed', 'passed'],
      ['passed', 'failed']
    ])
  })

  test('nothing but the job’s path tells them apart: it does', async () => {
    const call = (name: string, id: string): string => `${id}.${name}.gate.__default`
    await stage.comment({ verdict: 'failed', orchestration: call('staging', 'aaaa') })
    await stage.comment({ verdict: 'passed', orchestration: call('production', 'aaaa') })
    await stage.comment({ verdict: 'failed', run: 101, orchestration: call('production', 'bbbb') })
    await stage.comment({ verdict: 'passed', run: 101, orchestration: call('staging', 'bbbb') })
    expect(stage.headlines()).toEqual([PASSED, `${FAILED} [2]`])
  })

  test('nothing tells them apart: still two comments, in this run and the next', async () => {
    await stage.comment({ verdict: 'failed' })
    await stage.comment({ verdict: 'passed' })
    await stage.comment({ verdict: 'passed', run: 101 })
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toEqual([PASSED, `${FAILED} [2]`])
  })

  test('a re-run of the one that failed updates its comment alone', async () => {
    await stage.comment({ verdict: 'passed', subject: 'a' })
    await stage.comment({ verdict: 'failed', subject: 'b' })
    await stage.comment({ verdict: 'inconclusive', subject: 'b', attempt: 2 })
    expect(stage.headlines()).toEqual([PASSED, expect.stringMatching(/inconclusive .* \[2\]$/)])
  })
})

describe('two steps of one job', () => {
  test('have a comment each, and keep it', async () => {
    await stage.comment({ verdict: 'failed', step: '__loadgate' })
    await stage.comment({ verdict: 'passed', step: '__loadgate_2' })
    await stage.comment({ verdict: 'passed', step: '__loadgate_2', run: 101 })
    expect(stage.headlines()).toEqual([FAILED, `${PASSED} [2]`])
    await stage.comment({ verdict: 'passed', step: '__loadgate', run: 101 })
    expect(stage.headlines()).toEqual([PASSED, `${PASSED} [2]`])
  })
})

describe('gates that write at the same time', () => {
  /** Blocks calls of this kind until this many have arrived: none sees what the others do next. */
  function meetAt(kind: RegExp, count: number): void {
    const before = stage.api.pause
    let come = 0
    let open = (): void => undefined
    const all = new Promise<void>((resolve) => (open = resolve))
    stage.api.pause = async (call) => {
      await before(call)
      if (!kind.test(`${call.method} ${call.path}`) || come >= count) return
      if (++come === count) open()
      await all
    }
  }

  test('without an existing comment: one comment each', async () => {
    meetAt(/^POST .*comments$/, 2)
    await Promise.all([stage.comment({ verdict: 'failed' }), stage.comment({ verdict: 'passed' })])
    expect(
      stage
        .headlines()
        .map((line) => line.slice(2, 20))
        .sort()
    ).toEqual(['Load gate: failed ', 'Load gate: passed '])
  })

  test('over the same older comment: neither verdict is lost', async () => {
    await stage.comment({ verdict: 'passed' })
    meetAt(/^(PATCH|POST) .*comments/, 2)
    await Promise.all([
      stage.comment({ verdict: 'failed', run: 101 }),
      stage.comment({ verdict: 'inconclusive', run: 101 })
    ])
    expect(stage.headlines()).toHaveLength(2)
    expect(stage.headlines().join()).toMatch(/failed/)
    expect(stage.headlines().join()).toMatch(/inconclusive/)
  })

  test('five over two older ones: five comments', async () => {
    await stage.comment({ verdict: 'passed' })
    await stage.comment({ verdict: 'passed' })
    meetAt(/^(PATCH|POST) .*comments/, 5)
    const subjects = ['a', 'b', 'c', 'd', 'e']
    await Promise.all(subjects.map((subject) => stage.comment({ verdict: 'failed', run: 101, subject })))
    const writers = stage.api.of(PULL).map(({ body }) => readWriter(body))
    expect(new Set(writers.map((writer) => writer?.gate)).size).toBe(5)
    expect(writers.map((writer) => writer?.run)).toEqual([101, 101, 101, 101, 101])
  })
})

describe('runs that overtake each other', () => {
  test('an older run does not write over a newer one’s verdict, and says so', async () => {
    await stage.comment({ verdict: 'failed', run: 101, commit: '2' })
    await stage.comment({ verdict: 'passed', run: 100 })
    expect(stage.headlines()).toEqual([FAILED])
    expect(stage.log.lines.at(-1)).toBe(
      'info: The comment on pull request #7 is from a newer workflow run: left unchanged.'
    )
  })

  test('nor does an older attempt', async () => {
    await stage.comment({ verdict: 'failed', attempt: 2 })
    await stage.comment({ verdict: 'passed', attempt: 1 })
    expect(stage.headlines()).toEqual([FAILED])
  })
})

describe('a gate whose job is known by its place in the run', () => {
  const ours = { orchestration: 'aaaa.staging.gate.__default' }
  const others = { orchestration: 'aaaa.production.gate.__default' }
  /** What the list shows once the comment has been updated. */
  const showAfterUpdate = (change: (comments: readonly ApiComment[]) => readonly ApiComment[]): void => {
    stage.api.shown = (comments) => (stage.api.made('PATCH', /./).length === 0 ? comments : change(comments))
  }

  test('updates its comment in place', async () => {
    await stage.comment({ verdict: 'failed', ...ours })
    await stage.comment({ verdict: 'passed', run: 101, ...ours })
    expect(stage.headlines()).toEqual([PASSED])
    expect(stage.api.made('POST', /comments$/)).toHaveLength(1)
    expect(stage.api.made('DELETE', /./)).toEqual([])
  })

  test('leaves the older comment of another job alone, which may be about to update it', async () => {
    await stage.comment({ verdict: 'failed', ...others })
    await stage.comment({ verdict: 'passed', run: 101, ...ours })
    expect(stage.headlines()).toEqual([FAILED, `${PASSED} [2]`])
    await stage.comment({ verdict: 'inconclusive', run: 101, ...others })
    expect(stage.headlines()).toEqual([expect.stringMatching(/inconclusive .* gate$/), `${PASSED} [2]`])
  })

  test('a gate without a known job leaves it alone too', async () => {
    await stage.comment({ verdict: 'failed', ...others })
    await stage.comment({ verdict: 'passed', run: 101 })
    expect(stage.headlines()).toEqual([FAILED, `${PASSED} [2]`])
  })

  test('replaces the comment of a runner that did not know the job', async () => {
    await stage.comment({ verdict: 'failed' })
    await stage.comment({ verdict: 'passed', run: 101, commit: '2', ...ours })
    expect(stage.headlines()).toEqual([PASSED])
    expect(readHistory(stage.api.of(PULL)[0]!.body).map(({ verdict }) => verdict)).toEqual([
      'passed',
      'failed'
    ])
  })

  test('removes the doubles that earlier runs left', async () => {
    await stage.comment({ verdict: 'failed', ...ours })
    stage.api.addComment(PULL, stage.api.of(PULL)[0]!.body)
    await stage.comment({ verdict: 'passed', run: 101, ...ours })
    expect(stage.headlines()).toEqual([PASSED])
  })

  test('a read that lags behind the write is not another gate', async () => {
    await stage.comment({ verdict: 'passed', ...ours })
    const before = structuredClone(stage.api.of(PULL))
    showAfterUpdate(() => before)
    await stage.comment({ verdict: 'failed', run: 101, ...ours })
    expect(stage.headlines()).toEqual([FAILED])
    expect(stage.api.made('POST', /comments$/)).toHaveLength(1)
  })

  test('a slower run that writes over a newer one is written over in turn', async () => {
    await stage.comment({ verdict: 'inconclusive', ...ours })
    const [comment] = stage.api.of(PULL)
    showAfterUpdate((comments) => {
      if (stage.api.made('PATCH', /./).length === 1)
        comment!.body = comment!.body
          .replace(/gate 102 \d+ \w+ /, `gate 101 1 ${'0'.repeat(32)} `)
          .replace('failed', 'passed')
      return comments
    })
    await stage.comment({ verdict: 'failed', run: 102, ...ours })
    expect(stage.headlines()).toEqual([FAILED])
    expect(readWriter(comment!.body)?.run).toBe(102)
  })
})

describe('what cannot be removed', () => {
  test('is reported, and removed by the next run', async () => {
    await stage.comment({ verdict: 'passed' })
    await stage.comment({ verdict: 'passed' })
    stage.api.failOnce(/^DELETE /, answer(502, 'Bad Gateway'))
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toHaveLength(3)
    expect(stage.log.of('info')).toContainEqual(
      expect.stringMatching(/^Could not remove an older comment: Bad Gateway/)
    )
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.headlines()).toHaveLength(2)
  })

  test('and what is already gone is not a failure', async () => {
    await stage.comment({ verdict: 'passed' })
    await stage.comment({ verdict: 'passed' })
    stage.api.failOnce(/^DELETE /, answer(404, 'Not Found'))
    await stage.comment({ verdict: 'failed', run: 101 })
    expect(stage.log.of('info')).not.toContainEqual(expect.stringMatching(/could not be removed/))
  })
})

test('an older run that is slow to create removes its comment again', async () => {
  await stage.comment({ verdict: 'passed', run: 99 })
  await stage.comment({ verdict: 'passed', run: 99 })
  stage.api.failOnce(/^POST .*comments$/, () => {
    const [first] = stage.api.of(PULL)
    stage.api.addComment(PULL, first!.body.replace('gate 99 ', 'gate 101 ').replace('passed', 'failed'))
    return false
  })
  await stage.comment({ verdict: 'inconclusive', run: 100 })
  expect(stage.headlines().join()).not.toMatch(/inconclusive/)
  expect(stage.log.lines).toContain(
    'info: A newer workflow run has commented on pull request #7: left unchanged.'
  )
})
