import { describe, expect, test } from '@jest/globals'
import { toJsonSchema } from '@valibot/to-json-schema'
import type { GenericSchema } from 'valibot'
import {
  gridReference,
  gridRequest,
  readParameters,
  runRequest,
  thresholdsRequest
} from '../../../src/contract/api/requests.js'
import { OPTIONAL_GRID_KEYS, REQUIRED_GRID_KEYS, vocabularyOf } from '../../../src/contract/vocabulary.js'

const GRID = {
  ...{ region: 'us-east-1', instance_quantity: '2', stop_after: '6.0' },
  ...{ infrastructure: 'demand', instance_type: 'm5.large' }
}
const run = runRequest(vocabularyOf('acme'))

describe('as a description of the API', () => {
  test.each<[string, GenericSchema]>([
    ['a grid', gridRequest],
    ['a reference', gridReference],
    ['a run', run],
    ['thresholds', thresholdsRequest]
  ])('%s: each parameter has a description, and none of it is lost', (_name, schema) => {
    // A pattern with flags, that of project names, cannot be written down there.
    const { properties = {} } = toJsonSchema(schema, {
      ...{ typeMode: 'output', errorMode: 'throw', ignoreActions: ['regex'] }
    })
    expect(Object.keys(properties)).not.toEqual([])
    for (const [key, value] of Object.entries(properties))
      expect([key, value]).toEqual([
        key,
        expect.objectContaining({ description: expect.stringMatching(/\.$/) })
      ])
  })

  test('a number is a number with its limits', () => {
    const { properties, required } = toJsonSchema(gridRequest, { typeMode: 'output' })
    expect(properties?.stop_after).toMatchObject({ type: 'integer', minimum: 1, maximum: 2880 })
    expect(properties?.infrastructure).toMatchObject({ enum: ['demand', 'hosted'] })
    // The service has a default for each of them.
    expect(required ?? []).toEqual([])
    expect(Object.keys(properties ?? {}).sort()).toEqual(
      [...REQUIRED_GRID_KEYS, ...OPTIONAL_GRID_KEYS].sort()
    )
  })
})

describe('what is sent', () => {
  test('texts of forms become what they stand for', () => {
    expect(readParameters(gridRequest, { ...GRID, aws_tags: '', aws_spot_price: '0.5', other: '1' })).toEqual(
      {
        values: { ...GRID, instance_quantity: 2, stop_after: 6, aws_spot_price: 0.5 },
        problems: []
      }
    )
  })

  test.each(['6', '6.0', '6.', '06', 6])('%p minutes are six', (stop_after) => {
    expect(readParameters(gridRequest, { ...GRID, stop_after }).values.stop_after).toBe(6)
  })

  test.each(['6.5', '6e0', '0x6', '-6', '6,0', 6.5, '99999999999'])('%p minutes are none', (stop_after) => {
    expect(readParameters(gridRequest, { ...GRID, stop_after }).problems).toEqual([
      `stop_after must be a whole number from 1 to 2880, not "${stop_after}"`
    ])
  })

  test.each(['jmeter', 'jmeter-5.6.3', 'acme-chrome', 'service-chrome-1.2', 'java-selenium-firefox-4.1'])(
    'the tool %s is one',
    (tool) => {
      expect(readParameters(run, { tool, grids: ['abc'] })).toEqual({
        values: { tool, grids: ['abc'] },
        problems: []
      })
    }
  )

  test.each(['jmeter5', 'jmeter-', 'chrome', 'xjmeter-5'])('the tool %s is none', (tool) => {
    expect(readParameters(run, { tool, grids: ['abc'] }).problems).toEqual([
      `tool must be one of jmeter, gatling, java-selenium-chrome, java-selenium-firefox, acme-chrome, k6, not "${tool}"`
    ])
  })

  test('every problem is told, and what is right is read', () => {
    const { values, problems } = readParameters(gridRequest, {
      ...GRID,
      ...{ region: ['a'], infrastructure: 'cloud', instance_type: '', aws_spot_price: 'cheap' }
    })
    expect(problems).toEqual([
      'region must be a single string',
      'infrastructure must be demand or hosted, not "cloud"',
      'aws_spot_price must be a number, not "cheap"'
    ])
    expect(values).toEqual({ instance_quantity: 2, stop_after: 6 })
  })
})
