import { describe, expect, test } from '@jest/globals'
import { readAssertion } from '../../src/service/engines/gatling/assertions.js'
import { joinNodeLines, type Joins, type NodeLine } from '../../src/service/node-lines.js'

const join = (...lines: readonly NodeLine[]) => joinNodeLines(lines.map((line) => [line]))[0]
const line = (holds: boolean, joins?: Joins, more: Partial<NodeLine> = {}): NodeLine => ({
  ...{ text: 'a', holds, ...more },
  ...(joins && { joins })
})
const count = (part: number, operator: '<' | '>', limit: number): Joins => ({
  ...{ by: 'sum', part, limit: { operator, numbers: [limit] } }
})

describe('the lines of several nodes as one', () => {
  const RANGE: Joins = { by: 'range', isOneSided: true }
  const BAND: Joins = { by: 'range', isOneSided: false }
  const held = line(true, RANGE)
  const broken = line(false, RANGE)
  const empty = line(true, undefined, { isEmpty: true, reason: 'no samples' })
  const share = (part: number, whole: number): Joins => ({
    ...{ by: 'sum', part, whole, limit: { operator: '<', numbers: [0.1] } }
  })

  test.each([
    { what: 'a figure that holds on all', lines: [held, held], holds: true },
    { what: 'a figure that is broken on all', lines: [broken, broken], holds: false },
    {
      what: 'a figure that must be within a band, and is on neither node',
      lines: [line(false, BAND), line(false, BAND)],
      holds: null,
      reason: /on 0 of 2/
    },
    {
      what: 'a figure that is broken on one of them',
      lines: [held, broken],
      holds: null,
      reason: /on 1 of 2/
    },
    {
      what: 'one that ended the test where it broke',
      lines: [held, { ...broken, endsTest: true }],
      holds: false
    },
    { what: 'one that is broken wherever a node breaks it', lines: [line(true), line(false)], holds: false },
    {
      what: 'a figure that cannot be joined',
      lines: [line(true, { by: 'nothing' }), held],
      holds: null,
      reason: /own requests/
    },
    { what: 'the only one', lines: [line(true, { by: 'nothing' })], holds: true },
    { what: 'no samples anywhere', lines: [empty, empty], holds: null, reason: /^no samples$/ },
    { what: 'no samples on one node', lines: [empty, broken], holds: false },
    { what: 'no request of that name on one node', lines: [{ ...empty, holds: false }, held], holds: true },
    {
      what: 'no request of that name',
      lines: [{ ...empty, holds: false }],
      holds: false,
      reason: /^no samples$/
    },
    {
      what: 'counts that hold alone, and not together',
      lines: [line(true, count(8, '<', 10)), line(true, count(8, '<', 10))],
      holds: false,
      reason: /^the 2 nodes together have 16$/
    },
    {
      what: 'counts that hold together, and not alone',
      lines: [line(false, count(8, '>', 10)), line(false, count(8, '>', 10))],
      holds: true
    },
    {
      what: 'shares by their parts and wholes',
      lines: [line(false, share(1, 2)), line(true, share(0, 98))],
      holds: true
    },
    {
      what: 'a count that is no number',
      lines: [line(true, count(NaN, '<', 10)), line(true, count(1, '<', 10))],
      holds: null,
      reason: /cannot be added up/
    }
  ])('$what', ({ lines, holds, reason }) => {
    expect(join(...lines)).toEqual({
      text: 'a',
      holds,
      ...(reason && { reason: expect.stringMatching(reason) })
    })
  })

  test.each([
    ['>', null],
    ['<', false]
  ] as const)('a count with the limit %s, where part of the load was lost: %s', (operator, holds) => {
    const limit = operator === '>' ? 100 : 10
    expect(joinNodeLines([[line(false, count(50, operator, limit))]], false)[0]?.holds).toBe(holds)
  })

  test('what a node says twice counts once', () => {
    const twice = [line(true, count(8, '<', 10)), line(true, count(8, '<', 10))]
    expect(joinNodeLines([twice])).toEqual([{ text: 'a', holds: true }])
    expect(joinNodeLines([[line(false), line(true)]])).toEqual([{ text: 'a', holds: false }])
  })
})

/** As Gatling 3.15 prints them. */
describe('assertions of Gatling on two nodes', () => {
  test.each([
    { text: 'Global: count of failed events is less than 10.0', actual: '8.0', each: true, holds: false },
    {
      text: 'Global: count of all events is between 10.0 and 2.0E7 inclusive',
      actual: '8.0',
      each: false,
      holds: true
    },
    { text: 'Global: count of all events is between 8.0 and 16.0', actual: '8.0', each: false, holds: false },
    { text: 'Global: count of successful events is 8.0', actual: '8.0', each: true, holds: false },
    { text: 'Global: count of all events is in List(16.0, 4.0)', actual: '8.0', each: false, holds: true },
    {
      text: 'Global: mean requests per second is greater than 20.5',
      actual: '16.0',
      each: false,
      holds: true
    },
    {
      text: 'f: is less than: count of failed events is less than or equal to 16.0',
      actual: '8.0',
      each: true,
      holds: true
    },
    {
      text: 'Global: 99.9th percentile of response time is less than 500.0',
      actual: '131.0',
      each: true,
      holds: true
    },
    { text: 'Global: percentage of failed events is less than 1.0', actual: '0.0', each: true, holds: true },
    {
      text: 'Global: standard deviation of response time is less than 500.0',
      actual: '31.0',
      each: true,
      holds: null
    },
    { text: 'Global: something new', actual: '31.0', each: true, holds: null }
  ])('$text', ({ text, actual, each, holds }) => {
    const read = readAssertion(`${text} : ${each} (actual : ${actual})`)!
    expect(join(read, read)).toMatchObject({ text, holds })
  })

  test('the largest time is over the limit if it is so on one node', () => {
    const [max, min] = ['max of response time is less than 5.0', 'min of response time is less than 5.0'].map(
      (text) => [true, false].map((holds) => readAssertion(`ok: ${text} : ${holds} (actual : 1.0)`)!)
    )
    expect(join(...max!)).toMatchObject({ holds: false })
    expect(join(...min!)).toMatchObject({ holds: null })
  })
})
