import { describe, expect, test } from '@jest/globals'
import {
  parseBoolean,
  parseChoice,
  parseDurationSeconds,
  parseInteger,
  parsePattern
} from '../../src/contract/setting-values.js'

describe('parseDurationSeconds', () => {
  test.each([
    ['90', 90],
    ['90s', 90],
    ['5m', 300],
    ['2h', 7200],
    ['1h30m', 5400],
    ['1h2m3s', 3723],
    ['1h5s', 3605]
  ])('%s is %d s', (text, seconds) => {
    expect(parseDurationSeconds(text, 1)).toEqual({ ok: true, value: seconds })
  })

  test.each(['', '-1', '0', '1.5', '1.5h', '90 s', 's', 'h', '30m1h', '5M', 'ten', '1e3', '١٢', '1d', '5m '])(
    '"%s" is refused with what is accepted',
    (text) => {
      expect(parseDurationSeconds(text, 1)).toEqual({
        ok: false,
        accepted: 'a duration of at least 1 s, in whole seconds or as 90s, 5m, 2h, 1h30m'
      })
    }
  )

  test('0 is taken where it has a meaning', () => {
    expect(parseDurationSeconds('0', 0)).toEqual({ ok: true, value: 0 })
  })
})

describe('parseInteger', () => {
  test.each(['1', '7', '400'])('%s is taken', (text) => {
    expect(parseInteger(text, { least: 1, most: 400 })).toEqual({ ok: true, value: Number(text) })
  })

  test.each(['0', '401', '-1', '1.0', '1e2', 'ten', '0x10', ' 1', '9999999999'])(
    '"%s" is refused',
    (text) => {
      expect(parseInteger(text, { least: 1, most: 400 })).toEqual({
        ok: false,
        accepted: 'a whole number from 1 to 400'
      })
    }
  )

  test('says the least alone where there is no most', () => {
    expect(parseInteger('ten', { least: 1 })).toEqual({ ok: false, accepted: 'a whole number, at least 1' })
  })
})

describe('parseBoolean takes what the toolkit takes', () => {
  test.each([
    ['true', true],
    ['True', true],
    ['TRUE', true],
    ['false', false],
    ['False', false],
    ['FALSE', false]
  ])('%s', (text, value) => {
    expect(parseBoolean(text)).toEqual({ ok: true, value })
  })

  test.each([
    ['tRUE', ': did you mean true?'],
    ['yes', ': did you mean true?'],
    ['on', ': did you mean true?'],
    ['1', ': did you mean true?'],
    ['0', ': did you mean false?'],
    ['Off', ': did you mean false?'],
    ['flase', ': did you mean false?'],
    ['perhaps', ''],
    ['', '']
  ])('"%s" is refused%s', (text, question) => {
    expect(parseBoolean(text)).toEqual({ ok: false, accepted: `true or false${question}` })
  })
})

test('parseChoice lists the choices', () => {
  expect(parseChoice('b', ['a', 'b'])).toEqual({ ok: true, value: 'b' })
  expect(parseChoice('c', ['a', 'b'])).toEqual({ ok: false, accepted: 'one of a, b' })
})

test.each([
  ['JMeter', 'jmeter'],
  ['gattling', 'gatling'],
  ['java_selenium_chrome', 'java-selenium-chrome'],
  ['serviceChrome', 'service-chrome']
])('parseChoice: %s probably means %s', (text, meant) => {
  const choices = ['jmeter', 'gatling', 'java-selenium-chrome', 'service-chrome']
  expect(parseChoice(text, choices)).toEqual({
    ok: false,
    accepted: `one of ${choices.join(', ')}: did you mean ${meant}?`
  })
})

test('parsePattern says in words what it wants', () => {
  expect(parsePattern('ab', /^[a-z]+$/, 'letters')).toEqual({ ok: true, value: 'ab' })
  expect(parsePattern('a1', /^[a-z]+$/, 'letters')).toEqual({ ok: false, accepted: 'letters' })
})
