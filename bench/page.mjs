// How soon a browser has opened report.html, and a label in it: a run of 500 labels, and one of 10,000 with all details. Needs Chromium
// (LOADGATE_CHROMIUM, or where Debian puts it).
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { chromium } from 'playwright-core'
import { reportFigure } from './figure.mjs'
import { renderPage } from '../src/report/page/page.ts'
import { makeDetails } from '../__tests__/support/data/page-details.ts'
import { makePageOutcome, measureLoad, SHOP_LOAD } from '../__tests__/support/data/page-outcome.ts'

const ROUNDS = 5
const GOAL_MS = 1000
const GOAL_KB = 600
const PLACES = [process.env.LOADGATE_CHROMIUM, '/usr/bin/chromium', '/usr/bin/google-chrome']

const folder = mkdtempSync(join(tmpdir(), 'loadgate-bench-'))
const browser = await chromium.launch({
  executablePath: PLACES.find((path) => path !== undefined && existsSync(path)),
  args: ['--no-sandbox', '--disable-gpu', '--disable-background-networking']
})
try {
  console.log('| page | size | opened | a label opened |\n| --- | ---: | ---: | ---: |')
  const pages = [await measurePage(500, 10, false), await measurePage(10_000, 20, true)]
  for (const { count, openedMs, kilobytes } of pages) {
    reportFigure({ name: `page of ${count} labels opened`, value: openedMs, unit: 'ms', atMost: GOAL_MS })
    reportFigure({ name: `page of ${count} labels`, value: kilobytes, unit: 'kB', atMost: GOAL_KB })
  }
} finally {
  await browser.close()
  rmSync(folder, { recursive: true, force: true })
}

async function measurePage(count, samplesASecond, hasDetails) {
  const labels = Array.from({ length: count }, (_, i) => `GET /products/${i}`)
  const load = { ...SHOP_LOAD, labels, seconds: 600, samplesASecond }
  const measurements = measureLoad(load)
  const details = hasDetails ? { details: makeDetails(measurements) } : {}
  const html = renderPage(makePageOutcome(load, { measurements, ...details }))
  const file = join(folder, `${count}.html`)
  writeFileSync(file, html)
  const opened = []
  const labelled = []
  for (let round = 0; round < ROUNDS; round++) {
    const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
    await page.goto(pathToFileURL(file).href)
    opened.push(await page.evaluate(`performance.getEntriesByType('navigation')[0].loadEventEnd`))
    labelled.push(
      await page.evaluate(
        `new Promise((resolve) => {
          const start = performance.now()
          addEventListener('hashchange', () => resolve(performance.now() - start))
          document.querySelector('#label-table tbody tr:last-child a').click()
        })`
      )
    )
    await page.close()
  }
  const [best, label] = [Math.min(...opened), Math.min(...labelled)]
  const name = `${count.toLocaleString('en-US')} labels${hasDetails ? ', all details' : ''}`
  const kilobytes = html.length / 1000
  console.log(`| ${name} | ${kilobytes.toFixed(0)} kB | ${best.toFixed(0)} ms | ${label.toFixed(0)} ms |`)
  return { count, openedMs: best, kilobytes }
}
