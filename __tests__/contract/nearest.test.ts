import { describe, expect, test } from '@jest/globals'
import {
  describeUnknownKeys,
  editDistance,
  rankNearest,
  suggestName,
  suggestWord
} from '../../src/contract/nearest.js'

describe('editDistance', () => {
  test.each([
    ['', '', 0],
    ['', 'abc', 3],
    ['abc', '', 3],
    ['kitten', 'sitting', 3],
    ['lable', 'label', 1],
    ['ab', 'ba', 1],
    ['abcd', 'badc', 2],
    ['same', 'same', 0]
  ])('%j to %j is %d', (from, to, distance) => {
    expect(editDistance(from, to)).toBe(distance)
  })
})

describe('suggestWord', () => {
  test.each([
    ['lable', 'label'],
    ['LABEL', 'label'],
    ['regoin', 'region'],
    ['grids', 'grid'],
    ['zone', undefined],
    ['x', undefined],
    ['', undefined],
    ['label'.repeat(100), undefined]
  ])('%s: %s', (word, expected) => {
    expect(suggestWord(word, ['label', 'region', 'grid'])).toBe(expected)
  })
  test('does not replace a short word by another that shares nothing with it', () => {
    expect(suggestWord('%', ['ms', 's'])).toBeUndefined()
  })
})

describe('suggestName', () => {
  test.each([
    ['base_url', 'base-url'],
    ['baseUrl', 'base-url'],
    ['BASE URL', 'base-url'],
    ['ramp-up', 'rampup'],
    ['base-ulr', 'base-url'],
    ['colour', undefined],
    ['-', undefined]
  ])('%s: %s', (name, expected) => {
    expect(suggestName(name, ['base-url', 'rampup', 'name'])).toBe(expected)
  })
})

describe('describeUnknownKeys', () => {
  test('names each that was probably meant, and all that are known', () => {
    expect(describeUnknownKeys(['instanceType', 'colour'], ['region', 'instance_type'])).toBe(
      'unknown key instanceType (did you mean instance_type?), colour; known keys are region, instance_type'
    )
  })
  test('where there are none', () => {
    expect(describeUnknownKeys(['cpu'], [])).toBe('unknown key cpu; it takes none')
  })
})

describe('rankNearest', () => {
  test('puts what contains the text first, then the nearest', () => {
    const candidates = ['home', 'chekout', 'Checkout confirmation page', 'payment']
    expect(rankNearest('checkout', candidates, 2)).toEqual(['Checkout confirmation page', 'chekout'])
  })
  test('keeps the order of equals and gives no more than there are', () => {
    expect(rankNearest('', ['bb', 'aa'], 3)).toEqual(['bb', 'aa'])
  })
})
