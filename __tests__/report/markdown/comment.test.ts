import { describe, expect, test } from '@jest/globals'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { isCommentOf } from '../../../src/report/markdown/comment-marker.js'
import { renderComment } from '../../../src/report/markdown/comment.js'
import type { CommentLinks, CommentPlace } from '../../../src/report/markdown/comment.js'
import { readHistory } from '../../../src/report/markdown/history.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import {
  HOSTILE,
  makeBroken,
  makeErrors,
  makeGridFacts,
  makeJudgement,
  makeOutcome,
  makeRunFacts
} from '../../support/data/make-outcome.js'
import { makeStalledOutcome } from '../../support/stalls/stalled-run.js'
import { makeCounted, makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'

const LINKS: CommentLinks = {
  artifactUrl: 'https://github.example/shop/actions/runs/1/artifacts/2',
  artifactProblem: undefined,
  workflowUrl: 'https://github.example/shop/actions/runs/1'
}

function makePlace(changes: Partial<CommentPlace> = {}): CommentPlace {
  return {
    key: 'a1b2c3',
    title: 'performance / gate (eu, 20)',
    commit: '1'.repeat(40),
    repositoryUrl: 'https://github.example/shop',
    previous: undefined,
    ...changes
  }
}

const MEASURED = makeMeasurements(
  [...makeSamples([100, 200, 300, 1240], { label: 'checkout' }), ...makeCounted(8, 2, { label: 'search' })],
  { errors: () => makeErrors({ label: 'search', count: 2 }) }
)
const FAILED = makeOutcome({
  verdict: 'failed',
  reason: '1 threshold is broken: p95 of checkout is 1,240 ms, must be < 800 ms: 55 % over',
  judgements: [makeJudgement(), makeBroken()],
  measurements: MEASURED
})

const GOLDENS: [string, Outcome, CommentLinks, CommentPlace][] = [
  ['first', FAILED, LINKS, makePlace()],
  [
    'second',
    makeOutcome({ measurements: MEASURED }),
    LINKS,
    makePlace({ commit: '2'.repeat(40), previous: renderComment(FAILED, LINKS, makePlace()) })
  ],
  ['stalled', makeStalledOutcome(), LINKS, makePlace()],
  ['rehearsal', makeOutcome({ rehearsal: true, measurements: MEASURED }), LINKS, makePlace()],
  [
    'hostile',
    makeOutcome({
      verdict: 'failed',
      reason: HOSTILE,
      summary: HOSTILE,
      run: makeRunFacts({ name: HOSTILE, status: HOSTILE, url: 'javascript:alert(1)' }),
      judgements: [makeBroken({ threshold: { text: `p95{label="${HOSTILE}"} < 800ms` }, reason: HOSTILE })],
      measurements: makeMeasurements(makeCounted(3, 1, { label: HOSTILE }), {
        errors: () => makeErrors({ label: HOSTILE, code: HOSTILE, message: HOSTILE })
      }),
      grids: [makeGridFacts({ region: HOSTILE, problem: HOSTILE })],
      notes: [HOSTILE]
    }),
    {
      artifactUrl: 'http://github.example/in-the-clear',
      artifactProblem: HOSTILE,
      workflowUrl: 'javascript:alert(2)'
    },
    makePlace({
      title: HOSTILE,
      repositoryUrl: `javascript:${HOSTILE}`,
      previous: `${HOSTILE}<!-- loadgate history ${JSON.stringify([{ commit: '3'.repeat(40), verdict: 'failed', apdex: '<img>' }])} -->`
    })
  ]
]

describe('the comment as it is kept on file', () => {
  test.each(GOLDENS)('%s', async (name, outcome, links, place) => {
    const path = new URL(`../../fixtures/comment/${name}.md`, import.meta.url)
    const text = renderComment(outcome, links, place)
    // `UPDATE_GOLDENS=1 npm test -- comment` rewrites them; review the difference before committing it.
    if (process.env.UPDATE_GOLDENS === '1') {
      await mkdir(new URL('.', path), { recursive: true })
      await writeFile(path, text)
    }
    expect(text).toBe(await readFile(path, 'utf8'))
  })
})

describe('whatever foreign text says', () => {
  const [, , , , hostile] = GOLDENS
  const text = renderComment(hostile![1], hostile![2], hostile![3])

  test('the only tags are our own, and each that opens is closed', () => {
    expect(text.match(/<[^>]*>/g)).toEqual([
      '<!-- loadgate comment a1b2c3 -->',
      '<code>',
      '</code>',
      ...['<details>', '<summary>', '</summary>', '</details>'],
      ...['<details>', '<summary>', '</summary>', '</details>'],
      ...['<details>', '<summary>', '</summary>', '<code>', '</code>', '<code>', '</code>', '</details>'],
      expect.stringMatching(/^<!-- loadgate history \[/)
    ])
  })

  test('nothing is a mention, a reference or a link', () => {
    expect(text).not.toMatch(/@org|(?<!&)#1|\]\(|:\/\//)
  })

  test('its marker is known again, and no other is', () => {
    expect(isCommentOf(text, 'a1b2c3')).toBe(true)
    expect(isCommentOf(text, 'a1b2c')).toBe(false)
    expect(isCommentOf(`> ${text}`, 'a1b2c3')).toBe(false)
  })
})

test('the history goes on from the comment before', () => {
  let previous: string | undefined
  for (const digit of ['1', '2', '3']) {
    const place = makePlace({ commit: digit.repeat(40), previous })
    previous = renderComment(digit === '2' ? FAILED : makeOutcome(), LINKS, place)
  }
  expect(readHistory(previous!).map(({ commit, verdict }) => [commit[0], verdict])).toEqual([
    ['3', 'passed'],
    ['2', 'failed'],
    ['1', 'passed']
  ])
})

describe('the comment fits', () => {
  const huge = '漢字🚀|@#'.repeat(20_000)
  const MOST = 65_536

  test.each([
    ['thousands of thresholds', { judgements: Array.from({ length: 5000 }, () => makeBroken()) }],
    [
      'thresholds full of text',
      { judgements: Array.from({ length: 50 }, () => makeBroken({ reason: huge })) }
    ],
    [
      'labels full of text',
      {
        measurements: makeMeasurements(
          Array.from({ length: 50 }, (_, index) =>
            makeCounted(1, 1, { label: `${'@#'.repeat(500)}${index}` })
          ).flat()
        )
      }
    ],
    [
      'errors full of text',
      {
        measurements: makeMeasurements([], {
          errors: () =>
            makeErrors(...Array.from({ length: 50 }, () => ({ label: huge, code: huge, message: huge })))
        })
      }
    ],
    [
      'everything full of text',
      {
        reason: huge,
        run: makeRunFacts({ name: huge }),
        judgements: [makeBroken({ threshold: { text: huge }, reason: huge })],
        measurements: makeMeasurements(
          Array.from({ length: 50 }, (_, index) =>
            makeCounted(1, 1, { label: `${'@#'.repeat(500)}${index}` })
          ).flat()
        )
      }
    ]
  ])('with %s', (_name, changes) => {
    const place = makePlace({ title: huge })
    const text = renderComment(makeOutcome(changes), { ...LINKS, artifactProblem: huge }, place)
    expect(Buffer.byteLength(text)).toBeLessThan(MOST)
    expect(text.match(/<details>/g)?.length).toBe(text.match(/<\/details>/g)?.length)
    expect(readHistory(text)).toHaveLength(1)
    expect(text).toContain(LINKS.workflowUrl)
  })

  test.each([2_000, 1 << 20])('with links of %d characters', (length) => {
    const long = `https://x.example/${'x'.repeat(length)}`
    const judgements = Array.from({ length: 50 }, () => makeBroken({ reason: huge }))
    const outcome = makeOutcome({ run: makeRunFacts({ url: long }), judgements })
    const text = renderComment(outcome, { ...LINKS, artifactUrl: long, workflowUrl: long }, makePlace())
    expect(Buffer.byteLength(text)).toBeLessThan(MOST)
    expect(text.includes(long)).toBe(length === 2_000)
    expect(text).toMatch(/\bRun \w+/)
  })

  test('what was left out is mentioned', () => {
    const judgements = Array.from({ length: 50 }, () => makeBroken({ reason: '@'.repeat(5000) }))
    const text = renderComment(makeOutcome({ judgements }), LINKS, makePlace())
    expect(text).toContain('_Cut to fit; the job summary has more._')
    expect(renderComment(FAILED, LINKS, makePlace())).not.toContain('Cut to fit')
  })

  test('of many thresholds twenty are shown, the broken first, and the others counted', () => {
    const judgements = [...Array.from({ length: 30 }, () => makeJudgement()), makeBroken()]
    const text = renderComment(makeOutcome({ judgements }), LINKS, makePlace())
    expect(text.match(/^\| <code>/gm)).toHaveLength(20)
    expect(/^\| <code>.*$/m.exec(text)?.[0]).toContain('failed')
    expect(text).toContain('11 more are in verdict.json.')
  })
})
