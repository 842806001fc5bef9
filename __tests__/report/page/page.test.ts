import { describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import type { Outcome } from '../../../src/report/outcome.js'
import type { PageDocument } from '../../../src/report/page/document.js'
import { renderPage, renderPageDocument } from '../../../src/report/page/page.js'
import {
  HOSTILE,
  makeBroken,
  makeErrors,
  makeGridFacts,
  makeOutcome,
  makeRunFacts
} from '../../support/data/make-outcome.js'
import { makeMeasurements } from '../../thresholds/make-evidence.js'
import { makePageOutcome, SHOP_LOAD } from '../../support/data/page-outcome.js'

const VOID = ['meta', 'input']
const ALLOWED = [
  ...[
    'html',
    'head',
    'meta',
    'title',
    'style',
    'body',
    'main',
    'script',
    'noscript',
    'header',
    'section',
    'div'
  ],
  ...['h1', 'h2', 'h3', 'p', 'a', 'blockquote', 'code', 'strong', 'span', 'dl', 'dt', 'dd', 'ul', 'details'],
  ...['summary', 'table', 'thead', 'tbody', 'tr', 'th', 'td', 'button', 'label', 'select', 'input'],
  ...['svg', 'circle', 'path', 'rect']
]
const MOST_BYTES_BEFORE_DATA = 250_000

interface Element {
  readonly name: string
  readonly attributes: string
}

interface ReadPage {
  readonly elements: readonly Element[]
  /** The text between the tags, without scripts and styles. */
  readonly text: string
  readonly styles: readonly string[]
  readonly scripts: readonly string[]
  readonly data: PageDocument
}

/** Parses a page strictly: every tag closed in order, every attribute quoted. */
function readPage(page: string): ReadPage {
  expect(page.startsWith('<!doctype html>\n')).toBe(true)
  const contentOf = (pattern: RegExp): string[] =>
    [...page.matchAll(pattern)].map(([, content]) => content ?? '')
  const styles = contentOf(/<style>([^]*?)<\/style>/g)
  const scripts = contentOf(/<script>([^]*?)<\/script>/g)
  const [data = ''] = contentOf(/<script type="application\/json"[^>]*>([^]*?)<\/script>/g)
  const markup = page.replace(/(<(style|script)[^>]*>)[^]*?(<\/\2>)/g, '$1$3')
  const open: string[] = []
  const elements: Element[] = []
  for (const [whole, slash, name, attributes, close] of markup.matchAll(
    /<(\/?)([a-z0-9]+)((?: [a-zA-Z-]+="[^"<>]*")*)(\/?)>|<[^!]/g
  )) {
    if (name === undefined) throw new Error(`a bare < in ${whole}`)
    if (slash === '/') expect(open.pop()).toBe(name)
    else {
      elements.push({ name, attributes: attributes ?? '' })
      if (!VOID.includes(name) && close !== '/') open.push(name)
    }
  }
  expect(open).toEqual([])
  const text = markup.replace(/<[^>]*>/g, ' ').replace(/\s+/g, ' ')
  return { elements, text, styles, scripts, data: JSON.parse(data) as PageDocument }
}

const hostile = makePageOutcome(
  { ...SHOP_LOAD, labels: ['</script><script>alert(1)</script>', HOSTILE, '<!-- <script>', ''], seconds: 20 },
  {
    reason: HOSTILE,
    summary: `${HOSTILE}</blockquote><script>alert(1)</script>`,
    run: makeRunFacts({
      id: HOSTILE,
      status: HOSTILE,
      name: HOSTILE,
      tool: HOSTILE,
      url: 'https://service.example/"><script>alert(1)</script>'
    }),
    judgements: [makeBroken({ threshold: { text: `p95{label="${HOSTILE}"} < 1s` }, reason: HOSTILE })],
    grids: [makeGridFacts({ gridId: HOSTILE, region: HOSTILE, problem: HOSTILE })],
    notes: [HOSTILE]
  }
)

describe('the page', () => {
  const nothing: Partial<Outcome> = { run: undefined, summary: undefined, judgements: [], grids: [] }
  test.each<[string, Outcome]>([
    ['a passed gate without samples', makeOutcome()],
    ['a gate with everything', makePageOutcome()],
    ['a gate without anything', makeOutcome({ verdict: 'error', ...nothing })],
    ['hostile text', hostile],
    ['a rehearsal', makeOutcome({ rehearsal: true })]
  ])('of %s is well formed, loads nothing and runs nothing of others', (_, outcome) => {
    const page = renderPage(outcome)
    const { elements, styles, scripts, data } = readPage(page)
    expect(elements.filter(({ name }) => !ALLOWED.includes(name))).toEqual([])
    expect(
      elements.filter(({ attributes }) => / (src|srcset|style|on\w+|action|data)=/.test(attributes))
    ).toEqual([])
    expect(styles).toHaveLength(1)
    expect(styles[0]).not.toMatch(/url\(|@import/)
    expect(scripts).toHaveLength(1)
    expect(data.reason).toBe(outcome.reason)
    expect(page).toContain('<meta charset="utf-8">')
  })

  test('allows its own style and script by their hashes, and no address', () => {
    const page = renderPage(hostile)
    const { styles, scripts } = readPage(page)
    const hashOf = (text = ''): string => `'sha256-${createHash('sha256').update(text).digest('base64')}'`
    expect(/Content-Security-Policy" content="([^"]*)"/.exec(page)?.[1]?.split('; ')).toEqual([
      `default-src 'none'`,
      `style-src ${hashOf(styles[0])}`,
      `script-src ${hashOf(scripts[0])}`,
      `base-uri 'none'`,
      `form-action 'none'`
    ])
  })

  test('shows verdict, reason, thresholds, words, grids and run without a script', () => {
    const { text } = readPage(renderPage(makeOutcome({ judgements: [makeBroken()], notes: ['A note.'] })))
    for (const words of [
      'Load gate · shop main 1a2b3c4 passed The threshold holds.',
      'A note.',
      'failed p95 &#60; 800ms 1,200 ms 50 % over p95 is 1,200 ms',
      '1.22 M transactions passed.',
      'grid1 us-east-1 2 1.2 MB',
      'Run run1 Status finished Tool jmeter-5.6.3 Threads 50'
    ])
      expect(text).toContain(words)
  })

  test('shows why samples failed', () => {
    const measurements = makeMeasurements([], {
      errors: () => makeErrors({ count: 3 }, { label: '<b>', code: '', message: 'expected "<ok>"' })
    })
    const { text, data } = readPage(renderPage(makeOutcome({ measurements })))
    expect(text).toContain('Errors Failed Share Code Message Label 3 75 % 503 Service Unavailable checkout')
    expect(text).toContain('1 25 % expected &#34;&#60;ok&#62;&#34; &#60;b&#62;')
    expect(data.errors).toHaveLength(2)
    expect(readPage(renderPage(makeOutcome())).text).not.toContain('Errors')
  })

  test('shows the figures of all samples, of each region and of each grid', () => {
    const { text } = readPage(renderPage(makePageOutcome()))
    expect(text).toMatch(/Apdex 0\.962 target 250 ms/)
    expect(text).toMatch(/p95 515 ms p99 860 ms/)
    expect(text).toMatch(/Region Samples .* eu-central-1 9,000 .* us-east-1 9,000 /)
    expect(text).toMatch(/Grid Samples .* grid-a 9,000 .* grid-b 9,000 /)
  })

  test('says so where there were no thresholds, and in a rehearsal', () => {
    expect(renderPage(makeOutcome({ judgements: [] }))).toContain('No thresholds were given.')
    const rehearsal = renderPage(makeOutcome({ rehearsal: true }))
    expect(rehearsal).toContain('<strong>rehearsal, synthetic samples</strong>')
    expect(rehearsal).toContain('<title>Load gate: passed (rehearsal, synthetic samples)</title>')
    expect(readPage(renderPage(makeOutcome())).text).not.toContain('rehearsal')
  })

  test('links to https alone', () => {
    const linksOf = (url: string | undefined): string[] => {
      const { elements, data } = readPage(renderPage(makeOutcome({ run: makeRunFacts({ url }) })))
      const links = elements.filter(({ name }) => name === 'a').map(({ attributes }) => attributes)
      return [...links, ...(data.run?.url == null ? [] : [data.run.url])]
    }
    expect(linksOf('https://service.example/r?a=1&b=2')).toEqual([
      ' href="https://service.example/r?a=1&#38;b=2" rel="noreferrer"',
      'https://service.example/r?a=1&b=2'
    ])
    expect(linksOf('javascript:alert(1)')).toEqual([])
    expect(linksOf(undefined)).toEqual([])
  })

  test('is small before its data', () => {
    expect(Buffer.byteLength(renderPage(makeOutcome({ ...nothing })))).toBeLessThan(MOST_BYTES_BEFORE_DATA)
  })

  test('that is fed with events may connect to its own origin, and only then', () => {
    const { data } = readPage(renderPage(makeOutcome()))
    const live = renderPageDocument({ ...data, headline: 'running' }, { eventsPath: '/runs/a"b/events' })
    expect(live).toContain(`; connect-src 'self'; `)
    expect(live).toContain('id="data" data-events="/runs/a&#34;b/events">')
    expect(renderPageDocument(data)).not.toContain('connect-src')
  })
})
