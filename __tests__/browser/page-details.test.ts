import { describe, expect, test } from '@jest/globals'
import { readFile, stat } from 'node:fs/promises'
import type { Page } from 'playwright-core'
import { buildPageDocument, type PageDocument } from '../../src/report/page/build-document.js'
import { describeInBrowser } from '../support/chromium.js'
import { HOSTILE, makeOutcome } from '../support/data/make-outcome.js'
import { detailsOf } from '../support/data/details-of.js'
import { makeDetailedOutcome, makeDetails } from '../support/data/page-details.js'
import { makeComparedOutcome, makePageOutcome, measureLoad, SHOP_LOAD } from '../support/data/page-outcome.js'
import { measure } from '../support/data/sample-csv.js'
import {
  COUNT_PIXELS,
  DESKTOP,
  findingsOf,
  openFolds,
  servePage,
  until,
  usePages
} from '../support/report-pages.js'

const NARROW = { width: 360, height: 740 }
const SHORT_SHOP = { ...SHOP_LOAD, seconds: 60 }
const CHARTS = ['Response time', 'Throughput', 'Failures', 'Response codes', 'Where the time goes', 'Data']
const CHECKOUT = '#label=POST%20%2Fcheckout'

/** What is written on canvases and where it begins and ends, by canvas; each chart's last drawing. */
const WRITTEN = `globalThis.written = new Map()
const { fillText, clearRect } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.clearRect = function (...area) {
  written.set(this.canvas, [])
  return clearRect.apply(this, area)
}
CanvasRenderingContext2D.prototype.fillText = function (text, x, y, ...rest) {
  const { width } = this.measureText(text)
  const left = this.textAlign === 'center' ? x - width / 2 : this.textAlign === 'right' ? x - width : x
  const list = written.get(this.canvas) ?? []
  written.set(this.canvas, [...list, { text, align: this.textAlign, left, right: left + width, y, most: this.canvas.width }])
  return fillText.call(this, text, x, y, ...rest)
}`

interface Writing {
  readonly text: string
  readonly align: string
  readonly left: number
  readonly right: number
  readonly y: number
  readonly most: number
}

const detailed = makeDetailedOutcome(SHORT_SHOP)

describeInBrowser('a page with details in a browser', () => {
  const { newPage, openAt, openFile, writePage } = usePages(COUNT_PIXELS)

  const ask = <Answer>(page: Page, question: string): Promise<Answer> => page.evaluate(question)
  const isOpen = (page: Page): Promise<boolean> => ask(page, `document.querySelector('#label-view').open`)
  const isClosed = (page: Page): Promise<void> => until(page, `!document.querySelector('#label-view').open`)
  /** Its own text, not that of all the page. */
  const focused = (page: Page): Promise<string> =>
    ask(page, `document.activeElement.textContent.slice(0, 100)`)
  const hashOf = (page: Page): Promise<string> => ask(page, 'location.hash')
  async function download(page: Page, act: () => Promise<void>): Promise<{ name: string; bytes: Buffer }> {
    const [file] = await Promise.all([page.waitForEvent('download'), act()])
    return { name: file.suggestedFilename(), bytes: await readFile(await file.path()) }
  }

  describe('the distribution', () => {
    test('has a legend that agrees with the apdex: failures are a part of their own, and all add up', async () => {
      const rows = Array.from({ length: 1000 }, (_, i) => {
        const ms = i === 999 ? 700 : 20
        return `${1_700_000_000_000 + i * 10},${ms},a,${i >= 252}`
      })
      const measurements = measure(['timeStamp,elapsed,label,success', ...rows, ''].join('\n'))
      const apdex = { score: measurements.figures({})!.apdex(500)!, targetMs: 500 }
      const { page } = await openFile(makeOutcome({ measurements, apdex }))
      expect(await page.locator('#zones li').allTextContents()).toEqual([
        '74.7 % satisfied, up to 500 ms',
        '0.1 % tolerating, up to 2,000 ms',
        '0 % frustrated, slower than that',
        '25.2 % failed, counted as frustrated',
        'By these samples, Apdex is 0.747: satisfied plus half of tolerating.'
      ])
      expect(await page.locator('.tile', { hasText: 'Apdex' }).textContent()).toContain('0.747')
      await page.close()
    })

    test.each([DESKTOP, NARROW])(
      'has whole times below its axis, none over another, at %j',
      async (viewport) => {
        const rows = Array.from(
          { length: 400 },
          (_, i) => `${1_700_000_000_000 + i * 3_000},${i % 4 === 0 ? 0 : i},a,true`
        )
        const measurements = measure(['timeStamp,elapsed,label,success', ...rows, ''].join('\n'))
        const { page } = await openFile(makeOutcome({ measurements }), { viewport, script: WRITTEN })
        const charts = await ask<Writing[][]>(
          page,
          `[...document.querySelectorAll('canvas')].map((canvas) => written.get(canvas))`
        )
        expect(charts.length).toBeGreaterThanOrEqual(3)
        const all = charts.flat()
        expect(all.filter(({ left, right, most }) => left < 0 || right > most)).toEqual([])
        const below = charts.at(-1)!.filter(({ align }) => align === 'center')
        expect(below.map(({ text }) => text)).toContain('1 ms')
        expect(below[0]!.text).toBe(viewport === DESKTOP ? '0.5 ms' : '1 ms')
        below.slice(1).forEach(({ left }, i) => expect(left).toBeGreaterThan(below[i]!.right))
        await page.close()
      }
    )
  })

  describe('all samples', () => {
    test.each(['light', 'dark'] as const)(
      'have codes, phases and bytes over time, %s',
      async (colorScheme) => {
        const { page, complaints } = await openFile(detailed, { colorScheme })
        expect(await page.locator('#time figcaption strong').allTextContents()).toEqual([
          ...CHARTS,
          'Active threads'
        ])
        const pixels = await ask<Record<string, number>>(
          page,
          `Object.fromEntries([['code-2a', 3], ['code-3a', 3], ['code-5a', 3], ['connect', 4], ['ttfb', 4], ['download', 4], ['received', 5], ['sent', 5]].map(([name, chart]) =>
          [name, countPixels(document.querySelectorAll('#time canvas')[chart], name)]
        ))`
        )
        for (const [name, count] of Object.entries(pixels)) expect([name, count > 100]).toEqual([name, true])
        const slider = page.locator('#moment')
        await slider.fill('30')
        expect(await slider.getAttribute('aria-valuetext')).toMatch(
          /, 200 50\/s, 304 \d\/s, 404 \d\/s, 503 0\/s, no code 0\/s, Connect \d ms, Time to first byte \d+ ms, Download \d+ ms, Received 2\d\d kB\/s, Sent 2\d kB\/s, Active threads/
        )
        expect(complaints).toEqual([])
        await page.close()
      }
    )

    test('have a stack that comes down when a part of it is hidden', async () => {
      const { page } = await openFile(detailed)
      const highest = `(() => {
        const canvas = document.querySelectorAll('#time canvas')[3]
        return canvas.toDataURL()
      })()`
      const before = await ask<string>(page, highest)
      const button = page.locator('#time figure').nth(3).getByRole('button', { name: '200' })
      await button.click()
      await until(page, `(${highest}) !== ${JSON.stringify(before)}`)
      await button.click()
      await until(page, `(${highest}) === ${JSON.stringify(before)}`)
      await page.close()
    })

    test('have the first failed samples below each error', async () => {
      const { page } = await openFile(detailed)
      const fold = page.locator('#errors .more details').first()
      await fold.locator('summary').press('Enter')
      await fold.getByText('thread Users 1-1').first().waitFor()
      expect(await fold.locator('li').allTextContents()).toEqual([
        'at 0:00 · 2026-03-01 10:00:00 UTC · after 120 ms · thread Users 1-1 · https://shop.example/checkout',
        'at 0:10 · 2026-03-01 10:00:10 UTC · after 121 ms · thread Users 1-1 · https://shop.example/checkout'
      ])
      await page.close()
    })
  })

  describe('a label', () => {
    const title = (page: Page): Promise<string | null> => page.locator('#label-title').textContent()

    test('opens by a click anywhere on its row, and closes by going back', async () => {
      const { page, complaints } = await openFile(detailed)
      await page.locator('#label-table tbody tr', { hasText: 'POST /checkout' }).locator('td').nth(5).click()
      await page.locator('#label-view').waitFor()
      expect(await title(page)).toBe('POST /checkout')
      expect(await hashOf(page)).toBe(CHECKOUT)
      expect(await page.locator('#label-time figcaption strong').allTextContents()).toEqual(CHARTS)
      expect(await page.locator('#label-errors tbody tr:not(.more)').count()).toBeGreaterThan(0)
      expect(await page.locator('#label-errors .samples li').first().textContent()).toContain('thread Users')
      expect(await page.locator('#label-zones li').count()).toBe(5)
      expect(await page.locator('#label-figures tbody tr').count()).toBe(5)
      expect(await page.locator('#label-tiles .tile').first().textContent()).toMatch(/^Median\d+ ms/)
      await page.goBack()
      await isClosed(page)
      expect(await hashOf(page)).toBe('')
      expect(complaints).toEqual([])
      await page.close()
    })

    test('opens by Enter, closes by Escape, and gives the focus back', async () => {
      const { page } = await openFile(detailed)
      const link = page.locator('#label-table tbody a', { hasText: 'GET /search' })
      await link.focus()
      await page.keyboard.press('Enter')
      await page.locator('#label-view').waitFor()
      expect(await ask<string>(page, 'document.activeElement.id')).toBe('label-title')
      // The page beneath is out of reach.
      for (let i = 0; i < 60; i++) {
        await page.keyboard.press('Tab')
        expect(
          await ask<boolean>(
            page,
            `document.activeElement === document.body || document.querySelector('#label-view').contains(document.activeElement)`
          )
        ).toBe(true)
      }
      await page.keyboard.press('Escape')
      await isClosed(page)
      await until(page, `location.hash === ''`)
      expect(await focused(page)).toBe('GET /search')
      // Again, and by its button.
      await page.keyboard.press('Enter')
      await page.getByRole('button', { name: 'Close' }).click()
      await isClosed(page)
      await until(page, `location.hash === ''`)
      await page.close()
    })

    test('opens by its address, and leaves the page where it was on closing', async () => {
      const { page } = await openFile(detailed, { hash: CHECKOUT })
      await page.locator('#label-view').waitFor()
      expect(await title(page)).toBe('POST /checkout')
      await page.keyboard.press('Escape')
      await until(page, `location.hash === ''`)
      expect(await page.locator('h1').textContent()).toBe('failed')
      expect(await focused(page)).toBe('POST /checkout')
      await page.close()
    })

    test('shows the limits that thresholds set for it', async () => {
      const outcome = makePageOutcome(SHORT_SHOP)
      const { judgements } = outcome
      const limited = judgements.map((judgement) =>
        'isTools' in judgement.threshold || judgement.threshold.text !== 'p95 < 400ms'
          ? judgement
          : {
              ...judgement,
              threshold: {
                ...judgement.threshold,
                text: 'p95{label="POST /*"} < 400ms',
                selector: { label: { text: 'POST /*', pieces: ['POST /', ''] } }
              }
            }
      )
      const details = makeDetails(outcome.measurements!)
      const { page } = await openFile({ ...outcome, judgements: limited, details }, { hash: CHECKOUT })
      const chart = page.locator('#label-distribution').getByRole('img')
      expect(await chart.getAttribute('aria-label')).toContain('thresholds shown: p95 < 400ms (failed)')
      await page.close()
    })

    test('that has no series shows what there is and says why', async () => {
      const labels = Array.from({ length: 30 }, (_, i) => `page ${String(i).padStart(2, '0')}`)
      const outcome = makeDetailedOutcome({ ...SHORT_SHOP, labels })
      const { page, complaints } = await openFile(outcome, { hash: '#label=page%2029' })
      expect(await page.locator('#label-note').textContent()).toBe(
        'Charts over time are kept for 20 labels: those that thresholds name, the slowest, those that failed most and those with the most samples. This is not one of them.'
      )
      expect(await page.locator('#label-time, #label-distribution').filter({ visible: true }).count()).toBe(0)
      expect(await page.locator('#label-figures .spark').count()).toBe(1)
      expect(await page.locator('#label-figures tbody tr').count()).toBe(5)
      await page.goto(page.url().replace(/#.*/, '#label=no%20such%20label'))
      await until(page, `document.querySelector('#label-title').textContent === 'no such label'`)
      expect(await page.locator('#label-note').textContent()).toBe('This run has no such label.')
      expect(complaints).toEqual([])
      await page.close()
    })

    test('of a setUp group says that it is outside of the load, and why it failed', async () => {
      const row = (ms: number, label: string, thread: string, isOk: boolean) =>
        `${1_700_000_000_000 + ms},20,${label},${isOk ? 200 : 500},boom,${thread} 1-1,${isOk}`
      const rows = [
        ...[0, 500].map((ms) => row(ms, 'log in', 'setUp', false)),
        ...Array.from({ length: 100 }, (_, i) => row(1000 + i * 100, 'home', 'users', true))
      ]
      const header = 'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success'
      const csv = [header, ...rows, ''].join('\n')
      const { details, measurements } = await detailsOf([[csv]], { asideGroups: ['setUp'] })
      const { page } = await openFile(makeOutcome({ measurements, details }), { hash: '#label=log%20in' })
      expect(await page.locator('#label-note').textContent()).toBe(
        'Samples of setUp and tearDown thread groups are outside the time of the load: they count neither for throughput nor in the charts.'
      )
      const errors = page.locator('#label-errors')
      expect(await errors.locator('tbody tr').first().textContent()).toContain('boom (setUp or tearDown)')
      expect(await errors.locator('.samples li').allTextContents()).toEqual([
        expect.stringMatching(/^2023.* · after 20 ms · thread setUp 1-1$/),
        expect.stringMatching(/^2023/)
      ])
      await page.close()
    })

    test.each(['</script><script>alert(1)</script>', HOSTILE, '', '<img src=x onerror=alert(1)>'])(
      'called %j is text, also in its address',
      async (hostile) => {
        const outcome = makePageOutcome({ ...SHORT_SHOP, seconds: 20, labels: [hostile, 'other'] })
        const details = makeDetails(outcome.measurements!)
        const failures = details.failures.map((sample) => ({ ...sample, thread: HOSTILE, url: HOSTILE }))
        const series = details.labels[0]!.series
        const codes = [{ code: HOSTILE, counts: series.codes[0]!.counts }]
        const poisoned = details.labels.map((label) => ({ ...label, series: { ...series, codes } }))
        const { page, complaints } = await openFile({
          ...outcome,
          details: { overall: { ...details.overall, codes }, failures, labels: poisoned }
        })
        const row = page.locator('#label-table tbody tr').filter({ hasNotText: /^other/ })
        await row.locator('a').click()
        await page.locator('#label-view').waitFor()
        const shown = hostile.replaceAll('\r\n', '\n') || '(no name)'
        expect((await title(page))?.replaceAll('\r\n', '\n')).toBe(shown)
        expect(await page.locator('#label-time figcaption strong').count()).toBeGreaterThan(4)
        await page.locator('#label-time-table summary').click()
        await until(page, `document.querySelectorAll('#label-time-table tbody tr').length > 5`)
        expect(await page.locator('img, #label-view script, #label-view b').count()).toBe(0)
        await page.reload()
        await page.locator('#label-view').waitFor()
        expect(complaints).toEqual([])
        await page.close()
      }
    )

    test.each<['light' | 'dark', { width: number; height: number }]>([
      ['light', DESKTOP],
      ['dark', DESKTOP],
      ['light', NARROW],
      ['dark', NARROW]
    ])('has no finding of axe and fits, %s, at %j', async (colorScheme, viewport) => {
      const { page } = await openFile(detailed, { hash: CHECKOUT, colorScheme, viewport })
      await openFolds(page)
      expect(await findingsOf(page)).toEqual([])
      const sizes = `[document.querySelector('#label-view').scrollWidth - document.querySelector('#label-view').clientWidth, document.documentElement.scrollWidth]`
      expect(await ask(page, sizes)).toEqual([0, viewport.width])
      await page.keyboard.press('Escape')
      await isClosed(page)
      expect(await findingsOf(page)).toEqual([])
      await page.close()
    })

    test('is printed by itself', async () => {
      const { page } = await openFile(detailed, { hash: CHECKOUT, viewport: { width: 718, height: 1046 } })
      await page.emulateMedia({ media: 'print' })
      expect(await page.locator('main').isVisible()).toBe(false)
      expect(await page.locator('#label-title').isVisible()).toBe(true)
      expect(await page.locator('.take, .copy, #label-close').filter({ visible: true }).count()).toBe(0)
      // All of it, not what fits a screen.
      expect(
        await ask<boolean>(
          page,
          `document.querySelector('#label-view').getBoundingClientRect().height > 1500`
        )
      ).toBe(true)
      await page.close()
    })

    test('stays open while the run goes on, and has its charts when it has ended', async () => {
      const whole = buildPageDocument(detailed)
      const live = { elapsedMs: 1000, durationMs: null, now: null, quiet: null }
      const running: PageDocument = { ...whole, headline: 'running', details: null, live }
      const service = await servePage(running)
      const { page, complaints } = await openAt(service.url + CHECKOUT)
      await service.connected
      expect(await page.locator('#label-note').textContent()).toBe(
        'Charts over time by label appear when the run has ended.'
      )
      expect(await page.locator('#label-figures tbody tr').count()).toBe(5)
      service.send(whole)
      await until(page, `document.querySelectorAll('#label-time canvas').length === 6`)
      expect(await isOpen(page)).toBe(true)
      expect(await page.locator('#label-note').textContent()).toBe('')
      expect(complaints.filter((words) => !words.includes('favicon'))).toEqual([])
      await page.close()
      service.close()
    })
  })

  describe('a part of the run', () => {
    /** Whether the first chart of a box shows these seconds: its axis has times close to both ends and none beyond. */
    const shows = (box: string, from: number, to: number): string =>
      `(() => {
        const chart = document.querySelector('${box} canvas')
        const axis = (written.get(chart) ?? []).filter(({ align }) => align === 'center')
        const times = axis.map(({ text }) => text.split(':').reduce((sum, part) => sum * 60 + Number(part), 0))
        const [first, last] = [Math.min(...times), Math.max(...times)]
        return first >= ${from} && first <= ${from} + 5 && last <= ${to} && last >= ${to} - 5
      })()`

    test('is in the address once it is shown, and out of it with the whole run', async () => {
      const { page } = await openFile(detailed)
      await page.locator('#zoom-in').click()
      await until(page, `/^#t=[\\d.]+-[\\d.]+$/.test(location.hash)`)
      expect(await hashOf(page)).toBe('#t=15-45')
      await page.locator('#zoom-reset').click()
      await until(page, `location.hash === ''`)
      await page.locator('#time').scrollIntoViewIfNeeded()
      const { x, y, width } = (await page.locator('#time .u-over').first().boundingBox())!
      await page.mouse.move(x + width * 0.25, y + 30)
      await page.mouse.down()
      await page.mouse.move(x + width * 0.5, y + 30, { steps: 4 })
      await page.mouse.up()
      await until(page, `location.hash.startsWith('#t=')`)
      const [from, to] = (await hashOf(page)).slice(3).split('-').map(Number)
      expect(Math.abs(from! - 15)).toBeLessThan(1)
      expect(Math.abs(to! - 30)).toBeLessThan(1)
      // Zooming is no step to go back over.
      expect(await ask<number>(page, 'history.length')).toBeLessThanOrEqual(2)
      await page.close()
    })

    test('opens by its address, for the run and for a label, and follows a changed one', async () => {
      const { page } = await openFile(detailed, { hash: '#t=12-40', script: WRITTEN })
      await until(page, shows('#time', 12, 40))
      await page.locator('#label-table tbody a', { hasText: 'POST /checkout' }).click()
      await page.locator('#label-view').waitFor()
      expect(await hashOf(page)).toBe(`${CHECKOUT}&t=12-40`)
      await until(page, shows('#label-time', 12, 40))
      await page.locator('#label-zoom-reset').click()
      await until(page, `location.hash === '${CHECKOUT}'`)
      await until(page, shows('#time', 0, 60))
      await page.reload()
      await page.locator('#label-view').waitFor()
      await ask(page, `location.hash = '${CHECKOUT}&t=0-20'`)
      await until(page, shows('#label-time', 0, 20))
      await page.close()
    })

    test.each(['#t=5000-6000', '#t=40-12', '#t=x', '#label=%', '#'])(
      'that is not there is the whole run: %s',
      async (hash) => {
        const { page, complaints } = await openFile(detailed, { hash, script: WRITTEN })
        await until(page, shows('#time', 0, 60))
        expect(await isOpen(page)).toBe(false)
        expect(complaints).toEqual([])
        await page.close()
      }
    )
  })

  describe('what readers take with them', () => {
    const PNG = Buffer.from('89504e470d0a1a0a', 'hex')

    test('is a picture of each chart, from disk', async () => {
      const { page, complaints } = await openFile(makeComparedOutcome(SHORT_SHOP))
      const buttons = page.locator('figure .take').getByRole('button', { name: 'PNG' })
      expect(await buttons.count()).toBe(await page.locator('figure').count())
      for (let i = 0; i < (await buttons.count()); i++) {
        const { name, bytes } = await download(page, () => buttons.nth(i).click())
        expect(name).toMatch(/^loadgate-[a-z0-9-]+\.png$/)
        expect(bytes.subarray(0, 8)).toEqual(PNG)
        expect(bytes.length).toBeGreaterThan(2_000)
      }
      expect(complaints).toEqual([])
      await page.close()
    })

    test('is a picture with heading, legend and chart on the colour of the page, from a service', async () => {
      const service = await servePage(buildPageDocument(detailed))
      const { page, complaints } = await openAt(service.url + CHECKOUT, { colorScheme: 'dark' })
      await service.connected
      const { name, bytes } = await download(page, () =>
        page.locator('#label-time').getByRole('button', { name: 'PNG: download Response codes' }).click()
      )
      expect(name).toBe('loadgate-response-codes-post-checkout.png')
      const viewer = await newPage()
      const seen = await ask<{ corner: number[]; colours: number; width: number }>(
        viewer,
        `(async () => {
          const reply = await fetch('data:image/png;base64,${bytes.toString('base64')}')
          const picture = await createImageBitmap(await reply.blob())
          const canvas = new OffscreenCanvas(picture.width, picture.height).getContext('2d')
          canvas.drawImage(picture, 0, 0)
          const heading = canvas.getImageData(16, 16, 200, 44).data
          return {
            corner: [...canvas.getImageData(1, 1, 1, 1).data],
            colours: new Set(new Uint32Array(heading.buffer)).size,
            width: picture.width
          }
        })()`
      )
      expect(seen.corner).toEqual([22, 29, 38, 255])
      expect(seen.colours).toBeGreaterThan(10)
      expect(seen.width).toBeGreaterThan(1_000)
      await viewer.close()
      expect(complaints.filter((words) => !words.includes('favicon'))).toEqual([])
      await page.close()
      service.close()
    })

    test('is the values of a chart, in which no text is a formula', async () => {
      const details = makeDetails(detailed.measurements!)
      const { counts } = details.overall.codes[0]!
      const codes = [
        { code: '=HYPERLINK("https://evil.example")', counts },
        { code: '200', counts }
      ]
      const { page } = await openFile({
        ...detailed,
        details: { ...details, overall: { ...details.overall, codes } }
      })
      const { name, bytes } = await download(page, () =>
        page.getByRole('button', { name: 'CSV: download Response codes' }).click()
      )
      expect(name).toBe('loadgate-response-codes.csv')
      const lines = bytes.toString().split('\r\n')
      expect(lines[0]).toBe(`Seconds,Time,"'=HYPERLINK(""https://evil.example""), /s","200, /s"`)
      expect(lines[31]).toMatch(/^30,2026-03-01T10:00:30\.000Z,50,50$/)
      expect(lines).toHaveLength(details.overall.atMs.length + 2)
      const times = await download(page, () =>
        page.getByRole('button', { name: 'CSV: download Response time', exact: true }).click()
      )
      expect(times.bytes.toString()).toMatch(/^Seconds,Time,"p50, ms","p95, ms","p99, ms"\r\n0,2026-03-01T/)
      const bins = await download(page, () =>
        page.getByRole('button', { name: 'CSV: download Distribution of response times' }).click()
      )
      const shares = bins.bytes
        .toString()
        .split('\r\n')
        .slice(1, -1)
        .map((line) => Number(line.split(',')[2]))
      expect(shares.reduce((sum, share) => sum + share, 0)).toBeCloseTo(1, 3)
      await page.close()
    })

    test('is each table as Markdown, on the clipboard', async () => {
      const outcome = makeDetailedOutcome({ ...SHORT_SHOP, labels: ['GET /a|b', 'GET /c'] })
      const { page } = await openFile(outcome)
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
      await page.locator('#time-table summary').click()
      await until(page, `document.querySelectorAll('#time-table .copy').length === 1`)
      expect(await page.locator('main table').count()).toBe(
        await page.locator('main .copy').filter({ visible: true }).count()
      )
      await page.getByRole('button', { name: 'Copy as Markdown: Labels' }).click()
      await page
        .getByRole('button', { name: 'Copy as Markdown: Labels', exact: true })
        .filter({ hasText: 'Copied' })
        .waitFor()
      const text = await ask<string>(page, 'navigator.clipboard.readText()')
      const [headings, rule, first] = text.split('\n')
      expect(headings).toBe(
        '| Label | Samples | Errors | Rate | Mean | Median | p90 | p95 | p99 | Max | Apdex |'
      )
      expect(rule).toBe('| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |')
      expect(first).toMatch(/^\| GET \/a&#124;b \| [\d,]+ \| /)
      await page.getByRole('button', { name: 'Copy as Markdown: Errors' }).click()
      await until(page, `navigator.clipboard.readText().then((text) => text.startsWith('| Failed |'))`)
      expect(await ask<string>(page, 'navigator.clipboard.readText()')).not.toContain('first')
      await page.close()
    })

    test('is selected text where the clipboard is out of reach', async () => {
      const blocked = `Object.defineProperty(navigator, 'clipboard', { value: undefined })`
      const { page, complaints } = await openFile(detailed, { hash: CHECKOUT, script: blocked })
      const button = page.locator('#label-errors').getByRole('button', { name: 'Copy as Markdown: Errors' })
      await button.press('Enter')
      await until(page, `getSelection().toString() !== '' || document.activeElement.tagName === 'TEXTAREA'`)
      const selected = `(({ value, selectionStart, selectionEnd }) => value.slice(selectionStart, selectionEnd))(document.activeElement)`
      expect(await ask<string>(page, selected)).toMatch(/^\| Failed \| Share \| Code \| Message \|\n/)
      // Escape closes the text alone.
      await page.keyboard.press('Escape')
      expect(await page.locator('textarea').count()).toBe(0)
      expect(await isOpen(page)).toBe(true)
      expect(await focused(page)).toBe('Copy as Markdown')
      expect(complaints).toEqual([])
      await page.close()
    })
  })

  test('says it in plain words', async () => {
    const { page } = await openFile(detailed, { hash: CHECKOUT })
    const words = await ask<string>(
      page,
      `document.querySelector('main').textContent + document.querySelector('#label-view').textContent`
    )
    for (const odd of [
      'Moment',
      'Fast → slow',
      'The same as a table',
      'everything',
      'In words',
      'all up to there'
    ])
      expect(words).not.toContain(odd)
    for (const plain of ['Show as a table', 'Distribution', 'Explanation']) expect(words).toContain(plain)
    expect(await page.locator('#label-view').getByRole('slider', { name: 'Time' }).count()).toBe(1)
    await page.close()
  })

  test('has a bounded size and few elements with 10,000 labels and all details, and opens one of them', async () => {
    const labels = Array.from({ length: 10_000 }, (_, i) => `GET /products/${i}`)
    const load = { ...SHOP_LOAD, labels, seconds: 601, samplesASecond: 20 }
    const measurements = measureLoad(load)
    const url = await writePage(makePageOutcome(load, { measurements, details: makeDetails(measurements) }))
    expect((await stat(new URL(url))).size).toBeLessThan(600_000)
    const { page } = await openAt(url)
    expect(await page.locator('#label-table tbody tr').count()).toBe(100)
    expect(await page.locator('#label-count').textContent()).toMatch(
      /^1,\d\d\d labels, the first 100 shown; 8,\d\d\d with fewer samples are in verdict\.json alone\./
    )
    const countElements = (): Promise<number> => ask(page, `document.querySelectorAll('*').length`)
    const before = await countElements()
    expect(before).toBeLessThan(4_000)
    await page.locator('#label-table tbody tr').last().locator('a').click()
    await until(page, `document.querySelector('#label-view').open`)
    expect((await countElements()) - before).toBeLessThan(1_000)
    await page.close()
  }, 120_000)
})
