import { describe, expect, test } from '@jest/globals'
import { RowCutter } from '../../../src/service/samples/row-cutter.js'
import { RowRewriter } from '../../../src/service/samples/sample-rows.js'
import { makeRandom } from '../../support/data/seeded-random.js'

/** The text in pieces, as a file that grows is read. */
function shiftIn(text: string, offsetMs: number, pieceBytes = text.length): string {
  const shift = new RowRewriter({ offsetMs })
  const cutter = new RowCutter()
  const bytes = Buffer.from(text)
  let shifted = ''
  for (let at = 0; at < bytes.length; at += pieceBytes)
    shifted += shift.push(cutter.push(bytes.subarray(at, at + pieceBytes))).toString()
  return shifted
}

const HEADER = 'timeStamp,elapsed,label\n'

describe('times of a node whose clock is off', () => {
  test.each([
    { name: 'a clock ahead', offsetMs: 250, row: '1000,1,a', shifted: '750,1,a' },
    { name: 'a clock behind', offsetMs: -250, row: '999,1,a', shifted: '1249,1,a' },
    { name: 'no difference', offsetMs: 0, row: '1000,1,a', shifted: '1000,1,a' },
    { name: 'parts of a millisecond', offsetMs: 0.4, row: '1000,1,a', shifted: '1000,1,a' },
    { name: 'never before 1970', offsetMs: 250, row: '100,1,a', shifted: '0,1,a' },
    { name: 'in quotes', offsetMs: 1, row: '"1000",1,"1000"', shifted: '"999",1,"1000"' },
    { name: 'Windows line breaks', offsetMs: 1, row: '1000,1,a\r', shifted: '999,1,a\r' },
    {
      name: 'a label of two lines',
      offsetMs: 1,
      row: '1000,1,"a\n1000,1,b"',
      shifted: '999,1,"a\n1000,1,b"'
    },
    { name: 'a date', offsetMs: 1000, row: '1970-01-01T00:00:02.5Z,1,a', shifted: '1500,1,a' },
    { name: 'no time at all', offsetMs: 1, row: 'soon,1,a', shifted: 'soon,1,a' },
    { name: 'a column too many', offsetMs: 1, row: '1000,1,a,b', shifted: '1000,1,a,b' }
  ])('$name', ({ offsetMs, row, shifted }) => {
    expect(shiftIn(`${HEADER}${row}\n`, offsetMs)).toBe(`${HEADER}${shifted}\n`)
  })

  test('a file without times stays as it is', () => {
    expect(shiftIn('elapsed,label\n1000,a\n', 10)).toBe('elapsed,label\n1000,a\n')
  })

  test.each(Array.from({ length: 40 }, (_, seed) => ({ seed })))(
    'whatever the rows and the pieces are, only the times change (seed $seed)',
    ({ seed }) => {
      const random = makeRandom(seed)
      const below = (limit: number): number => Math.floor(random() * limit)
      const texts = ['a', '', 'a,b', 'say "x"', '1700000000000', 'two\nlines', 'ü', 'cr\r\nlf']
      const write = (text: string): string =>
        /[",\r\n]/.test(text) || random() < 0.2 ? `"${text.replaceAll('"', '""')}"` : text
      const column = below(3)
      const header = ['elapsed', 'label']
      header.splice(column, 0, 'timeStamp')
      const offsetMs = below(10_000) - 5000
      const rows = Array.from({ length: below(60) }, () => {
        const atMs = 1_700_000_000_000 + below(1e9)
        const fields = [write(String(below(900))), write(texts[below(texts.length)]!)]
        const quote = random() < 0.1 ? '"' : ''
        const withTime = (ms: number): string =>
          `${fields.toSpliced(column, 0, `${quote}${ms}${quote}`).join(',')}\n`
        return { given: withTime(atMs), wanted: withTime(atMs - offsetMs) }
      })
      const text = `${header.join(',')}\n${rows.map(({ given }) => given).join('')}`
      const wanted = `${header.join(',')}\n${rows.map((row) => row.wanted).join('')}`
      expect(shiftIn(text, offsetMs, 1 + below(200))).toBe(wanted)
    }
  )
})
