import { describe, expect, test } from '@jest/globals'
import { nestParams, paramsFromJson } from '../../../src/service/api/nested-params.js'

const nest = (...fields: (readonly [string, string])[]): unknown =>
  JSON.parse(JSON.stringify(nestParams(fields)))
const spec = (region: string): (readonly [string, string])[] => [
  ['run[grids][][infrastructure]', 'demand'],
  ['run[grids][][region]', region]
]

describe("Rack's rule for lists of groups", () => {
  test.each([
    {
      sent: 'two specifications with the same keys',
      fields: [...spec('a'), ...spec('b')],
      grids: [
        { infrastructure: 'demand', region: 'a' },
        { infrastructure: 'demand', region: 'b' }
      ]
    },
    {
      sent: 'two uuids',
      fields: [['run[grids][][uuid]', 'A'] as const, ['run[grids][][uuid]', 'B'] as const],
      grids: [{ uuid: 'A' }, { uuid: 'B' }]
    },
    {
      sent: 'a uuid, then a specification: one merged element',
      fields: [['run[grids][][uuid]', 'A'] as const, ...spec('a')],
      grids: [{ uuid: 'A', infrastructure: 'demand', region: 'a' }]
    },
    {
      sent: 'a specification, then a uuid: one merged element',
      fields: [...spec('a'), ['run[grids][][uuid]', 'A'] as const],
      grids: [{ infrastructure: 'demand', region: 'a', uuid: 'A' }]
    },
    {
      sent: 'all of one key, then all of the other: broken elements',
      fields: [
        ...spec('a').slice(0, 1),
        ...spec('b').slice(0, 1),
        ...spec('a').slice(1),
        ...spec('b').slice(1)
      ],
      grids: [{ infrastructure: 'demand' }, { infrastructure: 'demand', region: 'a' }, { region: 'b' }]
    }
  ])('$sent', ({ fields, grids }) => {
    expect(nest(...fields)).toEqual({ run: { grids } })
  })
})

describe('other forms of names', () => {
  test.each([
    { fields: [['a', '1'] as const], params: { a: '1' } },
    { fields: [['a[]', '1'] as const, ['a[]', '2'] as const], params: { a: ['1', '2'] } },
    {
      fields: [['a[b][c]', '1'] as const, ['a[b][d]', '2'] as const],
      params: { a: { b: { c: '1', d: '2' } } }
    },
    {
      fields: [['a[][b][c]', '1'] as const, ['a[][b][c]', '2'] as const],
      params: { a: [{ b: { c: '1' } }, { b: { c: '2' } }] }
    },
    { fields: [['a', '1'] as const, ['a', '2'] as const], params: { a: '2' } },
    { fields: [['', '1'] as const, ['[]', '2'] as const], params: {} }
  ])('$fields', ({ fields, params }) => {
    expect(nest(...fields)).toEqual(params)
  })

  test('a name that is a list and a value at once is refused', () => {
    expect(() => nest(['a', '1'], ['a[]', '2'])).toThrow('a is used as a list, but was a single value before')
    expect(() => nest(['a[]', '1'], ['a[b]', '2'])).toThrow(
      'a is used as a group of keys, but was a list before'
    )
  })

  test('the prototype cannot be reached', () => {
    nestParams([
      ['__proto__[polluted]', 'yes'],
      ['constructor[prototype][polluted]', 'yes']
    ])
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
  })

  test('nesting has an end', () => {
    expect(() => nest([`a${'[b]'.repeat(100)}`, '1'])).toThrow('nested too deeply')
  })
})

describe('JSON bodies', () => {
  test('numbers and booleans become text, null is an absent key', () => {
    const params = paramsFromJson({ run: { threads: 5, name: null, on: true, grids: ['A', { uuid: 'B' }] } })
    expect(JSON.parse(JSON.stringify(params))).toEqual({
      run: { threads: '5', on: 'true', grids: ['A', { uuid: 'B' }] }
    })
  })

  test.each([[[]], ['text'], [3], [null]])('%j is not a group of parameters', (body) => {
    expect(() => paramsFromJson(body)).toThrow('must be an object')
  })
})
