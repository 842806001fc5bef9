import { expect, test } from '@jest/globals'
import { readFile } from 'node:fs/promises'
import type { Outcome } from '../../src/analysis/outcome.js'
import { describeInBrowser } from '../support/chromium.js'
import { detailsOf } from '../support/data/details-of.js'
import { makeOutcome } from '../support/data/make-outcome.js'
import { measure } from '../support/data/sample-csv.js'
import { usePages } from '../support/report-pages.js'

/** A whole number of buckets of 16 s, and of all narrower ones. */
const START_MS = 1_760_000_000_000 - (1_760_000_000_000 % 16_000)
const HEADER = 'timeStamp,elapsed,label,responseCode,success,bytes,Latency,Connect'

/** The upright lines that the page draws, one pixel wide, by their place. */
const COUNT_LINES = `globalThis.upright = new Set()
const { fillRect } = CanvasRenderingContext2D.prototype
CanvasRenderingContext2D.prototype.fillRect = function (x, y, width, height) {
  if (width === devicePixelRatio && height > 50) upright.add(x)
  return fillRect.call(this, x, y, width, height)
}`

describeInBrowser('the times of the charts', () => {
  const { openFile } = usePages()

  /** The rows of the CSV files of these charts. */
  async function download(outcome: Outcome, charts: readonly string[], script = '') {
    const { page } = await openFile(outcome, { script })
    const files = []
    for (const chart of charts) {
      const button = page.locator('#time').getByRole('button', { name: `CSV: download ${chart}` })
      const [file] = await Promise.all([page.waitForEvent('download'), button.click()])
      files.push((await readFile(await file.path(), 'utf8')).trim().split('\r\n'))
    }
    return { page, files }
  }

  test('where a bucket is as wide as several of the details, all of them are in it', async () => {
    const rows = Array.from({ length: 700 }, (_, second) => {
      // The second half of a bucket of the charts.
      const isBad = second === 401
      const row = `${START_MS + second * 1000},${isBad ? 41 : 21},home,${isBad ? '500,false,9000' : '200,true,100'},${isBad ? 41 : 21},1`
      return isBad ? [row, row, row] : [row]
    })
    const csv = [HEADER, ...rows.flat(), ''].join('\n')
    const { details, measurements } = await detailsOf([[csv]], { warmUpMs: 150_000 })
    const whole = measure(csv)
    expect([whole.series!.bucketMs, details.overall.bucketMs]).toEqual([2000, 1000])
    const warmUp = { ms: 150_000, startMs: START_MS, samples: 150, failures: 0, whole }
    const outcome = makeOutcome({ measurements, details, warmUp })
    const { page, files } = await download(outcome, ['Response codes', 'Where the time goes', 'Data'])
    const at = files.map((file) =>
      file
        .find((row) => row.startsWith('400,'))!
        .split(',')
        .slice(2, 5)
    )
    expect(at).toEqual([
      ['0.5', '1.5', ''],
      // Of four samples: 20, 40, 40 and 40 ms.
      ['1', '35', '0'],
      ['13550', '']
    ])
    await page.close()
  })

  test('are those of the samples in a long run, whose buckets are wide', async () => {
    const firstMs = START_MS + 15_000
    const rows = Array.from({ length: 7200 }, (_, second) => {
      const isBad = second >= 2 && second < 9
      return `${firstMs + second * 1000},20,home,${isBad ? '500,false' : '200,true'},100,10,1`
    })
    const { details, measurements } = await detailsOf([[[HEADER, ...rows, ''].join('\n')]])
    const { page, files } = await download(makeOutcome({ measurements, details }), ['Failures'])
    const failed = files[0]!.slice(1).filter((row) => !row.endsWith(',0'))
    expect(failed).toEqual([`16,${new Date(START_MS + 16_000).toISOString()},7`])
    const sample = `at 0:17 · ${new Date(firstMs + 2000).toISOString().slice(0, 19).replace('T', ' ')} UTC`
    expect(await page.locator('#errors .samples li').first().textContent()).toContain(sample)
    await page.close()
  })

  test('are no times of day where segments are laid end to end, and each seam is marked', async () => {
    const segments = [0, 60, 120].map((fromSecond) => {
      const rows = Array.from(
        { length: 50 },
        (_, i) => `${START_MS + fromSecond * 1000 + i * 100},20,home,200,true,100,10,1`
      )
      return [[HEADER, ...rows, ''].join('\n')]
    })
    const { details, measurements } = await detailsOf(segments)
    const outcome = makeOutcome({ measurements, details })
    const { page, files } = await download(outcome, ['Throughput'], COUNT_LINES)
    expect(files[0]!.slice(0, 2)).toEqual(['Seconds,"Throughput, /s"', '0,10'])
    await page.locator('#moment').fill('7')
    expect(await page.locator('#moment-words').textContent()).toBe('0:07')
    expect(await page.locator('#time .note').textContent()).toMatch(
      /^The charts show the 3 segments of this run/
    )
    expect(await page.evaluate<number>('upright.size')).toBe(2)
    await page.close()
  })
})
