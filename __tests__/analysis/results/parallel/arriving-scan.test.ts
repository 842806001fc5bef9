import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { ArrivingScan } from '../../../../src/analysis/results/parallel/arriving-scan.js'
import { compileWorker } from '../../../support/data/compile-worker.js'
import { makeSampleCsv, scanText, snapshot } from '../../../support/data/sample-csv.js'
import { makeRandom } from '../../../support/data/seeded-random.js'
import { slice } from '../../../support/slice.js'

let folder: string
let workerUrl: URL

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-arriving-'))
  workerUrl = compileWorker(folder)
})

afterAll(() => rmSync(folder, { recursive: true }))

/** Writes the file as a download does: what was pushed before is in the file. */
async function arrive(text: string, { seed = 1, worker = workerUrl } = {}) {
  const [part, path] = [join(folder, 'arriving.csv.part'), join(folder, 'arriving.csv')]
  writeFileSync(part, '')
  const bytes = Buffer.from(text)
  const random = makeRandom(seed)
  const threadFromBytes = Math.floor(random() * bytes.length * 1.2)
  const scan = new ArrivingScan(
    { path: part, grid: 'g', region: 'r' },
    { threadFromBytes, workerUrl: worker }
  )
  for (let at = 0; at < bytes.length;) {
    const chunk = bytes.subarray(at, at + 1 + Math.floor(random() * 3000))
    scan.push(chunk)
    appendFileSync(part, chunk)
    at += chunk.length
    if (random() < 0.1) await new Promise(setImmediate)
  }
  renameSync(part, path)
  return mergeScans([await scan.end(path)])
}

const HEADER = 'timeStamp,elapsed,label,responseMessage,success\n'
const TRANSACTION = '1000,5,buy,"Number of samples in transaction : 1, number of failing samples : 0",true\n'
const PLAIN = Array.from({ length: 2000 }, (_, i) => `${1000 + i},5,a,OK,true\n`)

describe('a CSV that is read while it is being written', () => {
  test.each(Array.from({ length: slice(6, 40) }, (_, i) => i + 1))(
    'gives the figures of one pass, seed %i',
    async (seed) => {
      const text = makeSampleCsv(
        seed,
        300 + 20 * seed,
        seed % 3 === 0 ? { lineBreak: '\r\n', bom: true } : {}
      )
      const end = seed % 4 === 0 ? '1700000000000,5' : ''
      const cut = seed % 5 === 0 ? text.trimEnd() : text + end
      expect(snapshot(await arrive(cut, { seed }))).toEqual(snapshot(mergeScans([scanText(cut)])))
    }
  )

  test.each([
    ['near its beginning', [TRANSACTION, ...PLAIN]],
    ['near its end', [...PLAIN, TRANSACTION]]
  ])('is read in one go if there is a transaction %s', async (_, rows) => {
    const text = HEADER + rows.join('')
    for (const seed of [1, 2, 3]) {
      const found = await arrive(text, { seed })
      expect(snapshot(found)).toEqual(snapshot(mergeScans([scanText(text)])))
    }
  })

  test.each([
    ['empty', ''],
    ['tidy', 'Time,Measurement,Label,Value\n0,passed,a,1\n0,failed,a,0\n'.repeat(2)],
    ['no CSV', '<html>'.repeat(1000)],
    ['a quote that is never closed', `${HEADER}1,2,"a,OK,true\n${PLAIN.join('')}`]
  ])('says what one pass says: %s', async (_, text) => {
    for (const seed of [1, 2, 3])
      expect(snapshot(await arrive(text, { seed }))).toEqual(snapshot(mergeScans([scanText(text)])))
  })

  test('is read here if the thread cannot be started', async () => {
    const broken = join(folder, 'broken.js')
    writeFileSync(broken, 'throw new Error("no")')
    const text = makeSampleCsv(3, 500)
    const found = await arrive(text, { worker: pathToFileURL(broken) })
    expect(snapshot(found)).toEqual(snapshot(mergeScans([scanText(text)])))
  })

  test('is read again if the thread finds less in the file than was announced', async () => {
    const [part, path] = [join(folder, 'less.csv.part'), join(folder, 'less.csv')]
    const text = HEADER + PLAIN.join('')
    writeFileSync(part, '')
    writeFileSync(path, text)
    const scan = new ArrivingScan({ path: part, grid: 'g', region: 'r' }, { threadFromBytes: 1, workerUrl })
    for (let at = 0; at < text.length; at += 1000) scan.push(Buffer.from(text.slice(at, at + 1000)))
    expect(snapshot(mergeScans([await scan.end(path)]))).toEqual(snapshot(mergeScans([scanText(text)])))
  })

  test('needs no more threads than there are spare processors', async () => {
    const scans = Array.from({ length: availableParallelism() + 1 }, (_, i) => {
      const path = join(folder, `many-${i}.csv`)
      writeFileSync(path, HEADER + PLAIN.join(''))
      const scan = new ArrivingScan({ path, grid: 'g', region: 'r' }, { threadFromBytes: 1, workerUrl })
      scan.push(Buffer.from(HEADER + PLAIN.join('')))
      return { scan, path }
    })
    expect(scans.filter(({ scan }) => scan.hasThread)).toHaveLength(availableParallelism() - 1)
    for (const { scan, path } of scans) {
      const found = mergeScans([await scan.end(path)])
      expect(found.figures({})?.samples).toBe(PLAIN.length)
      expect(scan.hasThread).toBe(false)
    }
  })

  test('leaves no thread behind when it is given up', async () => {
    const path = join(folder, 'given-up.csv')
    writeFileSync(path, HEADER + PLAIN.join(''))
    const scan = new ArrivingScan({ path, grid: 'g', region: 'r' }, { threadFromBytes: 1, workerUrl })
    scan.push(Buffer.from(HEADER + PLAIN.join('')))
    expect(scan.hasThread).toBe(true)
    await scan.close()
    expect(scan.hasThread).toBe(false)
  })
})
