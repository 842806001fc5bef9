import { describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { readFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import {
  BaselineDocumentError,
  decodeBaseline,
  encodeBaseline
} from '../../../../src/analysis/baseline/document/baseline-document.js'
import { MOST_RECORDED } from '../../../../src/analysis/results/stalls/over-time.js'
import { makeDocument, makeRun, makeRuns, makeScope } from '../../../support/baseline/make-recorded.js'
import { mutateBytes } from '../../../support/data/mutate-bytes.js'
import { makeRandom } from '../../../support/data/seeded-random.js'

const SCHEMA = JSON.parse(readFileSync('schema/baseline.schema.json', 'utf8')) as object
const isValid = new Ajv2020().compile(SCHEMA)

function messageFor(bytes: Uint8Array): string {
  try {
    decodeBaseline(bytes)
    return 'accepted'
  } catch (thrown) {
    expect(thrown).toBeInstanceOf(BaselineDocumentError)
    return (thrown as Error).message
  }
}

/** What is said of a document that anybody wrote. */
function judge(document: unknown): string {
  return messageFor(gzipSync(typeof document === 'string' ? document : JSON.stringify(document)))
}

const HISTOGRAM = { valuesMs: [1, 2, 5], counts: [500, 400, 100], failed: [0, 0, 10] }
const withScope = (changes: object): object =>
  makeDocument([makeRun({ scopes: [{ ...makeScope({ histogram: HISTOGRAM }), ...changes }] })])
const withRun = (changes: object): object => makeDocument([{ ...makeRun(), ...changes }])
const withHistogram = (changes: object): object => withScope({ histogram: { ...HISTOGRAM, ...changes } })

describe('a document that cannot be read', () => {
  test.each<[string, Uint8Array, RegExp]>([
    ['too large', new Uint8Array(1024 * 1024 + 1), /^The baseline document is too large: 1,048,577 bytes, /],
    ['a bomb', gzipSync(Buffer.alloc(40 * 1024 * 1024, ' ')), /too large: decompressed .* 16,777,216 bytes/],
    ['not gzip', Buffer.from('{"schema":1}'), /is not a complete gzip file \("incorrect header check"\)/],
    ['cut', encodeBaseline(makeDocument()).subarray(0, 60), /is not a complete gzip file/],
    ['empty', new Uint8Array(0), /is not a complete gzip file/],
    ['not JSON', gzipSync('{"schema":1,'), /is not JSON/],
    ['a deep nest', gzipSync('['.repeat(5_000_000)), /is not JSON/],
    ['a million objects', gzipSync(`[${'{},'.repeat(1_100_000)}{}]`), /damaged or was changed/]
  ])('because it is %s', (_, bytes, words) => {
    expect(messageFor(bytes)).toMatch(words)
    expect(messageFor(bytes)).toContain('Remove it, and the next run on the branch records a new one.')
  })

  test.each<[string, unknown, string]>([
    ['newer', { schema: 2 }, 'has schema 2, and this version reads schema 1. Use the version that wrote it'],
    ['older', { schema: 0 }, 'has schema 0, and this version reads schema 1. Remove it'],
    ['without a number', { runs: [] }, 'has schema none']
  ])('because its schema is %s', (_, document, words) => {
    expect(judge(document)).toContain(words)
  })
})

test('brackets in labels do not count as nesting', () => {
  expect(judge(withScope({ label: '[{"\\[{'.repeat(99) }))).toBe('accepted')
})

test('as many stalls as are recorded are read again', () => {
  const stallsMs = Array<number>(MOST_RECORDED).fill(1)
  expect(judge(withScope({ overTime: { spanMs: MOST_RECORDED, stallsMs } }))).toBe('accepted')
  expect(judge(withScope({ overTime: { spanMs: 1e6, stallsMs: [...stallsMs, 1] } }))).toContain('more than')
})

describe('a document that was changed', () => {
  test.each<[string, unknown, string]>([
    ['null', 'null', 'the document is not an object'],
    ['no branch', { ...makeDocument(), branch: '' }, 'branch is empty'],
    ['a long branch', { ...makeDocument(), branch: 'x'.repeat(301) }, 'branch is longer than 300 characters'],
    ['51 runs', makeDocument(makeRuns(51)), 'runs has more than 50 entries'],
    ['runs that are no list', { ...makeDocument(), runs: {} }, 'runs is not a list'],
    ['a run twice', makeDocument([makeRun(), makeRun()]), 'runs lists a run twice'],
    ['runs in disorder', makeDocument(makeRuns(3).reverse()), 'runs[1].atMs is before the run'],
    ['a commit with a command', withRun({ commit: '::error' }), 'runs[0].commit is not the id of a commit'],
    ['no id', withRun({ runId: '' }), 'runs[0].runId is empty'],
    ['an id with a path', withRun({ runId: '../1' }), 'runs[0].runId is not the id of a run'],
    ['an id with a command', withRun({ runId: 'a\n::error::x' }), 'runs[0].runId is not the id of a run'],
    ['a time that is no date', withRun({ atMs: 1e16 }), 'runs[0].atMs is impossible'],
    ['a reason that is a number', withRun({ unusable: 1 }), 'runs[0].unusable is not a text'],
    ['no reason and no null', withRun({ unusable: undefined }), 'runs[0].unusable is not a text'],
    ['a long reason', withRun({ unusable: 'x'.repeat(501) }), 'unusable is longer than 500'],
    ['a fingerprint with a number', withRun({ fingerprint: { plan: 1 } }), 'fingerprint is not a text'],
    ['a fingerprint that is a list', withRun({ fingerprint: ['plan'] }), 'fingerprint is not an object'],
    ['an Apdex above 1', withRun({ apdex: { score: 1.01, targetMs: 5 } }), 'apdex.score is impossible'],
    ['an Apdex without a target', withRun({ apdex: { score: 1 } }), 'apdex.targetMs is not a number'],
    ['a scope twice', withRun({ scopes: [makeScope(), makeScope()] }), 'scopes lists a scope twice'],
    ['too many scopes', withRun({ scopes: Array(20_001).fill(0) }), 'has more than 20000 entries'],
    ['a label that is a list', withScope({ label: [] }), 'scopes[0].label is not a text'],
    ['a long label', withScope({ label: 'x'.repeat(2001) }), 'label is longer than 2000 characters'],
    ['negative samples', withScope({ samples: -1 }), 'samples is impossible'],
    ['more failures than samples', withScope({ failures: 1001 }), 'failures is more than the samples'],
    ['a text as mean', withScope({ meanMs: '120' }), 'meanMs is not a number'],
    ['a scope with an Apdex above 1', withScope({ apdex: 2 }), 'scopes[0].apdex is impossible'],
    ['a negative throughput', withScope({ throughput: -0.1 }), 'throughput is impossible'],
    [
      'percentiles in disorder',
      withScope({ percentilesMs: { 50: 9, 95: 8 } }),
      'percentilesMs is not in asc'
    ],
    ['a percentile that is null', withScope({ percentilesMs: { 50: null } }), 'is not a number'],
    [
      'a histogram in disorder',
      withHistogram({ valuesMs: [1, 1, 5] }),
      'histogram is not in ascending order'
    ],
    ['a short histogram', withHistogram({ counts: [500, 500] }), 'lists of different lengths'],
    ['an empty histogram', withHistogram({ valuesMs: [], counts: [], failed: [] }), 'or empty ones'],
    ['a count of 0', withHistogram({ counts: [0, 900, 100] }), 'is not a positive whole number'],
    ['half a count', withHistogram({ counts: [0.5, 899.5, 100] }), 'is not a positive whole number'],
    ['a wrong sum', withHistogram({ counts: [500, 400, 101] }), 'does not add up to the samples'],
    ['failures above counts', withHistogram({ failed: [0, 0, 101] }), 'has more failures than samples']
  ])('with %s is refused', (_, document, words) => {
    const message = judge(document)
    expect(message).toContain('The baseline document is damaged or was changed: ')
    expect(message).toContain(words)
  })

  test('a number beyond all numbers is refused', () => {
    const text = JSON.stringify(withScope({ meanMs: 123456 })).replace('123456', '1e999')
    expect(judge(text)).toContain('meanMs is not a number')
  })

  test('what a later version may add is left out', () => {
    const document = { ...withScope({ extra: 1, percentilesMs: { 50: 1, 42: 7 } }), extra: {} }
    const [run] = decodeBaseline(gzipSync(JSON.stringify(document))).runs
    expect(run!.scopes).toEqual([makeScope({ histogram: HISTOGRAM, percentilesMs: { '50': 1 } })])
  })
})

describe('random changes', () => {
  const label = 'pay "now" 🛒'
  const whole = makeDocument(
    makeRuns(3, () => ({ scopes: [makeScope({ histogram: HISTOGRAM }), makeScope({ label, region: 'eu' })] }))
  )
  const text = Buffer.from(JSON.stringify(whole))
  const bytes = encodeBaseline(whole)

  /** Swaps a value somewhere in the document for one that does not belong there. */
  function mutateValue(random: () => number): unknown {
    const odd: unknown[] = [null, -1, 1e308, '', [], {}, true, 'x', 0, { __proto__: 1 }, [[]], 2]
    const copy: unknown = JSON.parse(text.toString())
    let place = copy as Record<string, unknown>
    for (;;) {
      const keys = Object.keys(place)
      const key = keys[Math.floor(random() * keys.length)] ?? 'none'
      const inner = place[key]
      if (typeof inner === 'object' && inner !== null && random() < 0.8)
        place = inner as Record<string, unknown>
      else {
        if (random() < 0.3) Reflect.deleteProperty(place, key)
        else place[random() < 0.1 ? '__proto__x' : key] = odd[Math.floor(random() * odd.length)]
        return copy
      }
    }
  }

  /** Refused, or something that is valid. */
  function check(spoilt: Uint8Array): 'refused' | 'valid' {
    try {
      const read = decodeBaseline(spoilt)
      expect(isValid(read) || isValid.errors).toBe(true)
      return 'valid'
    } catch (thrown) {
      expect(thrown).toBeInstanceOf(BaselineDocumentError)
      return 'refused'
    }
  }

  test.each<[string, (random: () => number) => Uint8Array]>([
    ['of the bytes', (random) => mutateBytes(bytes, random)],
    ['of the text', (random) => gzipSync(mutateBytes(text, random))],
    ['of values', (random) => gzipSync(JSON.stringify(mutateValue(random)))]
  ])('%s give a valid document, or an error that says so', (_, mutate) => {
    const results = Array.from({ length: 300 }, (_, seed) => check(mutate(makeRandom(seed))))
    expect(results).toContain('refused')
  })
})
