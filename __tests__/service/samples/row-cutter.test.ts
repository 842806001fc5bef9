import { describe, expect, test } from '@jest/globals'
import { RowCutter } from '../../../src/service/samples/row-cutter.js'

/** What comes out of pieces of any size. */
function cut(text: string, size: number): { rows: string; cutter: RowCutter } {
  const cutter = new RowCutter()
  const bytes = Buffer.from(text)
  const rows: string[] = []
  for (let at = 0; at < bytes.length; at += size) {
    const piece = Buffer.from(bytes.subarray(at, at + size))
    rows.push(cutter.push(piece).toString())
    // A reader reuses its buffer: nothing of it may be kept.
    piece.fill(0)
  }
  return { rows: rows.join(''), cutter }
}

describe('whole rows', () => {
  test.each([
    { name: 'plain rows', text: 'h\n1,2\n3,4\n', rest: '' },
    { name: 'a row without its end', text: 'h\n1,2\n', rest: '3,4' },
    { name: 'quoted line feeds', text: 'h\n"1\n2",3\n', rest: '"4\n5\n' },
    { name: 'doubled quotes', text: '"a""\n""b"\n"""x"""\n', rest: '"a""' },
    { name: 'quotes within a field', text: 'a"b\n5" wide,6" high\n', rest: 'c"' },
    { name: 'an empty quoted field', text: '"",1\n2,""\n', rest: '""' },
    { name: 'text after a quoted field', text: '"a"b\n"c"d"e\n', rest: 'f' },
    { name: 'carriage returns', text: 'h\r\n"1\r\n2"\r\n', rest: '3\r' }
  ])('$name, in pieces of every size', ({ text, rest }) => {
    for (let size = 1; size <= text.length + rest.length; size++) {
      const { rows, cutter } = cut(text + rest, size)
      expect([size, rows, cutter.restBytes]).toEqual([size, text, rest.length])
    }
  })
})

describe('a quote without an end', () => {
  test('is given up at a size that no row has, and what follows is counted, not kept', () => {
    const cutter = new RowCutter()
    expect(cutter.push(Buffer.from('h\n1,"')).toString()).toBe('h\n')
    // Would take far too long if each piece were joined to everything before it.
    const piece = Buffer.alloc(64 * 1024, 'a,b\n')
    const before = process.memoryUsage().arrayBuffers
    for (let i = 0; i < 3200; i++) expect(cutter.push(piece)).toHaveLength(0)
    expect(cutter.isBroken).toBe(true)
    expect(cutter.restBytes).toBe(3 + 3200 * piece.length)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
  })

  test('that closes in time is a row like any other', () => {
    const long = `1,"${'x\n'.repeat(4_000_000)}"\n`
    const { rows, cutter } = cut(`h\n${long}2\n`, 1 << 20)
    expect(rows === `h\n${long}2\n`).toBe(true)
    expect([cutter.isBroken, cutter.restBytes]).toEqual([false, 0])
  })
})
