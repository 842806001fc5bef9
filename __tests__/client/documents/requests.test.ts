import { describe, expect, test } from '@jest/globals'
import type { Field } from '../../../src/client/http/multipart.js'
import { multipartOf } from '../../../src/client/http/multipart.js'
import type { GridChoice } from '../../../src/client/documents/requests.js'
import { gridFields, isReference, runFields } from '../../../src/client/documents/requests.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { makeGridSpecification, makeRunRequest } from '../../support/data/make-run-request.js'
import type { WirePart } from '../../support/raw-multipart.js'
import { readMultipart, readRackList } from '../../support/raw-multipart.js'

const words = vocabularyOf()

async function overTheWire(fields: readonly Field[]): Promise<WirePart[]> {
  const upload = await multipartOf('asking', fields, [])
  const chunks: Uint8Array[] = []
  for await (const chunk of upload.open()) chunks.push(chunk)
  return readMultipart(upload.contentType, Buffer.concat(chunks))
}

const US = makeGridSpecification()
const EU = makeGridSpecification({
  infrastructure: 'hosted',
  region: 'eu-west-1',
  nodeCount: 1,
  stopAfterMinutes: 30,
  options: { credential_id: '00123', aws_tags: 'team=shop,env=ci' }
})

describe('grids arrive as the elements they were', () => {
  test.each<[string, GridChoice[], Record<string, string>[]]>([
    [
      'specifications',
      [US, EU, US],
      [
        {
          infrastructure: 'demand',
          region: 'us-east-1',
          instance_quantity: '2',
          instance_type: 'm5.large',
          stop_after: '60'
        },
        {
          infrastructure: 'hosted',
          region: 'eu-west-1',
          instance_quantity: '1',
          instance_type: 'm5.large',
          stop_after: '30',
          credential_id: '00123',
          aws_tags: 'team=shop,env=ci'
        },
        {
          infrastructure: 'demand',
          region: 'us-east-1',
          instance_quantity: '2',
          instance_type: 'm5.large',
          stop_after: '60'
        }
      ]
    ],
    ['references', [{ id: 'A' }, { id: 'B' }], [{ uuid: 'A' }, { uuid: 'B' }]]
  ])('%s', async (_, grids, elements) => {
    const parts = await overTheWire(runFields(makeRunRequest({ grids }), words))
    expect(readRackList(parts, 'run[grids]')).toEqual(elements)
  })

  test('each specification starts with infrastructure', () => {
    const names = runFields(makeRunRequest({ grids: [US, EU] }), words).map(({ name }) => name)
    const grids = names.filter((name) => name.startsWith('run[grids]'))
    expect([grids[0], grids[5]]).toEqual(Array(2).fill('run[grids][][infrastructure]'))
  })

  test("the rule itself merges what it merges in the service's hands", async () => {
    const mixed = await overTheWire(runFields(makeRunRequest({ grids: [{ id: 'A' }, US] }), words))
    expect(readRackList(mixed, 'run[grids]')).toHaveLength(1)
  })
})

describe('the fields of a run', () => {
  const valuesOf = (fields: readonly Field[]): Record<string, string> =>
    Object.fromEntries(fields.map(({ name, value }) => [name, value]))

  test('are all there', () => {
    const fields = runFields(
      makeRunRequest({
        tool: 'service-chrome',
        grids: [],
        notes: 'two\nlines',
        project: 'Shop',
        tags: ['nightly', 'loadgate-1'],
        privacy: 'public',
        threads: 0,
        rampupSeconds: 30,
        durationSeconds: 600,
        overrideHosts: 'a.example/10.0.0.1',
        overrideParameters: '-Jx=1'
      }),
      words
    )
    expect(valuesOf(fields)).toEqual({
      'run[tool]': 'service-chrome',
      'run[name]': 'Shop',
      'run[notes]': 'two\nlines',
      'run[project]': 'Shop',
      'run[tag_list]': 'nightly,loadgate-1',
      'run[privacy_flag]': 'public',
      'run[privacy]': 'public',
      'run[threads]': '0',
      'run[rampup]': '30',
      'run[duration]': '600',
      'run[override_hosts]': 'a.example/10.0.0.1',
      'run[override_parameters]': '-Jx=1'
    })
  })

  test('are left out when nothing was given', () => {
    expect(valuesOf(runFields(makeRunRequest({ grids: [] }), words))).toEqual({
      'run[tool]': 'jmeter',
      'run[name]': 'Shop',
      'run[privacy_flag]': 'private',
      'run[privacy]': 'private'
    })
  })

  test("carry the service's own word", () => {
    const fields = runFields(makeRunRequest({ tool: 'service-chrome' }), vocabularyOf('acme'))
    expect(fields[0]).toEqual({ name: 'acme[tool]', value: 'acme-chrome' })
    expect(fields.map(({ name }) => name)).toContain('acme[grids][][infrastructure]')
    expect(fields.filter(({ name }) => !name.startsWith('acme['))).toEqual([])
  })
})

test('a grid of its own has every key', () => {
  expect(gridFields(EU)).toEqual([
    { name: 'grid[infrastructure]', value: 'hosted' },
    { name: 'grid[region]', value: 'eu-west-1' },
    { name: 'grid[instance_quantity]', value: '1' },
    { name: 'grid[instance_type]', value: 'm5.large' },
    { name: 'grid[stop_after]', value: '30' },
    { name: 'grid[credential_id]', value: '00123' },
    { name: 'grid[aws_tags]', value: 'team=shop,env=ci' }
  ])
})

test('a reference is known by its id', () => {
  expect([isReference({ id: 'A' }), isReference(US)]).toEqual([true, false])
})
