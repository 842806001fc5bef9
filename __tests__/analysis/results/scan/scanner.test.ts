import { isDeepStrictEqual } from 'node:util'
import { describe, expect, test } from '@jest/globals'
import { ByteScanner } from '../../../../src/analysis/results/scan/byte-scanner.js'
import { makeSampleCsv, measure, scanText, snapshot } from '../../../support/data/sample-csv.js'
import { mutateBytes } from '../../../support/data/mutate-bytes.js'
import { makeRandom } from '../../../support/data/seeded-random.js'
import { slice } from '../../../support/slice.js'

const HEADER = 'timeStamp,elapsed,label,success'

test('too many or too long labels of a tidy CSV are a problem, and memory stays bounded', () => {
  const scanner = new ByteScanner({ grid: 'g', region: 'r' })
  scanner.push(new TextEncoder().encode('Time,Measurement,Label,Value\n0,failed,a,0\n'))
  const label = 'x'.repeat(10_000_000)
  for (let i = 0; i < 14; i++) scanner.push(new TextEncoder().encode(`0,passed,${i}${label},1\n`))
  const { problems, buckets } = scanner.end()
  expect(problems).toEqual([
    { row: 15, text: 'there are too many different times and labels before it, or too long ones' }
  ])
  expect(buckets).toHaveLength(14)
})

describe('chunks', () => {
  const csvs: [string, string][] = [
    ['samples', makeSampleCsv(3, 12)],
    [
      'samples with CRLF, a byte-order mark and no final line break',
      makeSampleCsv(4, 8, { lineBreak: '\r\n', bom: true, finalLineBreak: false })
    ],
    ['tidy', 'Time,Measurement,Label,Value\n0,passed,"a ""b"", c",1\n0,failed,"",0\n15000,failed,,2\n'],
    ['an unknown shape', 'name,"age\nof",x\n1,2,3\n'],
    ['a quote that is never closed', `${HEADER}\n1,2,a,true\n1,2,"b,true\n1,2,c,true\n`],
    ['a row cut short', `${HEADER}\n1,2,a,true\n1,2`]
  ]

  test.each(csvs)('may be cut at any byte: %s', (_, text) => {
    const bytes = new TextEncoder().encode(text)
    const whole = scanText(bytes)
    const wrongAt: number[] = []
    for (let at = 0; at <= bytes.length; at += bytes.length < 200 ? 1 : slice(7, 1)) {
      const scanner = new ByteScanner({ grid: 'g', region: 'r' })
      scanner.push(bytes.subarray(0, at))
      scanner.push(bytes.subarray(at))
      if (!isDeepStrictEqual(scanner.end(), whole)) wrongAt.push(at)
    }
    expect(wrongAt).toEqual([])
    expect(scanText(bytes, 1)).toEqual(whole)
    expect(scanText(bytes, 3)).toEqual(whole)
  })

  test('may be of any size beside the buffer', () => {
    const bytes = new TextEncoder().encode(makeSampleCsv(5, 4000))
    const whole = scanText(bytes)
    expect(bytes.length).toBeGreaterThan(300_000)
    for (const step of [997, 4096, 65_536, 131_071, 131_072, 200_000])
      expect(scanText(bytes, step)).toEqual(whole)
  })

  test('may continue after an intermediate result, where a row ends', () => {
    const rows = Array.from(
      { length: 9000 },
      (_, i) => `${1000 + i * 7},${i % 900},page ${i % 30},${i % 11 > 0}\n`
    )
    const bytes = new TextEncoder().encode(`${HEADER}\n${rows.join('')}`)
    const scanner = new ByteScanner({ grid: 'g', region: 'r' })
    for (let from = 0, step = 10; from < bytes.length; step = step * 3 + 1) {
      const to = bytes.lastIndexOf(10, from + step) + 1 || bytes.length
      scanner.push(bytes.subarray(from, Math.max(from, to)))
      expect(scanner.end().problemCount).toBe(0)
      from = Math.max(from, to)
    }
    expect(scanner.end()).toEqual(scanText(bytes))
  })

  test('a row may be longer than the buffer', () => {
    const long = `"${'x,\n'.repeat(200_000)}"`
    const text = `${HEADER},failureMessage\n1000,1,a,false,${long}\n1000,3,a,true,\n`
    expect(measure(text).figures({})).toMatchObject({ samples: 2, meanMs: 2 })
    expect(measure(text).sources[0]?.problems).toEqual([])
  })

  test('a row without end is given up and reported', () => {
    const bytes = new TextEncoder().encode(`${HEADER}\n1000,1,a,true\n1000,1,"a`)
    const filler = new Uint8Array(1024 * 1024).fill(97)
    const chunks = [bytes, ...Array.from({ length: 20 }, () => filler)]
    const [source] = measure(Buffer.concat(chunks)).sources
    expect(source?.problems).toEqual(['row 2: it is longer than 16 MiB, and the rest was not read'])
  })
})

describe('shapes', () => {
  test.each([
    ['JSON in place of a CSV', '{"error":"Sorry, we cannot find that resource."}'],
    ['a page in place of a CSV', '<!DOCTYPE html>\n<html></html>'],
    ['no header', '1700000000000,5,home,true\n'],
    ['columns of something else', 'date,price\n2020-01-01,5\n']
  ])('%s is unknown, with its first line kept', (_, text) => {
    const measured = measure(text)
    const [header] = text.split('\n')
    expect(measured.sources).toEqual([
      {
        ...{ grid: 'grid-1', region: 'region-1', shape: 'unknown', header, rows: 0 },
        problems: ['its header is not recognized']
      }
    ])
    expect(measured.figures({})).toBeUndefined()
    expect(measured.labels).toEqual([])
  })

  test('a long header is shortened', () => {
    expect(scanText('x'.repeat(5000)).header).toHaveLength(301)
  })

  test('a repeated header is not a row', () => {
    const measured = measure(`${HEADER}\n1000,1,a,true\n${HEADER}\r\n1000,2,a,true\n`)
    expect(measured.sources).toMatchObject([{ rows: 2, problems: [] }])
  })

  test('blank lines are not rows', () => {
    expect(measure(`${HEADER}\n\n1000,1,a,true\r\n\r\n\n`).sources).toMatchObject([{ rows: 1, problems: [] }])
  })

  test.each([
    ['2023/11/14 22:13:20.123', 1_700_000_000_123],
    ['2023-11-14T22:13:20.123Z', 1_700_000_000_123],
    ['2023-11-14T23:13:20.123+01:00', 1_700_000_000_123],
    ['2023-11-14 22:13:20', 1_700_000_000_000],
    ['"2023-11-14 22:13:20,123"', 1_700_000_000_123],
    ['1700000000123', 1_700_000_000_123]
  ])('timeStamp %s', (time, ms) => {
    const measured = measure(`${HEADER}\n${time},77,a,true\n`)
    expect([measured.startMs, measured.endMs, measured.sources[0]?.problems]).toEqual([ms, ms + 77, []])
  })
})

describe('what cannot be read is a problem', () => {
  const good = '1000,1,a,true'
  test.each([
    ['an empty file', '', 'it is empty'],
    ['a header and no rows', `${HEADER}\n`, 'it has a header but no rows'],
    ['a header cut short of its line break', HEADER, 'it has a header but no rows'],
    ['no success column', 'timeStamp,elapsed,label\n1000,1,a\n', 'it has no success column'],
    [
      'elapsed is no number',
      `${HEADER}\n${good}\n1000,abc,a,true\n`,
      'row 2: elapsed is "abc", not a whole number of ms'
    ],
    [
      'elapsed is negative',
      `${HEADER}\n1000,-1,a,true\n`,
      'row 1: elapsed is "-1", not a whole number of ms'
    ],
    ['elapsed is empty', `${HEADER}\n1000,,a,true\n`, 'row 1: elapsed is "", not a whole number of ms'],
    ['elapsed is NaN', `${HEADER}\n1000,NaN,a,true\n`, 'row 1: elapsed is "NaN", not a whole number of ms'],
    [
      'elapsed is beyond belief',
      `${HEADER}\n1000,99999999999,a,true\n`,
      'row 1: elapsed is "99999999999", not a plausible duration'
    ],
    [
      'timeStamp is no time',
      `${HEADER}\nsoon,1,a,true\n`,
      'row 1: timeStamp is "soon", not epoch ms or a date, year first'
    ],
    [
      'timeStamp is no day',
      `${HEADER}\n2023-02-31 00:00:00,1,a,true\n`,
      'row 1: timeStamp is "2023-02-31 00:00:00", not epoch ms or a date, year first'
    ],
    ['success is neither', `${HEADER}\n1000,1,a,yes\n`, 'row 1: success is "yes", not true or false'],
    ['too few columns', `${HEADER}\n1000,1,a\n${good}\n`, 'row 1: it has 3 of 4 columns'],
    ['too many columns', `${HEADER}\n1000,1,a,b,true\n${good}\n`, 'row 1: it has 5 of 4 columns'],
    [
      'the last row cut',
      `${HEADER}\n${good}\n1000,1`,
      'row 2: the file ends in the middle of it: it has 2 of 4 columns'
    ],
    [
      'the last row cut in a word',
      `${HEADER}\n${good}\n1000,1,a,tr`,
      'row 2: success is "tr", not true or false'
    ],
    [
      'a quote never closed',
      `${HEADER}\n${good}\n1000,1,"a,true\n${good}\n`,
      'row 2: a quote is never closed'
    ],
    ['text after a quote', `${HEADER}\n1000,1,"a"b,true\n`, 'row 1: text follows a closing quote'],
    ['a NUL byte', `${HEADER}\n1000,1,a\0,true\n`, 'row 1: it contains a NUL byte'],
    ['a NUL byte in quotes', `${HEADER}\n1000,1,"a\0",true\n`, 'row 1: it contains a NUL byte'],
    ['a tail of NUL bytes', `${HEADER}\n${good}\n${'\0'.repeat(99)}`, 'row 2: it contains a NUL byte'],
    [
      'a row for several samples',
      `${HEADER},SampleCount\n${good},12\n`,
      'row 1: SampleCount is "12", not 1: each row must be one sample'
    ],
    [
      'threads are no number',
      `${HEADER},allThreads\n${good},x\n`,
      'row 1: allThreads is "x", not a whole number'
    ]
  ])('%s', (_, text, problem) => {
    expect(measure(text).sources[0]?.problems).toEqual([problem])
  })

  test('many of them are counted, the first shown', () => {
    const rows = Array.from({ length: 20 }, (_, i) => `1000,${i % 2 === 0 ? 'x' : 7},a,true`)
    const measured = measure([HEADER, ...rows].join('\n'))
    const { problems, rows: count } = measured.sources[0]!
    expect(problems).toHaveLength(6)
    expect(problems[1]).toBe('row 3: elapsed is "x", not a whole number of ms')
    expect(problems[5]).toBe('5 more rows could not be read')
    expect(count).toBe(20)
    expect(measured.figures({})).toMatchObject({ samples: 10, meanMs: 7 })
  })
})

describe('mutated bytes', () => {
  const CASES = slice(250, 10_000)
  const seeds = [
    makeSampleCsv(11, 14),
    makeSampleCsv(12, 9, { lineBreak: '\r\n' }),
    'Time,Measurement,Label,Value\n0,passed,"a",1\n0,failed,"a",0\n'
  ]

  test('never crash it, and no file counts as read that was not read completely', () => {
    const random = makeRandom(2024)
    const originals = seeds.map((text) => new TextEncoder().encode(text))
    const wrong: string[] = []
    for (let i = 0; i < CASES; i++) {
      const bytes = mutateBytes(originals[i % originals.length]!, random)
      const measured = measure(bytes)
      const [source] = measured.sources
      const isClean = source!.problems.length === 0
      const counted = measured.figures({})?.samples ?? 0
      if (isClean && !isAccountedFor(bytes, source!.rows)) wrong.push(new TextDecoder().decode(bytes))
      if (isClean && counted === 0) wrong.push(`no samples: ${new TextDecoder().decode(bytes)}`)
      if (Number.isNaN(measured.figures({})?.meanMs ?? 0))
        wrong.push(`not a number: ${new TextDecoder().decode(bytes)}`)
    }
    expect(wrong).toEqual([])
  })

  /** Every line that is not inside quotes is a row that was read. */
  function isAccountedFor(bytes: Uint8Array, rows: number): boolean {
    const [header = '', ...lines] = splitRows(new TextDecoder().decode(bytes))
    return lines.filter((line) => line !== '' && line !== header).length === rows
  }

  function splitRows(text: string): string[] {
    const rows = ['']
    let isQuoted = false
    let isFieldStart = true
    const delimiters = [',', ';', '\t', '|']
    for (const char of text.replace(/^\uFEFF/, '')) {
      if (!isQuoted && char === '\n') {
        rows[rows.length - 1] = rows.at(-1)!.replace(/\r$/, '')
        rows.push('')
        isFieldStart = true
        continue
      }
      rows[rows.length - 1] = rows.at(-1)! + char
      if (char === '"' && (isQuoted || isFieldStart || rows.at(-1)!.endsWith('""'))) isQuoted = !isQuoted
      isFieldStart = !isQuoted && delimiters.includes(char)
    }
    return rows
  }
})

describe('rows that are part of a step', () => {
  const header = 'timeStamp,elapsed,label,success,allThreads,partOf'
  const step = (i: number): string => `${1000 + i * 10},${100 + (i % 7)},home,${i % 5 > 0},2,\n`
  const part = (i: number): string => `${1000 + i * 10},${9000 + i},home [load],true,2,home\n`

  // A large file is read by the kernel.
  test.each([3, 20_000])('count for their own label and nothing else: %s steps', (steps) => {
    const rows = Array.from({ length: steps }, (_, i) => step(i) + part(i)).join('')
    const alone = measure(`${header}\n${Array.from({ length: steps }, (_, i) => step(i)).join('')}`)
    const both = measure(`${header}\n${rows}`)
    const shown = snapshot(both)
    const expected = snapshot(alone)
    const [overall, home, , ofGrid] = shown.figures
    expect([overall, home, ofGrid]).toEqual(expected.figures)
    expect(shown.series).toEqual(expected.series)
    const ofParts = both.figures({ label: 'home [load]' })
    expect(ofParts).toMatchObject({ samples: steps, failures: 0, minMs: 9000, maxMs: 9000 + steps - 1 })
    expect(both.labels).toEqual(['home', 'home [load]'])
  })
})
