import { describe, expect, test } from '@jest/globals'
import type { Fingerprint } from '../../../../src/analysis/baseline/document/fingerprint.js'
import {
  boundFingerprint,
  dataFileKey,
  describeDifference,
  isSameFingerprint,
  parameterKey
} from '../../../../src/analysis/baseline/document/fingerprint.js'

const HASH = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'
const OTHER = HASH.replace('e', 'f')

describe('what differs', () => {
  test.each<[Fingerprint, Fingerprint, string]>([
    [{ plan: HASH }, { plan: OTHER }, 'the plan changed'],
    [{ 'data file users.csv': HASH }, { 'data file users.csv': OTHER }, 'the data file users.csv changed'],
    [{}, { [dataFileKey('a.csv')]: HASH }, 'the data file a.csv is new'],
    [{ [dataFileKey('a.csv')]: HASH }, {}, 'the data file a.csv is gone'],
    [{ threads: '5' }, { threads: '10' }, 'threads: 10, was 5'],
    [{}, { 'ramp-up': '30s' }, 'ramp-up: 30s, was not set'],
    [{ 'warm-up': '30s' }, { 'warm-up': '' }, 'warm-up: empty, was 30s'],
    [{ grids: 'eu ×2' }, { grids: 'eu ×4' }, 'grids: eu ×4, was eu ×2'],
    [{ grids: HASH }, { grids: OTHER }, 'the grids changed'],
    [{ tool: 'jmeter' }, { tool: 'gatling' }, 'the tool changed (gatling, was jmeter)'],
    [{ 'tool version': '5.5' }, { 'tool version': '5.6' }, "the tool's version changed (5.6, was 5.5)"],
    [{ CPU: 'Zen 2' }, { CPU: 'Zen 3' }, "the runner's CPU differs (Zen 3, was Zen 2)"],
    [{ cores: '2' }, { cores: '4' }, "the runner's number of cores differs (4, was 2)"],
    [{ system: 'linux x64' }, {}, "the runner's system differs (not set, was linux x64)"],
    [{ __proto__: null, 'other thing': 'a' } as never, { 'other thing': 'b' }, '"other thing" changed']
  ])('%j, then %j', (base, head, words) => {
    expect(describeDifference(base, head)).toBe(words)
  })

  test('is nothing between equal ones, in any order', () => {
    expect(describeDifference({ plan: 'a', threads: '1' }, { threads: '1', plan: 'a' })).toBeUndefined()
  })

  test('is told from the plan on, and bounded', () => {
    const base = { CPU: 'a', plan: 'a', cores: '1', threads: '1', duration: '1s', system: 'x' }
    const head = { CPU: 'b', plan: 'b', cores: '2', threads: '2', duration: '2s', system: 'y' }
    expect(describeDifference(base, head)).toBe(
      "the plan changed; threads: 2, was 1; duration: 2s, was 1s; the runner's system differs (y, was x); and 2 more differences"
    )
  })

  test('never shows the value of a parameter', () => {
    const words = describeDifference(
      { [parameterKey('users')]: 'old secret' },
      { [parameterKey('users')]: 'new secret' }
    )
    expect(words).toBe('the parameter `users` changed')
  })

  test('stays on one line and short, whatever a document says', () => {
    const words = describeDifference(
      { CPU: `\u001b[2J\n::error::${'x'.repeat(200)}` },
      { CPU: 'Zen', [dataFileKey('a\nb'.repeat(90))]: HASH }
    )
    expect(words).not.toMatch(/\p{Cc}/u)
    expect(words!.length).toBeLessThan(300)
  })

  test('sees a part with a name that all objects have', () => {
    const odd = JSON.parse('{"__proto__":"a","constructor":"b"}') as Fingerprint
    expect(describeDifference({}, odd)).toBe('"__proto__" is new; "constructor" is new')
    expect(describeDifference(odd, {})).toBe('"__proto__" is gone; "constructor" is gone')
  })
})

describe('a fingerprint that is too large for a document', () => {
  const many = (last: string): Fingerprint =>
    Object.fromEntries(
      Array.from({ length: 500 }, (_, i) => [dataFileKey(`${i}.csv`), i === 499 ? last : 'a'])
    )

  test('is bounded, and still differs where it differed', () => {
    const bounded = boundFingerprint(many('a'))
    expect(Object.keys(bounded)).toHaveLength(200)
    expect(boundFingerprint(bounded)).toEqual(bounded)
    expect(isSameFingerprint(bounded, many('a'))).toBe(true)
    expect(isSameFingerprint(bounded, many('b'))).toBe(false)
  })

  test('has hashes of its long texts', () => {
    const long = (end: string) => ({ plan: 'x'.repeat(1000) + end, ['y'.repeat(1000) + end]: '' })
    expect(isSameFingerprint(boundFingerprint(long('a')), long('a'))).toBe(true)
    expect(isSameFingerprint(long('a'), long('b'))).toBe(false)
    expect(
      Math.max(
        ...Object.entries(boundFingerprint(long('a')))
          .flat()
          .map(({ length }) => length)
      )
    ).toBeLessThan(301)
  })
})
