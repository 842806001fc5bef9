import { describe, expect, test } from '@jest/globals'
import { readGridList } from '../../../src/gate/settings/grid-list.js'

const ELEMENT = {
  region: 'us-east-1',
  instance_quantity: '2',
  instance_type: 'm4.large',
  infrastructure: 'demand',
  stop_after: '60'
}
const SPECIFICATION = {
  region: 'us-east-1',
  nodeCount: 2,
  instanceType: 'm4.large',
  infrastructure: 'demand',
  stopAfterMinutes: 60,
  options: {}
}
const REMOTE = { defaults: {}, durationSeconds: undefined }

async function problemsOf(changes: Record<string, unknown>, durationSeconds?: number): Promise<string[]> {
  const list = [{ ...ELEMENT, ...changes }]
  const { problems } = await readGridList(list, { defaults: {}, durationSeconds })
  return problems
}

describe('the forms of the list', () => {
  test.each([
    [
      'YAML',
      '- region: us-east-1\n  instance_quantity: 2\n  instance_type: m4.large\n  infrastructure: demand\n  stop_after: 60'
    ],
    ['JSON', JSON.stringify([ELEMENT])],
    [
      'JSON with numbers',
      '[{"region":"us-east-1","instance_quantity":2,"instance_type":"m4.large","infrastructure":"demand","stop_after":60}]'
    ]
  ])('%s', async (_, text) => {
    expect(await readGridList(text, REMOTE)).toEqual({ grids: [SPECIFICATION], problems: [] })
  })

  test('a value of a config file', async () => {
    expect(await readGridList([ELEMENT], REMOTE)).toEqual({ grids: [SPECIFICATION], problems: [] })
  })

  test('references, bare or by key, keep their spelling', async () => {
    expect(await readGridList('- uuid: 00123\n- 123e45\n- 0x1F\n- "1_000"', REMOTE)).toEqual({
      grids: [{ id: '00123' }, { id: '123e45' }, { id: '0x1F' }, { id: '1_000' }],
      problems: []
    })
    expect((await readGridList('["00123", {"uuid": "123e45"}]', REMOTE)).grids).toEqual([
      { id: '00123' },
      { id: '123e45' }
    ])
  })

  test('references and specifications may be mixed', async () => {
    expect(await readGridList(['abc', ELEMENT], REMOTE)).toEqual({
      grids: [{ id: 'abc' }, SPECIFICATION],
      problems: []
    })
  })

  test('every optional key is kept under its own name', async () => {
    const options = {
      aws_platform: 'ec2_default_vpc',
      aws_tags: 'a=b,c=d',
      aws_availability_zone: 'us-east-1a',
      aws_spot_price: '0.25',
      credential_id: '007',
      azure_tenant_id: 't',
      aws_arn: 'arn:aws:iam::1:role/x',
      aws_vpc_identifier: 'vpc-1',
      aws_vpc_subnet_public: 'subnet-1',
      aws_vpc_subnet_private: 'subnet-2',
      aws_vpc_security_groups: 'sg-1'
    }
    expect(await readGridList([{ ...ELEMENT, infrastructure: 'hosted', ...options }], REMOTE)).toEqual({
      grids: [{ ...SPECIFICATION, infrastructure: 'hosted', options }],
      problems: []
    })
  })

  test('regions and instance types that the document does not list are let through', async () => {
    expect(await problemsOf({ region: 'mars-north-1', instance_type: 'z9.huge' })).toEqual([])
  })
})

describe('what is wrong with a list', () => {
  const SHAPE = 'must be a list of grids, each a specification or a reference (`uuid: …`)'
  test.each([
    ['text', 'hello', SHAPE],
    ['a map', 'region: us-east-1', SHAPE],
    ['an empty list', '[]', SHAPE],
    ['a list in a list', '[[a]]', 'element 1: must be a map of keys, or the uuid of an existing grid'],
    [
      'a path for an id',
      '["../../x"]',
      `element 1: "../../x" is not a grid's uuid; use only letters, digits, - and _`
    ],
    ['an empty id', '- uuid: ""', `element 1: "" is not a grid's uuid; use only letters, digits, - and _`]
  ])('%s', async (_, text, problem) => {
    expect((await readGridList(text, REMOTE)).problems).toEqual([problem])
  })

  test('text that is neither YAML nor JSON', async () => {
    expect(await readGridList('[{', REMOTE)).toEqual({
      grids: [],
      problems: [expect.stringMatching(/^is not YAML or JSON: \S/)]
    })
  })

  test('a reference takes no other key', async () => {
    expect((await readGridList([{ uuid: 'a', region: 'r' }], REMOTE)).problems).toEqual([
      'element 1: a reference by uuid takes no other keys, found region'
    ])
  })

  test('every bad element is told by its number', async () => {
    const { problems } = await readGridList(['ok', { ...ELEMENT, stop_after: '0' }, '!'], REMOTE)
    expect(problems).toEqual([
      'element 2: stop_after: "0" is invalid; expected a whole number from 1 to 2880',
      `element 3: "!" is not a grid's uuid; use only letters, digits, - and _`
    ])
  })
})

describe('what is wrong with a specification', () => {
  test.each(['infrastructure', 'region', 'instance_quantity', 'instance_type', 'stop_after'])(
    'it lacks %s',
    async (key) => {
      expect(await problemsOf({ [key]: '' })).toEqual([`element 1: missing ${key}`])
    }
  )

  test('it lacks several', async () => {
    expect((await readGridList([{ region: 'r' }], REMOTE)).problems).toEqual([
      'element 1: missing infrastructure, instance_quantity, instance_type, stop_after'
    ])
  })

  test.each([
    ['stop_after', '0', 'a whole number from 1 to 2880'],
    ['stop_after', '2881', 'a whole number from 1 to 2880'],
    ['stop_after', '1h', 'a whole number from 1 to 2880'],
    ['instance_quantity', '0', 'a whole number, at least 1'],
    ['instance_quantity', 'two', 'a whole number, at least 1'],
    ['infrastructure', 'shared', 'one of demand, hosted'],
    ['aws_spot_price', 'cheap', 'a decimal number']
  ])('%s of %s', async (key, value, accepted) => {
    expect(await problemsOf({ [key]: value })).toEqual([
      `element 1: ${key}: "${value}" is invalid; expected ${accepted}`
    ])
  })

  test.each(['1', '2880'])('stop_after of %s is taken', async (value) => {
    expect(await problemsOf({ stop_after: value })).toEqual([])
  })

  test('an unknown key', async () => {
    const [problem] = await problemsOf({ regions: 'x' })
    expect(problem).toMatch(
      /^element 1: unknown key regions \(did you mean region\?\); known keys are uuid, infrastructure, region, /
    )
  })

  test('a key that is not plain', async () => {
    expect(await problemsOf({ aws_tags: ['a'] })).toEqual(['element 1: aws_tags must be a plain value'])
  })

  test('a key with the name of something every object has', async () => {
    expect(await problemsOf({ constructor: 'x' })).toEqual([
      expect.stringMatching(/^element 1: unknown key constructor;/)
    ])
  })

  test('a stop_after shorter than the duration; just as long is enough', async () => {
    expect(await problemsOf({ stop_after: '10' }, 601)).toEqual([
      'element 1: stop_after of 10 min is shorter than the duration of 601 s: the grid would end before the run'
    ])
    expect(await problemsOf({ stop_after: '10' }, 600)).toEqual([])
  })
})

describe('defaults', () => {
  const defaults = { ...ELEMENT, region: 'local' }

  test('fill what is missing and nothing else', async () => {
    const { grids, problems } = await readGridList([{ instance_quantity: '5' }], {
      defaults,
      durationSeconds: undefined
    })
    expect(problems).toEqual([])
    expect(grids).toEqual([{ ...SPECIFICATION, region: 'local', nodeCount: 5 }])
  })

  test('a bad value is no missing one', async () => {
    const { problems } = await readGridList([{ stop_after: '0' }], { defaults, durationSeconds: undefined })
    expect(problems).toHaveLength(1)
  })
})
