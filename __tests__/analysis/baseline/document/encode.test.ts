import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { gunzipSync } from 'node:zlib'
import type { RecordedRun, RecordedScope } from '../../../../src/contract/baseline.js'
import {
  withoutHistogram,
  decodeBaseline,
  encodeBaseline,
  addRun
} from '../../../../src/analysis/baseline/document/baseline-document.js'
import { makeDocument, makeRun, makeRuns, makeScope } from '../../../support/baseline/make-recorded.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const MOST_BYTES = 1024 * 1024
const isValid = new Ajv2020().compile(
  JSON.parse(readFileSync('schema/baseline.schema.json', 'utf8')) as object
)

/** Figures that do not repeat, so that nothing compresses well. */
function makeNoise(random: () => number): RecordedScope {
  const times = Array.from({ length: 6 }, () => Math.floor(random() * 60_000)).sort((a, b) => a - b)
  const valuesMs = [...new Set(times)]
  const counts = valuesMs.map(() => 1 + Math.floor(random() * 1000))
  return makeScope({
    samples: counts.reduce((sum, count) => sum + count, 0),
    failures: 0,
    meanMs: Math.floor(random() * 1e6) / 100,
    throughput: Math.floor(random() * 1e6) / 1000,
    percentilesMs: Object.fromEntries(
      ['50', '75', '90', '95', '99', '99.9'].map((name, i) => [name, times[i]!])
    ),
    histogram: { valuesMs, counts }
  })
}

/** Does not compress. */
function makeLongName(i: number): string {
  return [1, 2, 3, 4].map((part) => createHash('sha512').update(`${part} ${i}`).digest('hex')).join('')
}

function makeLarge(labels: number, nameOf: (i: number) => string, seed = 1): RecordedRun {
  const random = makeRandom(seed)
  return makeRun({
    scopes: [
      makeNoise(random),
      { region: 'local', ...makeNoise(random) },
      ...Array.from({ length: labels }, (_, i) => ({
        label: nameOf(i),
        ...(i % 1000 === 7 && { named: true as const }),
        ...(i < 200 ? makeNoise(random) : withoutHistogram(makeNoise(random)))
      }))
    ]
  })
}

describe('a document', () => {
  test('is the same after writing and reading, and is as its schema says', () => {
    const scopes = [
      makeScope({ samples: 3, failures: 1, histogram: { valuesMs: [1, 2], counts: [1, 2], failed: [0, 1] } }),
      makeScope({ region: 'eu-west-1', meanMs: null, apdex: null, throughput: null, percentilesMs: {} }),
      makeScope({ label: 'pay "now" 🛒\u0000\ud800', named: true })
    ]
    const document = makeDocument([
      makeRun({ scopes }),
      makeRun({ runId: 'run2', unusable: 'it was a rehearsal', apdex: null, scopes: [] })
    ])
    const bytes = encodeBaseline(document)
    expect(decodeBaseline(bytes)).toEqual(document)
    expect(isValid(JSON.parse(gunzipSync(bytes).toString())) || isValid.errors).toBe(true)
  })

  test('keeps labels and parts that are special names in objects', () => {
    const names = ['__proto__', 'constructor', 'toString', '']
    const fingerprint = Object.fromEntries(names.map((name) => [name, 'x']))
    const document = makeDocument([
      makeRun({ fingerprint, scopes: names.map((label) => makeScope({ label })) })
    ])
    const read = decodeBaseline(encodeBaseline(document))
    expect(Object.entries(read.runs[0]!.fingerprint)).toEqual(Object.entries(fingerprint))
    expect(read.runs[0]!.scopes.map(({ label }) => label)).toEqual(names)
    expect(({} as Record<string, unknown>).x).toBeUndefined()
  })
})

describe('a document that is too large', () => {
  test.each<[string, number, (i: number) => string]>([
    ['with 10,000 labels', 10_000, (i) => `label ${i}`],
    ['with long labels', 1100, (i) => makeLongName(i).padEnd(2000, '-')],
    ['with labels in unicode', 2100, (i) => `${'支付🛒'.repeat(100)}${i}`]
  ])('%s gets below 1 MiB, run after run, and keeps the labels that thresholds name', (_, labels, nameOf) => {
    let document = makeDocument([])
    for (let i = 0; i < 2; i++) {
      const run = { ...makeLarge(labels, nameOf, i), runId: `run${i}`, atMs: i }
      const bytes = encodeBaseline(addRun(document, run, 'main'))
      expect(bytes.length).toBeLessThan(MOST_BYTES)
      document = decodeBaseline(bytes)
    }
    expect(document.runs).toHaveLength(2)
    const named = Array.from({ length: labels }, (_, i) => i).filter((i) => i % 1000 === 7)
    for (const { scopes } of document.runs) {
      expect(scopes.filter((scope) => scope.named).map(({ label }) => label)).toEqual(named.map(nameOf))
      expect(scopes[0]!.histogram).toBeDefined()
    }
  })

  test('drops histograms before labels, and labels with the fewest samples first, the same in all runs', () => {
    const runs = [0, 1].map((i) => ({ ...makeLarge(3000, makeLongName, i), runId: `run${i}`, atMs: i }))
    const read = decodeBaseline(encodeBaseline(makeDocument(runs)))
    const [first, second] = read.runs.map(({ scopes }) => scopes.map(({ label }) => label))
    expect(first).toEqual(second)
    expect(first!.length).toBeLessThan(3000)
    const unnamed = read.runs.flatMap(({ scopes }) =>
      scopes.filter((one) => one.label !== undefined && !one.named)
    )
    expect(unnamed.filter(({ histogram }) => histogram !== undefined)).toEqual([])
    const total = (label: string | undefined) =>
      runs
        .flatMap(({ scopes }) => scopes)
        .filter((one) => one.label === label)
        .reduce((sum, { samples }) => sum + samples, 0)
    const dropped = runs[0]!.scopes.map(({ label }) => label).filter((label) => !first!.includes(label))
    const most = Math.max(...dropped.slice(0, 50).map(total))
    const least = Math.min(...unnamed.slice(0, 50).map(({ label }) => total(label)))
    expect(most).toBeLessThanOrEqual(least)
  })

  test('drops the oldest runs if nothing else is left', () => {
    const random = makeRandom(3)
    const noise = () =>
      Array.from({ length: 280 }, () => String.fromCharCode(0x4e00 + random() * 20_000)).join('')
    const runs = makeRuns(30, () => ({
      fingerprint: Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`parameter ${i}`, noise()]))
    }))
    const read = decodeBaseline(encodeBaseline(makeDocument(runs)))
    expect(read.runs.length).toBeGreaterThan(5)
    expect(read.runs).toEqual(runs.slice(-read.runs.length))
  })
})
