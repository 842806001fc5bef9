import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { isDeepStrictEqual } from 'node:util'
import { Worker } from 'node:worker_threads'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { planStretches, scanFiles } from '../../../../src/analysis/results/parallel/scan-files.js'
import { joinScans, scanStretch } from '../../../../src/analysis/results/parallel/scan-stretch.js'
import { compileWorker } from '../../../support/data/compile-worker.js'
import { makeSampleCsv, scanText, snapshot } from '../../../support/data/sample-csv.js'
import { slice } from '../../../support/slice.js'

let folder: string
let workerUrl: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-scan-'))
  workerUrl = compileWorker(folder)
})

afterAll(() => rmSync(folder, { recursive: true }))

function put(name: string, text: string | Uint8Array, grid = 'g', region = 'r') {
  const path = join(folder, name)
  writeFileSync(path, text)
  return { path, grid, region }
}

/** Rows whose message contains lines that look like rows themselves, so that guesses are wrong. */
function makeTrickyCsv(rows: number): string {
  const fake = '1700000000000,99999,trap,true,\n'.repeat(40)
  const lines = Array.from({ length: rows }, (_, i) => `${1_700_000_000_000 + i},${i},a,false,"${fake}"\n`)
  return `timeStamp,elapsed,label,success,failureMessage\n${lines.join('')}`
}

describe('stretches', () => {
  test.each([
    ['quotes', makeSampleCsv(31, 6)],
    ['CRLF and a byte-order mark', makeSampleCsv(32, 4, { lineBreak: '\r\n', bom: true })],
    [
      'a quote never closed',
      'timeStamp,elapsed,label,success\n1,2,a,true\n1,2,"b,true\n1,2,c,true\n1,2,d,true\n'
    ],
    ['problems', 'timeStamp,elapsed,label,success\n1,2,a,true\n1,x,a,true\n\n1,2\n1,3,b,true\n1,y,a,true\n']
  ])('divided at any byte add up to the whole: %s', async (_, text) => {
    const file = put('divided.csv', text)
    const whole = snapshot(mergeScans([scanText(text)]))
    const header = new TextEncoder().encode(text.replace(/^\uFEFF/, '').split(/\r?\n/)[0])
    const size = Buffer.byteLength(text)
    const wrongAt: number[] = []
    for (let at = 1; at <= size; at += size < 200 ? 1 : slice(11, 1)) {
      const first = await scanStretch({ ...file, from: 0, to: at })
      const second = await scanStretch({ ...file, from: first.next, to: Infinity, header })
      expect(first.next).toBeGreaterThanOrEqual(at)
      // Jest's own comparison takes longer than all the rest.
      const isSame = isDeepStrictEqual(
        snapshot(mergeScans([joinScans([first.result, second.result])])),
        whole
      )
      if (!isSame) wrongAt.push(at)
    }
    expect(wrongAt).toEqual([])
  })

  test('begin at the row after the middle where nothing is quoted', () => {
    const rows = Array.from({ length: 1000 }, (_, i) => `${1000 + i},1,a,true\n`)
    const [, second] = planStretches(put('plain.csv', `timeStamp,elapsed,label,success\n${rows.join('')}`), 2)
    expect(second).toMatchObject({ to: Infinity })
    expect((second!.from - 32) % rows[0]!.length).toBe(0)
  })
})

describe('threads', () => {
  test.each([1, 2, 3, 4])('%i of them find what one pass finds', async (threads) => {
    const texts = [
      makeSampleCsv(41, 3000),
      makeSampleCsv(42, 10),
      makeSampleCsv(43, 2000, { lineBreak: '\r\n' })
    ]
    const files = texts.map((text, i) => put(`many-${i}.csv`, text, `g${i}`, `r${i % 2}`))
    const whole = mergeScans(texts.map((text, i) => scanText(text, Infinity, `g${i}`, `r${i % 2}`)))
    expect(snapshot(await scanFiles(files, { threads, workerUrl }))).toEqual(snapshot(whole))
  })

  test('guess a start within quotes, notice it, and read that stretch again', async () => {
    const text = makeTrickyCsv(300)
    const file = put('tricky.csv', text)
    const [, second] = planStretches(file, 2)
    expect(text.slice(second!.from)).toMatch(/^1700000000000,99999,trap/)
    const measured = await scanFiles([file], { threads: 2, workerUrl })
    expect(measured.labels).toEqual(['a'])
    expect(snapshot(measured)).toEqual(snapshot(mergeScans([scanText(text)])))
  })

  test('have their own kernel', async () => {
    const rows = Array.from({ length: 20_000 }, (_, i) => `${1000 + i},${i % 50},a,true\n`)
    const text = `timeStamp,elapsed,label,success\n${rows.join('')}`
    const stretch = { ...put('large.csv', text), from: 0, to: Infinity }
    const worker = new Worker(workerUrl)
    try {
      worker.postMessage(stretch)
      const [scan] = (await once(worker, 'message')) as [unknown]
      expect(scan).toEqual(await scanStretch(stretch))
    } finally {
      await worker.terminate()
    }
  })

  test('leave out what starts too early, each in its own stretch', async () => {
    const text = makeSampleCsv(45, 3000)
    const { startMs = 0, endMs = 0 } = mergeScans([scanText(text)])
    const file = { ...put('warm.csv', text), countFromMs: startMs + (endMs - startMs) * 0.6 }
    const [one, two] = [
      await scanFiles([file], { threads: 1, workerUrl }),
      await scanFiles([file], { threads: 2, workerUrl })
    ]
    expect(one.startMs).toBeGreaterThanOrEqual(file.countFromMs)
    expect(snapshot(two)).toEqual(snapshot(one))
  })

  test('see a transaction that starts too early, and read the file in one go', async () => {
    const header = 'timeStamp,elapsed,label,responseMessage,success\n'
    // Without thread names: a transaction counts only if no request has a row.
    const rows = Array.from({ length: 10_000 }, (_, i) => `${i < 9000 ? 1000 : 9000},5,a,OK,true\n`)
    rows.splice(
      8900,
      0,
      '1000,5,buy,"Number of samples in transaction : 1, number of failing samples : 0",true\n'
    )
    const file = { ...put('early-transaction.csv', header + rows.join('')), countFromMs: 5000 }
    expect(planStretches(file, 2)).toHaveLength(2)
    const [one, two] = [
      await scanFiles([file], { threads: 1, workerUrl }),
      await scanFiles([file], { threads: 2, workerUrl })
    ]
    expect(one.figures({})?.samples).toBe(1000)
    expect(one.sources[0]?.problems[0]).toContain('transactions and of requests')
    expect(snapshot(two)).toEqual(snapshot(one))
  })

  test('that cannot be started are not needed', async () => {
    const text = makeSampleCsv(44, 3000)
    const broken = pathToFileURL(put('broken.js', 'throw new Error("no")').path)
    const measured = await scanFiles([put('alone.csv', text)], { threads: 2, workerUrl: broken })
    expect(snapshot(measured)).toEqual(snapshot(mergeScans([scanText(text)])))
  })

  test('are not needed where their code is not found, nor for tidy CSVs', async () => {
    const tidy = 'Time,Measurement,Label,Value\n0,passed,a,1\n0,failed,a,0\n'
    const files = [put('tidy.csv', tidy), put('empty.csv', '')]
    expect((await scanFiles(files)).sources).toMatchObject([
      { shape: 'tidy', problems: [] },
      { problems: ['it is empty'] }
    ])
    expect(planStretches(files[0]!, 2)).toHaveLength(1)
  })

  test('a missing file is an error', async () => {
    const files = [{ path: join(folder, 'nowhere.csv'), grid: 'g', region: 'r' }]
    await expect(scanFiles(files)).rejects.toThrow(/nowhere\.csv/)
  })
})
