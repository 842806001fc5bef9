import { describe, expect, test } from '@jest/globals'
import { readApdex } from '../../../src/analysis/evidence/apdex.js'

describe('readApdex', () => {
  test.each([
    ['0.83 [3000]', 0.83, 3000],
    ['0.95 [3000]', 0.95, 3000],
    ['1.0 [4000]', 1, 4000],
    ['0 [500]', 0, 500],
    ['1[500]', 1, 500],
    ['  0.5  [ 500 ] ', 0.5, 500],
    ['.93 [500]', 0.93, 500],
    ['0,93 [500]', 0.93, 500],
    ['0.93 [500.0]', 0.93, 500],
    ['0.93 [500.00]', 0.93, 500],
    ['0.93 [500ms]', 0.93, 500],
    ['0.93 [500 MS]', 0.93, 500]
  ])('"%s" has a score and a target', (text, score, targetMs) => {
    expect(readApdex(text)).toEqual({ score, targetMs })
  })

  test.each([[null], [''], ['  ']])('%p: the service gave none', (text) => {
    expect(readApdex(text)).toBe('the service gave no apdex for this run')
  })

  test.each([
    '0.83',
    '[3000]',
    'NaN [3000]',
    '-0.5 [3000]',
    '1.01 [3000]',
    '83% [3000]',
    '83,0 [3000]',
    '0.8 [0]',
    '0.8 [3s]',
    '0.8 [3.000]',
    '0.8 [3,000]',
    '0.8 [0.5]',
    '. [3000]',
    '0.8. [3000]',
    '{"score":1}'
  ])('"%s" is odd, and quoted', (text) => {
    expect(readApdex(text)).toBe(
      `the service gave the apdex "${text}", which is not of the form "0.85 [500]"`
    )
  })

  test('a long odd one is cut', () => {
    const words = readApdex('x'.repeat(1000))
    expect(words).toContain(`"${'x'.repeat(60)}"`)
  })
})
