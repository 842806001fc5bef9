import { describe, expect, test } from '@jest/globals'
import { mergeScans } from '../../../../src/analysis/results/figures/merge.js'
import { measure, quoteField, scanText } from '../../../support/data/sample-csv.js'
import type { ErrorCount, Measurements } from '../../../../src/analysis/results/figures/measurements.js'

const HEADER = 'timeStamp,elapsed,label,responseCode,responseMessage,success,failureMessage'

function failed(label: string, code: string, responseMessage: string, failureMessage = ''): string {
  return ['1000', '5', label, code, responseMessage, 'false', failureMessage]
    .map((field) => quoteField(field, ','))
    .join(',')
}

const csv = (...rows: string[]) => [HEADER, ...rows, ''].join('\n')
const total = (errors: readonly ErrorCount[]) => errors.reduce((sum, { count }) => sum + count, 0)

function expectWhole(measured: Measurements): readonly ErrorCount[] {
  const errors = measured.errors({})
  expect(total(errors)).toBe(measured.figures({})?.failures)
  return errors
}

describe('errors', () => {
  test('are counted by label, code and message, the most frequent first', () => {
    const measured = measure(
      csv(
        failed('pay', '500', 'Server Error'),
        failed('home', '', 'Connection refused'),
        '1000,5,home,200,OK,true,',
        failed('pay', '200', 'OK', 'expected a, "b"\n  but   got c'),
        failed('home', '', 'Connection refused', ' '),
        failed('pay', '500', 'Server Error', '\n')
      )
    )
    expect(expectWhole(measured)).toEqual([
      { label: 'home', code: '', message: 'Connection refused', count: 2 },
      { label: 'pay', code: '500', message: 'Server Error', count: 2 },
      { label: 'pay', code: '200', message: 'expected a, "b" but got c', count: 1 }
    ])
    expect(measured.errors({ label: 'home' })).toEqual([
      { label: 'home', code: '', message: 'Connection refused', count: 2 }
    ])
    expect(measured.errors({ label: 'none' })).toEqual([])
  })

  test('of several grids are added up, and those of one are its own', () => {
    const texts = [csv(failed('a', '500', 'x')), csv(failed('a', '500', 'x'), failed('a', '404', 'y'))]
    const measured = measure(...texts)
    expect(expectWhole(measured)).toEqual([
      { label: 'a', code: '500', message: 'x', count: 2 },
      { label: 'a', code: '404', message: 'y', count: 1 }
    ])
    expect(measured.errors({ grid: 'grid-1' })).toEqual([{ label: 'a', code: '500', message: 'x', count: 1 }])
    expect(measured.errors({ region: 'region-2', label: 'a' })).toHaveLength(2)
  })

  test('have what the CSV says: no label, no code, no message', () => {
    const measured = measure('timeStamp,elapsed,success\n1,2,false\n3,4,true\n')
    expect(expectWhole(measured)).toEqual([{ label: '', code: '', message: '', count: 1 }])
  })

  test('are none in tidy CSVs, which do not say', () => {
    const measured = measure('Time,Measurement,Label,Value\n0,passed,a,1\n0,failed,a,7\n')
    expect(measured.figures({})?.failures).toBe(7)
    expect(measured.errors({})).toEqual([])
  })

  test('are at most twenty for a label, and the rest together', () => {
    const rows = Array.from({ length: 50 }, (_, i) =>
      Array.from({ length: i + 1 }, () => failed('a', '500', `reason ${i}`))
    )
    const errors = expectWhole(measure(csv(...rows.flat(), failed('b', '500', 'x'))))
    expect(errors).toHaveLength(22)
    expect(errors[0]).toEqual({ label: 'a', code: '500', message: 'reason 49', count: 50 })
    expect(errors[20]).toEqual({ label: 'b', code: '500', message: 'x', count: 1 })
    expect(errors[21]).toEqual({ label: undefined, code: '', message: 'other errors', count: 465 })
  })

  test('find the frequent one among messages that are never the same', () => {
    const rows = Array.from({ length: 30_000 }, (_, i) =>
      failed('a', '500', i % 3 === 0 ? 'pool exhausted' : `order ${i} failed`)
    )
    for (const text of [csv(...rows), csv(...rows.toReversed())]) {
      const errors = expectWhole(measure(text))
      expect(errors[0]).toEqual({ label: 'a', code: '500', message: 'pool exhausted', count: 10_000 })
      expect(errors).toHaveLength(21)
    }
  })

  test('are bounded over all labels too', () => {
    const rows = Array.from({ length: 60_000 }, (_, i) =>
      failed(`label ${i % 3000}`, '500', `order ${i} failed`)
    )
    const frequent = Array.from({ length: 500 }, () => failed('last', '503', 'overload'))
    const errors = expectWhole(measure(csv(...rows, ...frequent)))
    expect(errors[0]).toEqual({ label: 'last', code: '503', message: 'overload', count: 500 })
    expect(errors.length).toBeLessThanOrEqual(20_001)
  })

  test.each([
    ['a long text', 'x'.repeat(5000), `${'x'.repeat(199)}…`],
    ['a megabyte', 'word '.repeat(200_000), `${'word '.repeat(39)}word…`],
    ['characters of four bytes', '😀'.repeat(300), `${'😀'.repeat(99)}…`],
    ['quotes', '"'.repeat(3) + 'a', '"""a']
  ])('shorten %s', (_, message, shown) => {
    const [error] = expectWhole(measure(csv(failed('a', '500', message))))
    expect(error?.message).toBe(shown)
  })

  test('are the same whatever counts the rows, in pieces of any size', () => {
    const rows = Array.from({ length: 20_000 }, (_, i) =>
      i % 3 === 0
        ? failed(
            `label ${i % 11}`,
            String(500 + (i % 4)),
            'Error',
            i % 2 === 0 ? `two\n"lines" ${i % 5}` : ''
          )
        : `1000,5,label ${i % 11},200,OK,true,`
    )
    const text = csv(...rows)
    const whole = expectWhole(measure(text))
    expect(whole).toHaveLength(132)
    for (const step of [4096, 200_000]) expect(mergeScans([scanText(text, step)]).errors({})).toEqual(whole)
    const withCrlf = text.replaceAll('\n1000', '\r\n1000')
    expect(measure(withCrlf).errors({})).toEqual(whole)
  })
})
