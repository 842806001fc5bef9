import { describe, expect, test } from '@jest/globals'
import { readAddress, writeAddress } from '../../../src/report/page/browser/address.js'
import { fileNameOf, writeCsv, writeMarkdown } from '../../../src/report/page/browser/export-text.js'
import { HOSTILE } from '../../support/data/make-outcome.js'

describe('the address of the page', () => {
  test.each([
    { label: 'GET /products?q=a&b=c#d', span: [12, 40] as const },
    { label: '', span: undefined },
    { label: 'Käse + 漢字 %20 "quoted"', span: [0.5, 1.25] as const },
    { label: HOSTILE, span: undefined },
    { label: undefined, span: [0, 3600] as const }
  ])('of %j leads back to it', (address) => {
    expect(readAddress(writeAddress(address))).toEqual(address)
  })

  test('is short and can be written by hand', () => {
    expect(writeAddress({ label: 'checkout', span: [12.0001, 39.999] })).toBe('#label=checkout&t=12-40')
    expect(writeAddress({})).toBe('')
    expect(readAddress('#t=12-40&label=GET /')).toEqual({ label: 'GET /', span: [12, 40] })
  })

  test.each([
    ...[
      '#t=40-12',
      '#t=12',
      '#t=-5-3',
      '#t=a-b',
      '#t=1e9-2e9',
      '#t=12-12',
      '#label=%E0%A4%A',
      '#errors-title',
      ''
    ]
  ])('of %j asks for nothing', (hash) => {
    expect(readAddress(hash)).toEqual({ label: undefined, span: undefined })
  })

  test('holds a label with half a character', () => {
    expect(readAddress(writeAddress({ label: 'a\ud800b' })).label).toBe('a\ufffdb')
  })
})

describe('a CSV', () => {
  test.each(['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1'])('has no formula in %j', (text) => {
    expect(
      writeCsv([[text]])
        .replace(/^"/, '')
        .startsWith("'")
    ).toBe(true)
  })

  test('keeps numbers, leaves out what is unknown and quotes what needs it', () => {
    expect(
      writeCsv([
        ['Time', 'say "hi", then; go'],
        [-1.5, null],
        ['a\nb', 2e-7]
      ])
    ).toBe('Time,"say ""hi"", then; go"\r\n-1.5,\r\n"a\nb",2e-7\r\n')
  })
})

describe('a table as Markdown', () => {
  test('leaves out columns of pictures, and has pipes that end no cell', () => {
    const table = writeMarkdown([
      ['Label', 'Distribution', 'p95'],
      ['a|b', '', '12'],
      ['c\nd', '', '']
    ])
    expect(table).toBe('| Label | p95 |\n| --- | --- |\n| a&#124;b | 12 |\n| c d |  |\n')
  })

  test('takes hostile text for text', () => {
    const line = writeMarkdown([['Label'], [HOSTILE]]).split('\n')[2]!
    expect(line).not.toMatch(/[<>@](?!&)|\]\(|https?:\/\//)
    expect(line.match(/\|/g)).toHaveLength(2)
  })

  test('keeps its headings without rows', () => {
    expect(writeMarkdown([['A', 'B']])).toBe('| A | B |\n| --- | --- |\n')
  })
})

test.each([
  [['Response time', 'GET /products?x=<y>'], 'loadgate-response-time-get-products-x-y.csv'],
  [['../../etc/passwd', '漢字', 'a\u202Egnp.exe'], 'loadgate-etc-passwd-a-gnp-exe.csv'],
  [['x'.repeat(500)], `loadgate-${'x'.repeat(71)}.csv`]
])('the file name of %j is harmless', (parts, name) => {
  expect(fileNameOf(parts, 'csv')).toBe(name)
})
