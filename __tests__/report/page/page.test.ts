import { describe, expect, test } from '@jest/globals'
import { createHash } from 'node:crypto'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { buildPageDocument, type PageDocument } from '../../../src/report/page/build-document.js'
import { readEmbedded, type EmbeddedDocument } from '../../../src/report/page/label-rows.js'
import { renderPage, renderPageDocument } from '../../../src/report/page/page.js'
import {
  HOSTILE,
  makeBaselineFacts,
  makeBroken,
  makeCompared,
  makeErrors,
  makeGridFacts,
  makeJudgement,
  makeNode,
  makeOutcome,
  makeRunFacts,
  makeStoppedEarly,
  makeTrend
} from '../../support/data/make-outcome.js'
import { makeBrokenOverTime, makeStalledOutcome, measureStalled } from '../../support/stalls/stalled-run.js'
import { makeMeasurements, makeSamples } from '../../analysis/thresholds/make-evidence.js'
import { makeLabelChange, makeLabelChanges } from '../../support/data/make-label-changes.js'
import { makeSeries } from '../../support/data/make-series.js'
import { makeDetailedOutcome, makeDetails } from '../../support/data/page-details.js'
import {
  makeComparedOutcome,
  makePageOutcome,
  measureLoad,
  SHOP_LOAD
} from '../../support/data/page-outcome.js'

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
  ...[
    'h1',
    'h2',
    'h3',
    'p',
    'a',
    'blockquote',
    'code',
    'strong',
    'span',
    'dl',
    'dt',
    'dd',
    'ul',
    'li',
    'details'
  ],
  ...['dialog'],
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
  return { elements, text, styles, scripts, data: readEmbedded(JSON.parse(data) as EmbeddedDocument) }
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
    nodes: [makeNode({ grid: HOSTILE, region: HOSTILE, place: HOSTILE, lost: HOSTILE })],
    notes: [HOSTILE]
  }
)

/** Everything that a baseline document could have put there. */
const poisoned = makeOutcome({
  judgements: [makeCompared('unsure', { threshold: { text: HOSTILE }, reason: HOSTILE })],
  baseline: makeBaselineFacts({
    branch: HOSTILE,
    commit: HOSTILE,
    reason: HOSTILE,
    notes: [HOSTILE],
    runs: [HOSTILE]
  }),
  trend: makeTrend(3, () => ({ commit: HOSTILE, runId: HOSTILE, unusable: HOSTILE, atMs: 1e300 }), {
    branch: HOSTILE
  }),
  stoppedEarly: makeStoppedEarly({ threshold: HOSTILE })
})

describe('the page', () => {
  const nothing: Partial<Outcome> = { run: undefined, summary: undefined, judgements: [], grids: [] }
  test.each<[string, Outcome]>([
    ['a passed gate without samples', makeOutcome()],
    ['a gate with everything', makePageOutcome()],
    ['a gate without anything', makeOutcome({ verdict: 'error', ...nothing })],
    ['hostile text', hostile],
    ['a comparison', makeComparedOutcome({ ...SHOP_LOAD, seconds: 5 })],
    ['a poisoned baseline', poisoned],
    [
      'a poisoned baseline that nobody asked for',
      makeOutcome({ ...poisoned, judgements: [], shownComparisons: poisoned.judgements })
    ],
    ['a rehearsal', makeOutcome({ rehearsal: true })],
    ['a server that stood still', makeStalledOutcome()]
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

  test('shows base, this run, change and outcome of each line that names a baseline', () => {
    const { text, data } = readPage(renderPage(makeComparedOutcome({ ...SHOP_LOAD, seconds: 5 })))
    for (const words of [
      'Compared with the baseline Outcome Threshold Base This run Change and interval Explanation',
      'broken p95 &#60;= baseline + 10% 310 ms 10 runs, 8c5a0f1 386 ms +24.4 % (+14.2 to +35.6)',
      'unsure error_rate &#60;= baseline + 0.5pp 0.2 % 10 runs, 8c5a0f1 1.05 % +0.85 pp (-0.4 to +2.1)',
      'not comparable warn: apdex &#62;= baseline - 0.02 – – – the base runs',
      'holds throughput &#62;= baseline - 5% 52/s 10 runs, 8c5a0f1 51.4/s -1.2 % (-4.1 to +1.8)',
      'Compared with 10 runs of main, the newest at 8c5a0f1. No run on main for a514cef, so 8c5a0f1 was used'
    ])
      expect(text.replace(/\s+/g, ' ')).toContain(words)
    expect(
      data.thresholds.filter(({ comparison }) => comparison !== undefined).map(({ verdict }) => verdict)
    ).toEqual([...['broken', 'unsure', 'no baseline', 'not comparable', 'holds']])
    expect(data.trend?.points).toHaveLength(30)
  })

  test('has as many cells as headings in each row of its tables', () => {
    const information = makeOutcome({ shownComparisons: [makeCompared('holds'), makeCompared('broken')] })
    const detailed = makeDetailedOutcome({ ...SHOP_LOAD, seconds: 30 })
    for (const outcome of [makeComparedOutcome({ ...SHOP_LOAD, seconds: 5 }), information, detailed]) {
      const tables = renderPage(outcome).match(/<table(?: class="outcomes")?><thead>.*?<\/table>/gs) ?? []
      expect(tables.length).toBeGreaterThan(1)
      for (const table of tables) {
        const [head = 0, ...rows] = (table.match(/<tr[ >].*?<\/tr>/gs) ?? []).map((row) => {
          const wide = Number(/colspan="(\d+)"/.exec(row)?.[1] ?? 1)
          return (row.match(/<t[hd][ >]/g)?.length ?? 0) + wide - 1
        })
        expect(rows).toEqual(rows.map(() => head))
      }
    }
  })

  test.each(['unsure', 'no baseline', 'not comparable'] as const)(
    'is not plain green with a line that is %s',
    (outcome) => {
      const page = renderPage(makeOutcome({ judgements: [makeJudgement(), makeCompared(outcome)] }))
      expect(page).toContain('<title>Load gate: passed, 1 line not judged</title>')
      expect(page).toContain('<header class="headline doubtful">')
      expect(page).toContain(`<span class="pill doubtful">${outcome}</span>`)
    }
  )

  test('shows a comparison that nobody asked for as information', () => {
    const shownComparisons = [makeCompared('holds'), makeCompared('broken'), makeCompared('no baseline')]
    const page = renderPage(makeOutcome({ shownComparisons, baseline: makeBaselineFacts() }))
    expect(page).toContain('<title>Load gate: passed</title>')
    expect(readPage(page).text).toContain(
      'Compared with the baseline, for information No threshold names baseline'
    )
    expect(page.match(/<span class="pill neutral">[^<]*/g)).toEqual([
      '<span class="pill neutral">would be broken',
      '<span class="pill neutral">would hold'
    ])
  })

  test('says that the run was stopped early, and what that saved', () => {
    const { text } = readPage(
      renderPage(makeOutcome({ verdict: 'failed', stoppedEarly: makeStoppedEarly() }))
    )
    expect(text).toContain('failed, stopped early after 2 min of 10 min')
    expect(text).toContain(
      'because of &#34;p95 &#60; 800ms&#34;, so the verdict is on its first 2 min; that saved 8 min.'
    )
  })

  test('keeps a trend small, whatever its document has', () => {
    const huge = '漢'.repeat(100_000)
    const trend = makeTrend(500, () => ({ commit: huge, runId: huge, unusable: huge, p95Ms: NaN }), {
      branch: huge
    })
    const page = renderPage(
      makeOutcome({ ...nothing, trend, baseline: makeBaselineFacts({ branch: huge, commit: huge }) })
    )
    expect(Buffer.byteLength(page)).toBeLessThan(MOST_BYTES_BEFORE_DATA + 350_000)
    expect(readPage(page).data.trend?.points).toHaveLength(30)
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

  test('shows the first failed samples below the error that they belong to', () => {
    const measurements = makeMeasurements(makeSamples([100]), {
      ...{ startMs: 1_000_500, endMs: 1_013_000, series: makeSeries({ points: 20 }) },
      errors: () =>
        makeErrors(
          { count: 3 },
          { label: '', code: '', message: '' },
          { label: undefined, code: '', message: 'other errors' }
        )
    })
    const sample = { code: '503', message: 'Service Unavailable', atMs: 1_012_000, elapsedMs: 250 }
    const failures = [
      { ...sample, label: 'checkout', thread: 'Users 1-3', url: 'https://shop.example/<pay>' },
      { ...sample, label: 'another', thread: 'not shown' },
      { ...sample, label: '', code: '', message: '', thread: '' }
    ]
    const details = makeDetails(measureLoad({ ...SHOP_LOAD, seconds: 5 }), { labels: [], failures })
    const { text, elements } = readPage(renderPage(makeOutcome({ measurements, details })))
    expect(text).toContain(
      '503 Service Unavailable checkout The first failed sample at 0:12 · 1970-01-01 00:16:52 UTC · after 250 ms · thread Users 1-3 · https://shop.example/&#60;pay&#62; 1 20 % no message (no name) The first failed sample at 0:12 · 1970-01-01 00:16:52 UTC · after 250 ms 1 20 % other errors'
    )
    expect(text).not.toContain('not shown')
    expect(elements.map(({ attributes }) => attributes)).toContain(' href="#label=checkout"')
  })

  test('stays below 600 kB with 10,000 labels and all details, and says how many it leaves out', () => {
    const labels = Array.from({ length: 10_000 }, (_, i) => `GET /products/${i}/<reviews>`)
    const outcome = makeDetailedOutcome({ ...SHOP_LOAD, labels, seconds: 601, samplesASecond: 20 })
    const page = renderPage(outcome)
    expect(Buffer.byteLength(page)).toBeLessThan(600_000)
    expect(Buffer.byteLength(page)).toBeGreaterThan(580_000)
    const { data } = readPage(page)
    const whole = buildPageDocument(outcome)
    expect(data.details?.labels).toHaveLength(20)
    const [all, ...parts] = data.views
    expect(all!.labels.length).toBeGreaterThan(1_000)
    for (const view of [all!, ...parts]) expect(view.labels.length + view.labelsLeftOut).toBe(10_000)
    expect(data).toEqual({
      ...JSON.parse(JSON.stringify(whole)),
      views: whole.views.map((view, i) => ({
        ...view,
        labels: view.labels.slice(0, data.views[i]!.labels.length),
        labelsLeftOut: data.views[i]!.labelsLeftOut
      }))
    })
  })

  test.each(['<', '中', '"'])(
    'stays below 600 kB with labels of 990 %j, and says what it leaves out',
    (letter) => {
      const name = (i: number): string => `${letter.repeat(990)}${i}`
      const load = { ...SHOP_LOAD, labels: Array.from({ length: 60 }, (_, i) => name(i)), seconds: 60 }
      const rows = Array.from({ length: 60 }, (_, i) => makeLabelChange({ label: name(i) }))
      for (const labelChanges of [undefined, makeLabelChanges({ rows })]) {
        const html = renderPage(makeDetailedOutcome(load, { labelChanges }))
        expect(Buffer.byteLength(html)).toBeLessThan(600_000)
        expect(html).toContain('<p class="note">Names are so long that this page leaves out')
      }
    }
  )

  test('shows the figures of all samples, of each region and of each grid', () => {
    const { text } = readPage(renderPage(makePageOutcome()))
    expect(text).toMatch(/Apdex 0\.962 target 250 ms/)
    expect(text).toMatch(/p95 515 ms p99 860 ms/)
    expect(text).toMatch(/Region Samples .* eu-central-1 9,000 .* us-east-1 9,000 /)
    expect(text).toMatch(/Grid Samples .* grid-a 9,000 .* grid-b 9,000 /)
  })

  test('shows both figures of a line that is broken over time', () => {
    const compared = { ...makeCompared('broken', { actual: 4630 }), overTime: makeBrokenOverTime().overTime! }
    const { text } = readPage(
      renderPage(makeStalledOutcome({ judgements: [makeBrokenOverTime(), compared] }))
    )
    expect(text).toContain('failed p99 &#60; 1s 174 ms by samples, at least 4.6 s over time 363 % over')
    expect(text).toContain('10 runs 174 ms by samples, at least 4.6 s over time +24.4 %')
    expect(text.match(/at least 4\.6 s over time /g)).toHaveLength(2)
  })

  test('shows when nothing was answered, explains it, and leads to more', () => {
    const { text, elements, data } = readPage(renderPage(makeStalledOutcome()))
    expect(text).toContain(
      'When nothing was answered At 0:08 nothing was answered for 4.8 s while 12 users waited. Users who wait send nothing'
    )
    expect(text).toContain('How long Users waiting Clock 0:08 4.8 s 12 2026-03-01 10:00:08 UTC')
    expect(elements.map(({ attributes }) => attributes)).toContain(
      ' href="https://github.com/loadgate/loadgate/blob/main/docs/verdicts.md#over-time" rel="noreferrer"'
    )
    expect(data.stalls?.bands).toHaveLength(1)
    expect(readPage(renderPage(makeOutcome())).text).not.toContain('nothing was answered')
  })

  test('counts those that are not in the table', () => {
    const stalls = Array.from({ length: 30 }, (_, i) => [1000 + i * 1500, 700] as const)
    const measurements = measureStalled({ users: 4, answerMs: 100, seconds: 50, stalls })
    const { text } = readPage(renderPage(makeStalledOutcome({ measurements })))
    expect(text).toContain('10 more, none of them longer.')
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

describe('where the load came from', () => {
  test('is shown node by node, and a starved one is marked', () => {
    const nodes = [
      makeNode(),
      makeNode({ number: 2, startedMs: 1250, throttled: 0.43, lost: 'it was evicted' })
    ]
    const { text, elements } = readPage(renderPage(makeOutcome({ nodes })))
    expect(text).toContain('Node Where it ran Start Rows Threads CPU limit Restarts Throttled Lost')
    expect(text).toContain('eu / 1 pod p on the machine m +0 ms 1,200 5 0.5 0 no')
    expect(text).toContain(
      'throttled 43 % of the time: a starved load generator measures itself it was evicted'
    )
    expect(elements.filter(({ attributes }) => attributes === ' class="failing"')).toHaveLength(1)
  })

  test('a grid that lost a node is not complete', () => {
    const nodes = [makeNode({ grid: 'a' }), makeNode({ grid: 'a', number: 2, lost: 'it was evicted' })]
    const grids = ['a', 'b'].map((gridId) => makeGridFacts({ gridId }))
    const { elements, text } = readPage(renderPage(makeOutcome({ nodes, grids })))
    expect(elements).not.toEqual([])
    expect(text.match(/1 node was lost|complete(?= )/g)).toEqual(['1 node was lost', 'complete'])
  })

  test('that it was this machine is said', () => {
    expect(readPage(renderPage(makeOutcome({ isAllHere: true }))).text).toContain(
      'Every region is this machine'
    )
    expect(readPage(renderPage(makeOutcome())).text).not.toContain('this machine')
  })

  test('of very many nodes some are left out', () => {
    const nodes = Array.from({ length: 700 }, (_, index) => makeNode({ number: index + 1 }))
    expect(readPage(renderPage(makeOutcome({ nodes }))).text).toContain('200 more are in verdict.json.')
  })
})

test('a long reason is the outcome in one sentence, and below it what led to it', () => {
  const why = `p95 is 49 ms, −41 % against <the> baseline's 83 ms (${'3 of 4 runs; '.repeat(9)})`
  const html = renderPage(makeOutcome({ reason: `1 of 3 thresholds holds; 2 lines were not judged: ${why}` }))
  expect(html).toContain(
    '<p class="reason">1 of 3 thresholds holds; 2 lines were not judged.</p><p class="note lines">p95 is 49 ms, −41 % against &#60;the&#62; baseline&#39;s'
  )
  const short = renderPage(makeOutcome({ reason: '1 threshold is broken: p95 is 90 ms, must be < 60 ms' }))
  expect(short).toContain('<p class="reason">1 threshold is broken: p95 is 90 ms, must be &#60; 60 ms</p>')
})

test('times in which nothing was answered are below the charts that show them', () => {
  const html = renderPage(makeStalledOutcome())
  expect(html.indexOf('id="stalls"')).toBeGreaterThan(html.indexOf('id="time-charts"'))
  expect(html.indexOf('id="stalls"')).toBeLessThan(html.indexOf('id="distribution"'))
})
