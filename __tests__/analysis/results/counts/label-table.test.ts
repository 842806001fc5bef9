import { describe, expect, test } from '@jest/globals'
import { LabelTable } from '../../../../src/analysis/results/counts/label-table.js'
import { measure } from '../../../support/data/sample-csv.js'

const number = (table: LabelTable, label: string) => {
  const bytes = new TextEncoder().encode(label)
  return table.numberOf(bytes, 0, bytes.length)
}

describe('labels', () => {
  test('are told apart by their bytes, whatever their hashes', () => {
    const table = new LabelTable()
    const labels = Array.from({ length: 100_000 }, (_, i) => `/shop/${i}/item?id=${(i * 7919) % 100_003}`)
    const first = labels.map((label) => number(table, label))
    expect(first).toEqual(labels.map((_, i) => i))
    expect(labels.map((label) => number(table, label))).toEqual(first)
    expect(table.toStrings()).toEqual(labels)
  })

  test('as long as a document are cut where they are shown', () => {
    const table = new LabelTable()
    number(table, 'x'.repeat(100_000))
    expect(table.toStrings()).toEqual([`${'x'.repeat(999)}…`])
  })

  test('of equal hash are not taken for each other', () => {
    const table = new LabelTable()
    const [a, b] = [new Uint8Array([1, 2, 3]), new Uint8Array([1, 2, 4])]
    expect(table.numberOfHashed(a, 0, 3, 42)).toBe(0)
    expect(table.numberOfHashed(b, 0, 3, 42)).toBe(1)
    expect(table.numberOfHashed(a, 0, 2, 42)).toBe(2)
    expect(table.numberOfHashed(b, 0, 3, 42)).toBe(1)
  })

  test('too many labels are a problem, and memory stays bounded', () => {
    const rows = Array.from({ length: 131_073 }, (_, i) => `1000,1,${i},true`)
    const measured = measure(['timeStamp,elapsed,label,success', ...rows].join('\n'))
    expect(measured.sources[0]?.problems).toEqual([
      'row 131073: there are too many different labels before it, or too long ones'
    ])
  })

  test('too long ones in all are the same problem: each row may have a label of megabytes', () => {
    const [mebibyte, rows] = ['x'.repeat(1024 ** 2 - 2), [] as string[]]
    for (let i = 10; i < 27; i++) rows.push(`1000,1,${i}${mebibyte},true`)
    const measured = measure(
      ['timeStamp,elapsed,label,success', ...rows, `1000,1,10${mebibyte},true`].join('\n')
    )
    expect(measured.sources[0]?.problems).toEqual([
      'row 17: there are too many different labels before it, or too long ones'
    ])
    expect(measured.figures({})?.samples).toBe(18)
  })

  test('a label that is shown cut is cut at the same place, whatever its characters', () => {
    const table = new LabelTable()
    for (const text of ['x', 'ä', '€', '😀']) {
      number(table, text.repeat(100_000))
      const shown = table.toStrings().at(-1)
      expect(shown).toBe(`${text.repeat(1000).slice(0, 999)}…`)
    }
  })
})
