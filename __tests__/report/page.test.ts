import { describe, expect, test } from '@jest/globals'
import type { Outcome } from '../../src/report/outcome.js'
import { renderPage } from '../../src/report/page.js'
import { HOSTILE, makeBroken, makeGridFacts, makeOutcome, makeRunFacts } from '../support/make-outcome.js'

const VOID = ['meta']
const ALLOWED = [
  ...['html', 'head', 'meta', 'title', 'style', 'body', 'main', 'h1', 'h2', 'p', 'a', 'blockquote', 'code'],
  ...['table', 'thead', 'tbody', 'tr', 'th', 'td']
]

interface Tag {
  readonly name: string
  readonly attributes: string
}

/** Reads a page as strictly as its writer should write it: every tag closed in its turn, every attribute quoted. */
function readTags(page: string): Tag[] {
  expect(page.startsWith('<!doctype html>\n')).toBe(true)
  const open: string[] = []
  const tags: Tag[] = []
  const pattern = /<(\/?)([a-z0-9]+)((?: [a-z-]+="[^"<>]*")*)>|<[^!]/g
  for (const [whole, slash, name, attributes] of page.matchAll(pattern)) {
    if (name === undefined) throw new Error(`a bare < in ${whole}`)
    if (slash === '/') expect(open.pop()).toBe(name)
    else {
      tags.push({ name, attributes: attributes ?? '' })
      if (!VOID.includes(name)) open.push(name)
    }
  }
  expect(open).toEqual([])
  return tags
}

const hostile = makeOutcome({
  verdict: 'failed',
  reason: HOSTILE,
  summary: `${HOSTILE}</blockquote><script>alert(1)</script>`,
  run: makeRunFacts({
    id: HOSTILE,
    status: HOSTILE,
    url: 'https://service.example/"><script>alert(1)</script>'
  }),
  judgements: [makeBroken({ threshold: { text: `p95{label="${HOSTILE}"} < 1s` }, reason: HOSTILE })],
  grids: [makeGridFacts({ gridId: HOSTILE, region: HOSTILE, problem: HOSTILE })],
  notes: [HOSTILE]
})

describe('the page', () => {
  const nothing: Partial<Outcome> = { run: undefined, summary: undefined, judgements: [], grids: [] }
  test.each<[string, Outcome]>([
    ['a passed gate', makeOutcome()],
    ['a gate without anything', makeOutcome({ verdict: 'error', ...nothing })],
    ['hostile text', hostile],
    ['a rehearsal', makeOutcome({ rehearsal: true })]
  ])('of %s is well formed, loads nothing and runs nothing', (_, outcome) => {
    const page = renderPage(outcome)
    const tags = readTags(page)
    expect(tags.filter(({ name }) => !ALLOWED.includes(name))).toEqual([])
    expect(
      tags.filter(({ attributes }) => / (src|srcset|style|on\w+|action|data)=/.test(attributes))
    ).toEqual([])
    expect(page).toContain(
      `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`
    )
    expect(/<style>([^<]*)<\/style>/.exec(page)?.[1]).not.toMatch(/url\(|@import/)
    expect(page).toContain('<meta charset="utf-8">')
  })

  test('shows verdict, reason, thresholds, words, grids and run', () => {
    const page = renderPage(makeOutcome({ judgements: [makeBroken()], notes: ['A note.'] }))
    const text = page.replace(/<style>[^]*<\/style>|<[^>]*>/g, ' ').replace(/\s+/g, ' ')
    for (const words of [
      '✅ Load gate: passed',
      'The threshold holds.',
      'A note.',
      'p95 &#60; 800ms 1,200 ms 50 % over failed p95 is 1,200 ms',
      '1.22 M transactions passed.',
      'grid1 us-east-1 2 1.2 MB',
      'Run run1 , finished'
    ])
      expect(text).toContain(words)
  })

  test('says so where there were no thresholds, and in a rehearsal', () => {
    expect(renderPage(makeOutcome({ judgements: [] }))).toContain('No thresholds were given.')
    expect(renderPage(makeOutcome({ rehearsal: true }))).toContain('(rehearsal, synthetic samples)</h1>')
  })

  test('links to https alone', () => {
    const linksOf = (url: string | undefined): string[] =>
      readTags(renderPage(makeOutcome({ run: makeRunFacts({ url }) })))
        .filter(({ name }) => name === 'a')
        .map(({ attributes }) => attributes)
    expect(linksOf('https://service.example/r?a=1&b=2')).toEqual([
      ' href="https://service.example/r?a=1&#38;b=2" rel="noreferrer"'
    ])
    expect(linksOf('javascript:alert(1)')).toEqual([])
    expect(linksOf(undefined)).toEqual([])
  })
})
