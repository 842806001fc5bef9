import { expect, test } from '@jest/globals'
import { once } from 'node:events'
import type { Page } from 'playwright-core'
import type { Outcome } from '../../src/analysis/outcome.js'
import { buildPageDocument, type PageDocument } from '../../src/report/page/build-document.js'
import { describeRun } from '../../src/report/page/served/run-page.js'
import { describeInBrowser } from '../support/chromium.js'
import {
  HOSTILE,
  makeBaselineFacts,
  makeBroken,
  makeCompared,
  makeOutcome,
  makeTrend
} from '../support/data/make-outcome.js'
import {
  makeComparedOutcome,
  makePageOutcome,
  makeWarmedOutcome,
  SHOP_LOAD
} from '../support/data/page-outcome.js'
import { measure } from '../support/data/sample-csv.js'
import {
  COUNT_PIXELS,
  DESKTOP,
  findingsOf,
  openFolds,
  PHONE,
  servePage,
  until,
  usePages
} from '../support/report-pages.js'
import { makeStalledOutcome, measureStalled, STALLED_START_MS } from '../support/stalls/stalled-run.js'

/** A4 within margins of a centimetre. */
const PAPER = { width: 718, height: 1046 }
const CHARTS = ['Response time', 'Throughput', 'Failures', 'Active threads']
const SERIES = ['p50', 'p95', 'p99', 'throughput', 'failures', 'threads']

const LIGHT_CARD = 'rgb(255, 255, 255)'
const DARK_CARD = 'rgb(22, 29, 38)'
const shop = makePageOutcome()
const stalledOften = measureStalled({
  ...{ users: 4, answerMs: 100, seconds: 50 },
  stalls: Array.from({ length: 30 }, (_, i) => [1000 + i * 1500, 700])
})
const shortShop = { ...SHOP_LOAD, seconds: 30 }

/** How the tests look at a page; it runs in the page. */
const LOOK = `${COUNT_PIXELS}globalThis.look = {
  canvases: (within) => [...document.querySelectorAll(within + ' canvas')],
  pictures: (within) => look.canvases(within).map((canvas) => canvas.toDataURL()),
  crosshairs: () => [...document.querySelectorAll('#time .u-cursor-x')].map((line) => Math.round(line.getBoundingClientRect().x)),
  cells: (column) => [...document.querySelectorAll('#label-table tbody tr')].map((row) => row.children[column].textContent)
}`

/** What is written on the canvases of the time charts, and whether it ends inside. */
const WRITTEN = `globalThis.written = []
const { fillText } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.fillText = function (text, x, y) {
  if (this.textAlign === 'left') written.push({ text, isInside: x + this.measureText(text).width <= this.canvas.width })
  return fillText.call(this, text, x, y)
}`

const ALL_NEW = `look.pictures('#time').every((picture, i) => picture !== before[i])`
const ALL_AS_BEFORE = `look.pictures('#time').every((picture, i) => picture === before[i])`

describeInBrowser('the page in a browser', () => {
  const { openAt, openFile } = usePages(LOOK)

  /** A page that is served, and fed with newer documents. */
  async function openLive(first: PageDocument) {
    const service = await servePage(first)
    const opened = await openAt(service.url)
    await service.connected
    const close = async (): Promise<void> => {
      await opened.page.close()
      service.close()
    }
    return { ...opened, ...service, close }
  }

  const ask = <Answer>(page: Page, question: string): Promise<Answer> => page.evaluate(question)
  const pixelsOf = (page: Page, index: number, swatch: string): Promise<number> =>
    ask(page, `countPixels(look.canvases('#time')[${index}], '${swatch}')`)

  test.each<['light' | 'dark', string, { width: number; height: number }]>([
    ['light', 'desktop', DESKTOP],
    ['dark', 'desktop', DESKTOP],
    ['light', 'phone', PHONE],
    ['dark', 'phone', PHONE]
  ])('opens from disk, %s, on a %s, with every chart drawn', async (colorScheme, _, viewport) => {
    const { page, complaints, requests, url } = await openFile(shop, { colorScheme, viewport })
    expect(await page.locator('#time figcaption strong').allTextContents()).toEqual(CHARTS)
    const places = [0, 0, 0, 1, 2, 3]
    for (const [i, swatch] of SERIES.entries())
      expect(await pixelsOf(page, places[i]!, swatch)).toBeGreaterThan(200)
    expect(await ask<number>(page, `countPixels(look.canvases('#distribution')[0], 'p95')`)).toBeGreaterThan(
      200
    )
    const [red = 0] = await ask<number[]>(
      page,
      `getComputedStyle(document.body).backgroundColor.match(/\\d+/g).map(Number)`
    )
    expect(red < 128).toBe(colorScheme === 'dark')
    expect(await ask<number>(page, 'document.documentElement.scrollWidth')).toBe(viewport.width)
    expect(complaints).toEqual([])
    expect(requests).toEqual([url])
    await page.close()
  })

  test('labels limits beside the chart, whole or with a sign that they were cut', async () => {
    const median = makeCompared('holds', {
      threshold: { text: 'median <= baseline + 10%', name: 'median', metric: 'median' }
    })
    const long = makeBroken({ threshold: { text: 'p95{label="*"} <= max(baseline + 10%, 800ms)' } })
    const outcome = makePageOutcome(shortShop, { judgements: [median, long] })
    const { page } = await openFile(outcome, { script: WRITTEN })
    const written = await ask<{ text: string; isInside: boolean }[]>(page, 'written')
    expect(written).toContainEqual({ text: 'median <= baseline + 10%', isInside: true })
    expect(written).toContainEqual({
      text: expect.stringMatching(/^p95\{label="\*"\} <= .*…$/),
      isInside: true
    })
    expect(written.filter(({ isInside }) => !isInside)).toEqual([])
    await page.close()
  })

  test.each<['light' | 'dark', string, Outcome]>([
    ['light', 'everything', makeComparedOutcome(shortShop)],
    ['dark', 'everything', makeComparedOutcome(shortShop)],
    ['light', 'a rehearsal and a warm-up', makeWarmedOutcome(shortShop, 5, { rehearsal: true })],
    ['light', 'a server that stood still', makeStalledOutcome()],
    ['dark', 'a server that stood still often', makeStalledOutcome({ measurements: stalledOften })],
    ['dark', 'a run without samples', makeOutcome({ verdict: 'error', judgements: [] })]
  ])('has no finding of axe, %s, with %s', async (colorScheme, _, outcome) => {
    const { page } = await openFile(outcome, { colorScheme })
    await openFolds(page)
    expect(await findingsOf(page)).toEqual([])
    await page.close()
  })

  test('zooms all charts by dragging across one, and back by a double click', async () => {
    const { page } = await openFile(shop)
    await ask(page, `globalThis.before = look.pictures('#time')`)
    await page.locator('#time').scrollIntoViewIfNeeded()
    const over = page.locator('#time .u-over').first()
    const { x, y, width } = (await over.boundingBox())!
    await page.mouse.move(x + width * 0.2, y + 30)
    await page.mouse.down()
    await page.mouse.move(x + width * 0.4, y + 30, { steps: 4 })
    await page.mouse.up()
    await until(page, ALL_NEW)
    await over.dblclick()
    await until(page, ALL_AS_BEFORE)
    await page.close()
  })

  test('zooms by its buttons, with the keyboard', async () => {
    const { page } = await openFile(shop)
    await ask(page, `globalThis.before = look.pictures('#time')`)
    await page.locator('#zoom-in').focus()
    await page.keyboard.press('Enter')
    await page.keyboard.press('Enter')
    await until(page, ALL_NEW)
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await until(page, ALL_AS_BEFORE)
    await page.close()
  })

  test('has one crosshair for all charts, with the values of that moment', async () => {
    const { page } = await openFile(shop)
    await page.locator('#time').scrollIntoViewIfNeeded()
    const { x, y, width } = (await page.locator('#time .u-over').nth(1).boundingBox())!
    await page.mouse.move(x + width / 2, y + 20)
    await until(page, `document.querySelector('#moment').value === '150'`)
    const [first, ...others] = await ask<number[]>(page, 'look.crosshairs()')
    expect(others).toEqual([first, first, first])
    expect(Math.abs(first! - (x + width / 2))).toBeLessThan(3)
    const readings = await page.locator('#time .reading').allTextContents()
    expect(readings).toHaveLength(SERIES.length)
    for (const reading of readings) expect(reading).toMatch(/^[\d,.]+( ms|\/s)?$/)
    await page.close()
  })

  test('tells each moment to the keyboard and to screen readers', async () => {
    const { page } = await openFile(shop)
    const slider = page.locator('#moment')
    await slider.focus()
    for (let i = 0; i < 10; i++) await page.keyboard.press('ArrowRight')
    expect(await slider.getAttribute('aria-valuetext')).toMatch(
      /^0:10: p50 [\d,]+ ms, p95 [\d,]+ ms, p99 [\d,]+ ms, Throughput [\d.]+\/s, Failures \d+, Active threads \d+$/
    )
    const [first, ...others] = await ask<number[]>(page, 'look.crosshairs()')
    expect(others).toEqual([first, first, first])
    await page.keyboard.press('End')
    expect((await ask<number[]>(page, 'look.crosshairs()'))[0]).toBeGreaterThan(first!)
    expect(await page.getByRole('img', { name: /^Response time over 5:0\d: p50 from / }).count()).toBe(1)
    expect(
      await page
        .getByRole('img', { name: /^Distribution of response times, all samples: .* p95 < 400ms \(failed\)/ })
        .count()
    ).toBe(1)
    await page.locator('#time-table summary').press('Enter')
    await until(page, `document.querySelectorAll('#time-table tbody tr').length === 301`)
    await page.close()
  })

  test('hides and shows a line', async () => {
    const { page } = await openFile(shop)
    const button = page.locator('#time-charts').getByRole('button', { name: 'p99' })
    await button.click()
    expect(await button.getAttribute('aria-pressed')).toBe('false')
    await until(page, `countPixels(look.canvases('#time')[0], 'p99') === 0`)
    await button.click()
    await until(page, `countPixels(look.canvases('#time')[0], 'p99') > 200`)
    await page.close()
  })

  test('draws the warm-up in grey on a band, says so of its moments, and hides it with its line', async () => {
    const { page, complaints } = await openFile(makeWarmedOutcome(shortShop, 4.5), { colorScheme: 'dark' })
    for (const chart of [0, 1, 2, 3]) {
      expect(await pixelsOf(page, chart, 'warm-up')).toBeGreaterThan(100)
      expect(await pixelsOf(page, chart, 'warm-up-band')).toBeGreaterThan(1_000)
    }
    for (const [i, swatch] of SERIES.entries())
      expect(await pixelsOf(page, [0, 0, 0, 1, 2, 3][i]!, swatch)).toBeGreaterThan(100)
    expect(await page.locator('#time figcaption').getByText('warm-up, not counted').count()).toBe(4)
    expect(
      await page
        .getByRole('img', { name: /^Throughput over 0:3\d, the first 0:04.5 warm-up, not counted: / })
        .count()
    ).toBe(1)
    const slider = page.locator('#moment')
    const told = async (index: number): Promise<string | null> => {
      await slider.fill(String(index))
      return slider.getAttribute('aria-valuetext')
    }
    expect(await told(3)).toMatch(/^0:03, warm-up, not counted: p50 \d+ ms, /)
    expect(await page.locator('#moment-words').textContent()).toMatch(/UTC · warm-up, not counted$/)
    // Half of its samples count.
    expect(await told(4)).toMatch(/^0:04: p50 \d+ ms, .* Throughput (1\d|2\d|30)(\.\d)?\/s, /)
    await page.locator('#time-table summary').click()
    await until(
      page,
      `[...document.querySelectorAll('#time-table tbody th')].filter((cell) => cell.textContent.endsWith('(warm-up, not counted)')).length === 4`
    )
    const before = await pixelsOf(page, 0, 'warm-up')
    await page.locator('#time-charts').getByRole('button', { name: 'p99' }).click()
    await until(page, `countPixels(look.canvases('#time')[0], 'p99') === 0`)
    expect(await pixelsOf(page, 0, 'warm-up')).toBeLessThan(before)
    expect(complaints).toEqual([])
    await page.close()
  })

  test.each<['light' | 'dark', { width: number; height: number }]>([
    ['light', DESKTOP],
    ['dark', PHONE]
  ])('shades when nothing was answered, and says so of its moments, %s', async (colorScheme, viewport) => {
    const { page, complaints } = await openFile(makeStalledOutcome(), { colorScheme, viewport })
    for (const chart of [0, 1, 2, 3]) {
      expect(await pixelsOf(page, chart, 'stall-band')).toBeGreaterThan(1_000)
      expect(await pixelsOf(page, chart, 'stall')).toBeGreaterThan(50)
    }
    expect(await page.locator('#time figcaption').getByText('nothing answered').count()).toBe(4)
    expect(
      await page.getByRole('img', { name: /^Throughput over 0:26, nothing answered once: / }).count()
    ).toBe(1)
    const slider = page.locator('#moment')
    await slider.fill('10')
    expect(await slider.getAttribute('aria-valuetext')).toMatch(/^0:10, nothing answered for 4\.8 s: p50 –/)
    expect(await page.locator('#moment-words').textContent()).toMatch(/UTC · nothing answered for 4\.8 s$/)
    await slider.fill('14')
    expect(await page.locator('#moment-words').textContent()).toMatch(/UTC$/)
    await page.locator('#time-table summary').click()
    await until(
      page,
      `[...document.querySelectorAll('#time-table tbody th')].filter((cell) => cell.textContent.endsWith('(nothing answered for 4.8 s)')).length === 5`
    )
    expect(await page.locator('#stalls tbody tr').allTextContents()).toEqual([
      '0:084.8 s122026-03-01 10:00:08 UTC'
    ])
    expect(await ask<number>(page, 'document.documentElement.scrollWidth')).toBe(viewport.width)
    await page.locator('#zoom-in').click()
    await until(page, `countPixels(look.canvases('#time')[1], 'stall-band') > 1000`)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('says live when nothing is answered, announces it once, and shades it when it is over', async () => {
    const documentAt = (atMs: number): PageDocument =>
      describeRun({
        ...{ id: 'r', name: 'Nightly', status: 'running', tool: 'jmeter-5.6.3', threads: 12 },
        ...{ durationSeconds: 60, startedMs: STALLED_START_MS, stoppedMs: undefined },
        ...{ nowMs: STALLED_START_MS + atMs, apdexTargetMs: undefined, summary: undefined },
        ...{ problem: undefined, rehearsal: false, warnings: [], grids: [] },
        measurements: measureStalled({ untilMs: atMs })
      })
    const { page, complaints, send, close } = await openLive(documentAt(7_900))
    const quiet = page.locator('#quiet')
    const announced = (): Promise<string | null> => page.locator('#announcement').textContent()
    expect(await quiet.isVisible()).toBe(false)
    expect(await announced()).toBe('')
    const button = page.locator('#time-charts').getByRole('button', { name: 'p99' })
    send(documentAt(12_200))
    await page.getByText('Nothing answered for 4 s; the last answer came at 0:08.').waitFor()
    expect(await announced()).toBe('Nothing is being answered.')
    const tile = page.locator('.tile', { hasText: 'Throughput now' })
    expect(await tile.locator('.value').textContent()).toBe('0/s')
    expect(await findingsOf(page)).toEqual([])
    expect(await pixelsOf(page, 0, 'stall-band')).toBe(0)
    send(documentAt(14_500))
    await until(page, `document.querySelector('#quiet').hidden`)
    expect(await announced()).toBe('Answers are coming in again.')
    await until(page, `countPixels(look.canvases('#time')[0], 'stall-band') > 1000`)
    const before = await pixelsOf(page, 0, 'stall-band')
    await button.click()
    send(documentAt(24_000))
    // More of the run is on the same width; what the reader has hidden stays so.
    await until(page, `countPixels(look.canvases('#time')[0], 'stall-band') < ${before}`)
    expect(await button.getAttribute('aria-pressed')).toBe('false')
    expect(complaints.filter((words) => !words.includes('favicon'))).toEqual([])
    await close()
  })

  test('draws a run that is all warm-up in grey alone', async () => {
    const { page, complaints } = await openFile(
      makeWarmedOutcome(shortShop, 60, { verdict: 'inconclusive', judgements: [], apdex: undefined })
    )
    expect(await page.locator('#time figcaption strong').allTextContents()).toEqual(CHARTS)
    expect(await pixelsOf(page, 0, 'warm-up')).toBeGreaterThan(200)
    for (const swatch of ['p50', 'p95', 'p99']) expect(await pixelsOf(page, 0, swatch)).toBe(0)
    expect(
      await page
        .getByRole('img', { name: /^Response time over 0:3\d, all of it warm-up, not counted: p50 from \d/ })
        .count()
    ).toBe(1)
    expect(await page.locator('#distribution, #labels').filter({ visible: true }).count()).toBe(0)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('sorts the labels by any column, either way', async () => {
    const { page } = await openFile(shop)
    const cells = (column: number): Promise<string[]> => ask<string[]>(page, `look.cells(${column})`)
    const numbers = async (): Promise<number[]> =>
      (await cells(8)).map((text) => Number(text.replaceAll(',', '')))
    const heading = page.getByRole('columnheader', { name: 'p95' }).and(page.locator('#label-table th'))
    await heading.getByRole('button').press('Enter')
    const falling = await numbers()
    expect(falling).toHaveLength(SHOP_LOAD.labels.length)
    expect(falling).toEqual([...falling].sort((a, b) => b - a))
    expect(await heading.getAttribute('aria-sort')).toBe('descending')
    await heading.getByRole('button').click()
    expect(await numbers()).toEqual([...falling].reverse())
    expect(await heading.getAttribute('aria-sort')).toBe('ascending')
    await page.locator('#label-table').getByRole('button', { name: 'Label' }).click()
    const names = await cells(0)
    expect(names[0]).toBe('GET /')
    expect(names.at(-1)).toBe('POST /checkout')
    expect(await page.locator('#label-table [aria-sort]').count()).toBe(1)
    await page.close()
  })

  test('finds labels by a part of their name', async () => {
    const { page } = await openFile(shop)
    await page.getByRole('searchbox', { name: 'Search' }).fill('PRODUCTS')
    expect((await ask<string[]>(page, 'look.cells(0)')).sort()).toEqual([
      'GET /products',
      'GET /products/{id}'
    ])
    expect(await page.locator('#label-count').textContent()).toContain('2 of 6 labels')
    await page.getByRole('searchbox').fill('no such label')
    expect(await ask<string[]>(page, 'look.cells(0)')).toEqual([])
    await page.close()
  })

  test('shows the samples of one region or grid', async () => {
    const { page } = await openFile(shop)
    const [everything] = await ask<string[]>(page, `look.pictures('#distribution')`)
    const samples = await ask<string[]>(page, 'look.cells(2)')
    await page.locator('#distribution-view').selectOption({ label: 'region us-east-1' })
    expect(samples).toEqual(new Array(6).fill('3,000'))
    expect(await ask<string[]>(page, 'look.cells(2)')).toEqual(new Array(6).fill('1,500'))
    expect(await page.locator('#labels-view').inputValue()).toBe('2')
    await until(page, `look.canvases('#distribution').length === 1`)
    expect((await ask<string[]>(page, `look.pictures('#distribution')`))[0]).not.toBe(everything)
    await page.close()
  })

  test('draws the trend in three charts, told by pointer and keyboard, also at 320 pixels', async () => {
    const { page, complaints } = await openFile(makeComparedOutcome(shortShop), {
      viewport: { width: 320, height: 900 }
    })
    expect(await page.locator('#trend figcaption strong').allTextContents()).toEqual([
      'p95',
      'Throughput',
      'Error rate'
    ])
    for (const [i, swatch] of ['p95', 'throughput', 'failures'].entries())
      expect(
        await ask<number>(page, `countPixels(look.canvases('#trend')[${i}], '${swatch}')`)
      ).toBeGreaterThan(100)
    expect(await ask<number>(page, 'document.documentElement.scrollWidth')).toBe(320)
    const run = page.locator('#trend-run')
    expect(await run.getAttribute('aria-valuetext')).toMatch(
      /this run; not used: ran for a pull request: p95 386 ms, Throughput 51\.4\/s/
    )
    await run.focus()
    await page.keyboard.press('Home')
    expect(await page.locator('#trend-run-words').textContent()).toBe('2026-02-01 10:30 UTC · abc0000')
    await page.locator('#trend .u-over').first().hover()
    await until(page, `!document.querySelector('#trend .tip').hidden`)
    expect(await page.locator('#trend .tip').first().textContent()).toMatch(
      /^\d+ ms2026-02-\d\d 10:30 UTC[0-9a-f]{7}/
    )
    await page.keyboard.press('Escape')
    expect(await page.locator('#trend .tip').filter({ visible: true }).count()).toBe(0)
    await page.locator('#trend-table summary').click()
    // It is filled by an event that comes after the click.
    await until(page, `document.querySelectorAll('#trend-table tbody tr').length === 30`)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('takes a poisoned baseline for text', async () => {
    const trend = makeTrend(4, () => ({ commit: HOSTILE, runId: HOSTILE, unusable: HOSTILE }), {
      branch: HOSTILE
    })
    const baseline = makeBaselineFacts({ branch: HOSTILE, commit: HOSTILE, notes: [HOSTILE] })
    const { page, complaints, requests, url } = await openFile(
      makeComparedOutcome(shortShop, { trend, baseline })
    )
    await page.locator('#trend-table summary').click()
    await page.locator('#trend .u-over').first().hover()
    await until(page, `!document.querySelector('#trend .tip').hidden`)
    expect(await page.locator('#trend-table tbody tr').count()).toBe(4)
    expect(await page.locator('img, b, i:not(.swatch)').count()).toBe(0)
    expect(complaints).toEqual([])
    expect(requests).toEqual([url])
    await page.close()
  })

  test('takes hostile labels for text', async () => {
    const labels = [
      '</script><script>alert(1)</script>',
      HOSTILE,
      '<img src=x onerror=alert(1)>',
      '<!-- <script>'
    ]
    const load = {
      ...SHOP_LOAD,
      labels,
      seconds: 20,
      grids: [
        ['<b>g</b>', 'r'],
        ['g2', '<i>r</i>']
      ] as const
    }
    const outcome = makePageOutcome(load, { reason: HOSTILE, summary: HOSTILE, notes: [HOSTILE] })
    const { page, complaints, requests, url } = await openFile(outcome)
    expect((await ask<string[]>(page, 'look.cells(0)')).sort()).toEqual(
      labels.map((label) => label.replaceAll('\r\n', '\n')).sort()
    )
    await page.locator('#labels-view').selectOption({ label: 'grid <b>g</b>' })
    expect(await page.locator('img, b, script:not(#data), i:not(.swatch)').count()).toBe(1)
    expect(complaints).toEqual([])
    expect(requests).toEqual([url])
    await page.close()
  })

  test('changes its theme by a button, and is light on paper', async () => {
    const { page } = await openFile(shop, { colorScheme: 'dark' })
    const isDrawnOn = (colour: string): Promise<void> =>
      until(
        page,
        `getComputedStyle(document.querySelector('.card')).backgroundColor === '${colour}' &&
          countPixels(look.canvases('#time')[0], 'p95') > 200`
      )
    await isDrawnOn(DARK_CARD)
    await page.setViewportSize(PAPER)
    await page.emulateMedia({ media: 'print' })
    await isDrawnOn(LIGHT_CARD)
    await until(page, `document.documentElement.scrollWidth <= ${PAPER.width}`)
    expect(await page.locator('#theme').isVisible()).toBe(false)
    await page.emulateMedia({ media: 'screen' })
    await isDrawnOn(DARK_CARD)
    await page.getByRole('button', { name: 'Light theme' }).click()
    await isDrawnOn(LIGHT_CARD)
    await page.close()
  })

  test('shows what there is of results without single samples, and none of what there is not', async () => {
    const rows = [0, 1, 2].flatMap((i) =>
      ['passed', 'failed', 'concurrent_users'].map(
        (name) => `${1493022120000 + i * 15_000},${name},__all,1,2,3,4,r,${i + 1}`
      )
    )
    const csv = ['Time,Measurement,Label,Account,Run,Project,Grid,Region,Value', ...rows, ''].join('\n')
    const { page, complaints } = await openFile(makeOutcome({ measurements: measure(csv) }))
    expect(await page.locator('#time figcaption strong').allTextContents()).toEqual(CHARTS.slice(1))
    expect(await page.locator('#distribution, #labels').filter({ visible: true }).count()).toBe(0)
    expect(complaints).toEqual([])
    await page.close()
  })

  test('makes as few elements for 500 labels as for 150, and the other rows when asked', async () => {
    const opened = async (count: number): Promise<{ page: Page; elements: number }> => {
      const labels = Array.from({ length: count }, (_, i) => `GET /page/${i}`)
      const load = { ...SHOP_LOAD, labels, seconds: 600, samplesASecond: 10 }
      const { page } = await openFile(makePageOutcome(load))
      return { page, elements: await ask(page, `document.querySelectorAll('*').length`) }
    }
    const [few, many] = [await opened(150), await opened(500)]
    expect(await few.page.locator('#label-table tbody tr').count()).toBe(100)
    // A row has at least 13; some cells have a mark more.
    expect(Math.abs(many.elements - few.elements)).toBeLessThan(200)
    await many.page.getByRole('button', { name: 'Show all 500' }).click()
    expect(await many.page.locator('#label-table tbody tr').count()).toBe(500)
    await few.page.close()
    await many.page.close()
  })

  test('follows a run that goes on, also after the connection was lost', async () => {
    const whole = buildPageDocument(shop)
    const cut = <Item>(list: readonly Item[]): Item[] => list.slice(0, 100)
    const { bucketMs, ...lists } = whole.series!
    const begun = Object.fromEntries(
      Object.entries(lists).map(([name, list]) => [name, cut<number | null>(list)])
    )
    const running = {
      ...whole,
      headline: 'running' as const,
      series: { bucketMs, ...begun } as typeof lists & { bucketMs: number }
    }
    const { page, complaints, send, streams, server, close } = await openLive(running)
    expect(await page.locator('h1').textContent()).toBe('running')
    expect(await page.locator('#moment').getAttribute('max')).toBe('99')
    await page.getByRole('searchbox').fill('cart')
    send({ ...running, reason: 'Half of it is done.' })
    await page.getByText('Half of it is done.').waitFor()
    const again = once(server, 'stream')
    streams.at(-1)!.end()
    await again
    send(whole)
    await page.locator('h1', { hasText: 'failed' }).waitFor()
    expect(await page.locator('#moment').getAttribute('max')).toBe('300')
    expect(await page.title()).toBe('Load gate: failed')
    // What the reader had looked for is still looked for.
    expect(await ask<string[]>(page, 'look.cells(0)')).toEqual(['POST /cart'])
    expect(complaints.filter((words) => !words.includes('favicon'))).toEqual([])
    await close()
  })
})
