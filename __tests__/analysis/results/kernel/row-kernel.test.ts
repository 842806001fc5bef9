import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { readHeader, type Layout } from '../../../../src/analysis/results/csv/header.js'
import { RowKernel, type RowTaker } from '../../../../src/analysis/results/kernel/row-kernel.js'
import { Distribution } from '../../../../src/analysis/results/counts/distribution.js'
import type { CountedRuns } from '../../../../src/analysis/results/counts/histogram.js'
import {
  MOST_LISTED,
  MOST_LISTS,
  NOTE_INTS,
  NOTE_SAMPLES,
  NOTE_THREAD
} from '../../../../src/analysis/results/kernel/assembly/layout.js'
import { TimeLine } from '../../../../src/analysis/results/counts/time-line.js'
import type { ScanResult } from '../../../../src/analysis/results/counts/scan-result.js'
import type { DetailOptions } from '../../../../src/analysis/results/details/detail-scan.js'
import { findAxis, mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { JMETER_COLUMNS, makeSampleCsv, type CsvStyle } from '../../../support/data/sample-csv.js'
import { asFound, scanInSteps } from '../../../support/data/scan-in-steps.js'
import { mutateBytes } from '../../../support/data/mutate-bytes.js'
import { makeRandom } from '../../../support/data/seeded-random.js'
import { slice } from '../../../support/slice.js'

const HEADER = 'timeStamp,elapsed,label,success'

const scan = (
  bytes: Uint8Array,
  kernelFrom: number,
  step = Infinity,
  countFromMs = -Infinity,
  countToMs = Infinity,
  details?: DetailOptions
) => scanInSteps(bytes, () => step, { kernelFrom, countFromMs, countToMs, details })

function countTimes(times: readonly CountedRuns[]): number {
  const all = times.flatMap((runs) => Array.from(runs.offsets.slice(1), (_, index) => ({ runs, index })))
  return new Distribution(all).total
}

/** The kernel may only differ in speed. */
function expectSame(bytes: Uint8Array, countFromMs?: number, countToMs?: number): void {
  const plain = scan(bytes, Infinity, Infinity, countFromMs, countToMs)
  expectEqual([asFound(scan(bytes, 0, Infinity, countFromMs, countToMs)), asFound(plain)])
  const axis = findAxis([[plain]])
  if (axis === undefined) return
  const details = secondReadingOf(plain, axis)
  expectEqual(
    [0, Infinity].map((from) => {
      const { parts, ...found } = scan(bytes, from, Infinity, countFromMs, countToMs, details)
      return { ...found, details: parts.map((part) => part.details) }
    })
  )
}

/** Jest compares typed arrays number by number, which takes longer than all the rest. */
function expectEqual([counted, plain]: readonly unknown[]): void {
  expect(isDeepStrictEqual(counted, plain) ? 'the same' : { counted, plain }).toBe('the same')
}

function secondReadingOf(scan: ScanResult, axis: NonNullable<ReturnType<typeof findAxis>>): DetailOptions {
  const { bucketMs, buckets, originsMs } = axis
  const labels = [...new Set(scan.parts.flatMap((part) => part.labels))]
  const errors = mergeScans([scan])
    .errors({})
    .flatMap(({ label, code, message }) => (label === undefined ? [] : [{ label, code, message }]))
  return {
    axis: { originMs: originsMs[0] ?? 0, bucketMs, buckets, bucketsALabelBucket: 3 },
    hasTransactions: scan.hasTransactions,
    labels: labels.slice(0, 4),
    errors: errors.slice(0, 4)
  }
}

/** More than the first block of bytes: afterwards the kernel knows labels and times, and leaves no ordinary row. */
const KNOWN = '1000,1,a,true\n1001,2,"b",false\n1002,3,"",true\n'.repeat(500)
const encode = (text: string) => new TextEncoder().encode(text)

const replaceAt = (text: string, at: number) => `${text.slice(0, Math.max(0, at))}y${text.slice(at + 1)}`

describe('the kernel and plain reading give the same result', () => {
  const styles: [string, Partial<CsvStyle>][] = [
    ['as JMeter writes it', {}],
    ['CRLF', { lineBreak: '\r\n' }],
    ['a byte-order mark', { bom: true }],
    ['semicolons', { delimiter: ';' }],
    ['tabs', { delimiter: '\t' }],
    ['no final line break', { finalLineBreak: false }],
    ['success in capitals', { success: (isSuccess) => String(isSuccess).toUpperCase() }],
    ['columns in reverse order', { columns: JMETER_COLUMNS.toReversed() }],
    ['a subset of the columns', { columns: ['elapsed', 'success', 'label'] }],
    ['no elapsed', { columns: ['timeStamp', 'success', 'label', 'responseMessage'] }]
  ]

  test.each(styles)('%s', (_, style) => {
    for (const seed of [1, 2, 3]) expectSame(encode(makeSampleCsv(seed, 900, style)))
  })

  test('what a second reading counts: codes, bytes and parts of the time, missing, odd or too many', () => {
    const random = makeRandom(11)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    const numbers = ['0', '7', '350', '', '-1', '1.5', '12345678', '123456789', '"9"', 'x']
    const codes = ['', '"200"', '"a ""b"""', '12345678', '123456789', 'Non HTTP response code: x', '0']
    const labels = ['home', '"cart, ""1"""', 'pay', 'login', 'other']
    const rows = Array.from({ length: 9000 }, (_, i) => {
      const elapsedMs = Math.floor(random() * (random() < 0.3 ? 3 : 400))
      const usual = 200 + Math.floor(random() * (i % 2 === 0 ? 4 : 40))
      const isOdd = random() < 0.1
      const number = () => (isOdd ? pick(numbers) : Math.floor(random() * (elapsedMs + 2)))
      return [
        ...[1_700_000_000_000 + 3 * i, elapsedMs, pick(labels), random() < 0.05 ? pick(codes) : usual],
        ...['no', `users 1-${i % 7}`, random() < 0.8, '', number(), number(), 1, `http://x/?a=${i}`],
        ...[number(), number()]
      ].join(',')
    })
    const head =
      'timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,failureMessage,bytes,sentBytes,allThreads,URL,Latency,Connect'
    const text = [head, ...rows, ''].join('\n')
    for (const each of [text, text.replaceAll('\n', '\r\n')]) expectSame(encode(each))
    expectSame(encode(text), 1_700_000_005_000, 1_700_000_015_000)
  })

  test('rows that are part of others, of labels that are followed and that are not', () => {
    const random = makeRandom(7)
    const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T
    const rows = Array.from({ length: 9000 }, (_, i) => {
      const label = pick(['home', 'label 1', 'cart', '"check, ""ok"""', 'home'])
      const [isPassed, partOf] = [random() < 0.9, pick(['', '', 'checks', '"a, b"'])]
      const code = isPassed ? '200,' : `500,"broken ${pick(['once', 'twice'])}"`
      return `${1_700_000_000_000 + 3 * i},${Math.floor(random() * 900)},${label},${isPassed},${code},2,${partOf}\n`
    })
    const head = 'timeStamp,elapsed,label,success,responseCode,failureMessage,allThreads,partOf\n'
    for (const text of [head + rows.join(''), (head + rows.join('')).replaceAll('\n', '\r\n')])
      expectSame(encode(text))
    expectSame(encode(head + rows.join('')), 1_700_000_005_000, 1_700_000_015_000)
  })

  test('over several blocks, and rows longer than a block', () => {
    const long = `1000,1,"${'y,\n""'.repeat(60_000)}",false\n`
    const rows = Array.from({ length: 9000 }, (_, i) => `170000000${1000 + i},${i},label ${i % 50},true\n`)
    const bytes = encode(`${HEADER}\n${rows.join('')}${long}${rows.join('')}`)
    expectSame(bytes)
    expect(asFound(scan(bytes, 0, 777))).toEqual(asFound(scan(bytes, Infinity)))
  })

  test.each([
    ...[
      '1,2,a,true',
      '12345678,12345678,a,true',
      '123456789,1,a,true',
      '123456789012345,1,a,false',
      '1234567890123456,1,a,true'
    ],
    ...[
      '1000,123456789,a,true',
      '1000,2147483647,a,true',
      '1000,2147483648,a,true',
      '1000,12a,a,true',
      '1000,/1,a,true',
      '1000,:1,a,true'
    ],
    ...[
      '1000,,a,true',
      ',1,a,true',
      '1000,1,a,truE',
      '1000,1,a,fALSE',
      '1000,1,a,falsy',
      '1000,1,a,tru',
      '1000,1,a,',
      '1000,1,a,\u0014rue'
    ],
    ...[
      '1000,1,a',
      '1000,1,a,true,',
      '1000,1,a,true,x,y,z',
      '1000,1,a"b,true',
      '1000,1,""a,true',
      '1000,1,"a"b,true',
      '1000,1,"a""b",true'
    ],
    ...[
      '1000,1,"a" ,true',
      '"1000","1","a","true"',
      '"1000,1,a,true',
      '1000,1,a\tb,true',
      '1000,1,a\0b,true',
      '1000,1,"a\0b",true'
    ],
    ...[
      '1000,1,a,true\r',
      '1000,1,a,"true"\r',
      '1000,1,a,"true"\rx',
      '',
      '\r',
      '\r\r',
      HEADER,
      `${HEADER}\r`
    ],
    ...['2023-11-14 22:13:20,1,a,true', '1000,1,,true', '1000,1,"",true', '1000,1,"""",true', '-1,1,a,true']
  ])('%j', (row) => {
    expectSame(encode(`${HEADER}\n${KNOWN}${row}\n1001,2,b,false\n`))
    expectSame(encode(`${HEADER}\n1000,1,a,true\n${row}\n${KNOWN}${row}\n${KNOWN}`))
    expectSame(encode(`${HEADER}\n${KNOWN}${row}`))
  })

  test.each([
    ...[
      'OK,,5',
      'OK,x"y,5',
      'OK,"x""y",5',
      'OK,"x"y,5',
      'OK,"x" ,5',
      'OK,"x\0",5',
      'OK,x\0y,5',
      'OK,"x\r\n",5'
    ],
    ...[
      '"x"y,,5',
      '"x",,5\r',
      'OK,"x"\r,5',
      'OK,"x,5',
      'OK,"x""y"z"",5',
      'OK,,',
      'OK,,"5"',
      'OK,,-5',
      'OK,,123456789'
    ],
    ...[
      '2,,5',
      '"2",,5',
      '"2"x,,5',
      '0,,5',
      '"0, failing : 0",,5',
      ',,5',
      '"",,5',
      '"2, failing : 1",,5'
    ].map((rest) => rest.replace(/^"?/, '$&Number of samples in transaction : '))
  ])('message, ignored column and threads: %j', (rest) => {
    const known = '1000,1,a,true,OK,,5\n'.repeat(1000)
    const row = `1000,1,a,true,${rest}\n`
    expectSame(
      encode(`${HEADER},responseMessage,failureMessage,allThreads\n${known}${row}${known}${row}${known}`)
    )
  })

  test('times out of order, far apart, and longer than a minute', () => {
    const days = [0, 400, 3, 0.01, 0.5, 1000]
    const times = days.flatMap((day) => Array.from({ length: 400 }, (_, i) => day * 86_400_000 + i * 731))
    const rows = times.map((time, i) => `${1_700_000_000_000 - time},${i * 97},a,true\n`)
    expectSame(encode(`${HEADER}\n${KNOWN}${rows.join('')}${rows.toReversed().join('')}`))
  })

  test('more labels than the kernel has space for at first', () => {
    const rows = Array.from(
      { length: 9000 },
      (_, i) => `${1000 + i},${i % 3000},${'x'.repeat(i % 7)}${i % 3000},true\n`
    )
    expectSame(encode(`${HEADER}\n${rows.join('')}${rows.join('')}`))
  })

  test('cells with as many rows as a list has, as all of its lists have, and more; in turns, with equal and long times', () => {
    const random = makeRandom(11)
    const times = MOST_LISTED / MOST_LISTS
    const sizes = [1, times - 1, times, times + 1, 2 * times, MOST_LISTED - 1, MOST_LISTED, MOST_LISTED + 1]
    const rows = [...sizes, 3 * MOST_LISTED].flatMap((size, label) =>
      [5, 3000, 70_000].flatMap((most) =>
        Array.from({ length: size }, () => {
          const outcome = random() < 0.5 ? 'a,true' : 'b,false'
          return { at: random(), text: `1000,${Math.floor(random() * most)},${label} ${most} ${outcome}\n` }
        })
      )
    )
    const mixed = rows.sort((a, b) => a.at - b.at).map(({ text }) => text)
    expectSame(encode(`${HEADER}\n${mixed.join('')}`))
    // Lists that one label has given back are used by the next.
    const inTurns = rows
      .sort((a, b) => (a.text.slice(-12) < b.text.slice(-12) ? -1 : 1))
      .map(({ text }) => text)
    expectSame(encode(`${HEADER}\n${inTurns.join('')}${mixed.join('')}`))
  })

  test('labels of any length, and some that differ in one byte', () => {
    const labels = Array.from({ length: 90 }, (_, length) => {
      const label = 'x'.repeat(length)
      return [label, ...[0, 7, 8, 15, 16, 31, 32, 33, 40, length - 1].map((at) => replaceAt(label, at))]
    }).flat()
    const rows = labels.map((label, i) => `1000,${i % 100},${label},true\n`).join('')
    expectSame(encode(`${HEADER}\n${rows.repeat(4)}`))
  })

  test.each([
    '1700000000000,5,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1',
    '1700000000000,5,"a, b",500,"x,y",t 1-1,text,FALSE,"z\n""z""",1,1,5,,http://a,1,0,1\r',
    '1,5,a,,,,,false,,,,,,,,,',
    'x,5,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1',
    '1,5x,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1',
    '1,99999,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1',
    '1,5,a,200,OK,t 1-1,text,yes,,1,1,5,5,,1,0,1',
    '1,5,a,200,OK,t 1-1,text,true,,1,1,5,5x,,1,0,1',
    '1,5,a,200,OK,t 1-1,text,true,,1,1,5,123456789,,1,0,1',
    '1,5,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0',
    '1,5,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1,2',
    '1,5,a,200,"Number of samples in transaction : 1",t 1-1,text,true,,1,1,5,5,,1,0,1'
  ])('the columns in the order of JMeter: %j', (row) => {
    const known = '1700000000000,5,a,200,OK,t 1-1,text,true,,1,1,5,5,,1,0,1\n'.repeat(900)
    expectSame(encode(`${JMETER_COLUMNS.join(',')}\n${known}${row}\n${known}${row}`))
  })

  test('counts that pass what sixteen bits hold', () => {
    const many: [string, number][] = [
      ['a', 65_535],
      ['b', 65_536],
      ['c', 65_537],
      ['d', 140_000]
    ]
    const rows = many.map(([label, count]) => `1000,5,${label},true\n`.repeat(count))
    expectSame(encode(`${HEADER}\n${rows.join('')}1000,6,a,true\n`))
  })

  test('hundreds of mutations', () => {
    const random = makeRandom(77)
    const known = encode(makeSampleCsv(21, 120))
    const rows = known.subarray(known.indexOf(10) + 1)
    const original = rows.subarray(0, rows.indexOf(10, 3000) + 1)
    for (let i = 0; i < slice(10, 400); i++)
      expectSame(Buffer.concat([known, mutateBytes(original, random), rows.subarray(0, 500)]))
  })
})

describe('rows that start before the lower bound of time are left out', () => {
  const START_MS = 1_700_000_000_000
  /** One every 10 ms for five minutes; every tenth fails. */
  const rows = Array.from(
    { length: 30_000 },
    (_, i) => `${START_MS + i * 10},${i % 500},label ${i % 7},${i % 10 !== 0}\n`
  )
  const bytes = encode(`${HEADER}\n${rows.join('')}`)

  test.each([
    ['none of them', START_MS, 0],
    ['one that starts a millisecond before it', START_MS + 1, 1],
    ['all that start in the first minute', START_MS + 60_000, 6000],
    ['all', START_MS + 86_400_000, 30_000]
  ])('%s', (_, countFromMs, early) => {
    for (const kernelFrom of [0, Infinity]) {
      const { rows: read, earlyRows, parts, problemCount } = scan(bytes, kernelFrom, Infinity, countFromMs)
      const part = parts[0]!
      expect({ read, earlyRows, problemCount }).toEqual({ read: 30_000, earlyRows: early, problemCount: 0 })
      expect(countTimes(part.times)).toBe(30_000 - early)
      expect(part.line.samples.reduce((sum, count) => sum + count, 0)).toBe(30_000 - early)
      expect(part.errors.counts.reduce((sum, { count }) => sum + count, 0)).toBe(3000 - Math.ceil(early / 10))
      expect(part.startMs).toBe(early === 30_000 ? Infinity : START_MS + early * 10)
    }
  })

  test.each([
    ['of the last minute', -Infinity, START_MS + 239_999, 6000],
    ['of neither the first nor the last minute', START_MS + 60_000, START_MS + 239_990, 12_000],
    ['but one', START_MS + 10, START_MS + 10, 29_999],
    ['where nothing is between', START_MS + 10, START_MS, 30_000],
    ['from before any time', -Infinity, -1, 30_000],
    ['if it is never', START_MS, Infinity, 0]
  ])('and after the upper one: those %s', (_, countFromMs, countToMs, left) => {
    for (const kernelFrom of [0, Infinity]) {
      const { earlyRows, parts } = scan(bytes, kernelFrom, Infinity, countFromMs, countToMs)
      expect(earlyRows).toBe(left)
      expect(countTimes(parts[0]!.times)).toBe(30_000 - left)
    }
  })

  test('with the kernel and without, in any style, and with what cannot be read', () => {
    const random = makeRandom(5)
    for (const style of [{}, { columns: JMETER_COLUMNS.toReversed() }, { columns: ['elapsed', 'label'] }]) {
      const csv = encode(makeSampleCsv(4, 900, style))
      const middle = scan(csv, Infinity).parts[0]!
      const countFromMs = (middle.startMs + middle.endMs) / 2
      for (let i = 0; i < slice(2, 20); i++) {
        const bytes = i === 0 ? csv : mutateBytes(csv, random)
        expectSame(bytes, countFromMs)
        expectSame(bytes, undefined, countFromMs)
      }
    }
  })

  test('a label that has no other rows is unknown', () => {
    const { parts } = scan(encode(`${HEADER}\n1,1,early,true\n2000,1,late,true\n`), 0, Infinity, 1000)
    expect(parts[0]!.labels).toEqual(['late'])
  })
})

describe('the kernel itself', () => {
  const makeLine = (atMs: number) => {
    const line = new TimeLine()
    line.add(atMs, 1, 0, -1)
    return line
  }
  type SampleLayout = Extract<Layout, { shape: 'samples' }>
  const layout = readHeader(encode(`${HEADER},responseMessage,threadName`)) as SampleLayout

  test('is available here, and decodes ordinary rows, quoted ones too, by itself', () => {
    const kernel = RowKernel.make(layout)!
    const rows = [
      '1700000000123,456,plain,true,OK,t',
      '1700000000124,7,"a, b",FALSE,"two\nlines and ""quotes""",t',
      '1700000000125,8,"say ""hi""",true,OK,t',
      '1700000000128,x,bad,true,OK,t',
      '1700000000129,1,tx,true,"Number of samples in transaction : 2, number of failing samples : 0",t',
      '1700000000130,1,behind,true,OK,t',
      ''
    ]
    const bytes = encode(rows.join('\n'))
    kernel.resize(bytes.length)
    kernel.room.set(bytes)
    kernel.line.follow(makeLine(1_700_000_000_000))
    const left: string[] = []
    const failed: [label: number, message: string][] = []
    let counted = 0
    const taker: RowTaker = {
      skip: (count) => void (counted += count),
      take(memory, start, end) {
        left.push(new TextDecoder().decode(memory.subarray(start, end)))
        return left.length - 1
      },
      takeFailure(label, row) {
        failed.push([label, new TextDecoder().decode(row.buffer.subarray(row.starts[4], row.ends[4]))])
      },
      scopeOf: (label) => label,
      codeOf: () => 0,
      threadOf: () => 7,
      follow: ({ ints, doubles, from, to }) => {
        for (let at = from; at < to; at += NOTE_INTS)
          followed.push([doubles[at / 2]!, ints[at + NOTE_THREAD]!, ints[at + NOTE_SAMPLES]!])
      }
    }
    const followed: [startMs: number, thread: number, samples: number][] = []
    const next = kernel.takeRows({ from: 0, length: bytes.length, limit: Infinity }, taker)
    // The first time, every label is new.
    expect(left).toEqual(rows.slice(0, 6))
    expect([next, counted, failed]).toEqual([bytes.length, 0, []])
    left.length = 0
    kernel.takeRows({ from: 0, length: next, limit: Infinity }, taker)
    expect(left).toEqual(rows.slice(3, 5))
    expect([counted, failed]).toEqual([4, [[1, 'two\nlines and ""quotes""']]])
    const { firstStartMs, lastEndMs, long } = kernel.stallsOf(0)
    expect([firstStartMs, lastEndMs]).toEqual([1_700_000_000_123, 1_700_000_000_579])
    // The one row that is long enough to have waited.
    expect([...long.label]).toEqual([0])
    // From here on rows are left whose thread or label is new, and the others are noted.
    kernel.noteRows()
    left.length = 0
    const from = encode(rows.slice(0, 4).join('\n')).length + 1
    for (let i = 0; i < 3; i++) kernel.takeRows({ from, length: bytes.length, limit: Infinity }, taker)
    expect(left).toEqual([rows[4], rows[5], rows[4]])
    expect(followed).toEqual([
      [1_700_000_000_130, 7, 0],
      [1_700_000_000_129, 7, 2],
      [1_700_000_000_130, 7, 0]
    ])
    expect(counted).toBe(7)
  })

  test('is not created for an absurdly long header', () => {
    expect(RowKernel.make({ ...layout, columns: 5000 })).toBeUndefined()
  })
})
