import { describe, expect, test } from '@jest/globals'
import { LOCAL, REMOTE, makeSources, problemsOf, readGiven } from '../../support/gate/settings-sources.js'
import { readSettings } from '../../../src/gate/settings/settings.js'

const ONE = 'eu: { kubernetes: { namespace: load } }'
const TWO = `${ONE}\nhere: { processes: {} }`

describe('regions', () => {
  test('as text', async () => {
    const { regions } = await readGiven({ ...LOCAL, regions: ONE })
    expect([...(regions?.keys() ?? [])]).toEqual(['eu'])
    expect(regions?.get('eu')).toMatchObject({ kind: 'kubernetes', namespace: 'load' })
  })

  test.each([
    ['a map', 'regions:\n  eu: { kubernetes: { namespace: load } }'],
    ['text', 'regions: "eu: { kubernetes: { namespace: load } }"']
  ])('as %s of the config file', async (_, configText) => {
    const { regions } = await readGiven({ ...LOCAL, config: 'loadgate.yml' }, { configText })
    expect(regions?.get('eu')).toMatchObject({ kind: 'kubernetes', namespace: 'load' })
  })

  test('the input wins over the config file', async () => {
    const configText = 'regions: { us: { processes: {} } }'
    const { regions } = await readGiven({ ...LOCAL, regions: ONE, config: 'loadgate.yml' }, { configText })
    expect([...(regions?.keys() ?? [])]).toEqual(['eu'])
  })

  test('without them, every region is this machine', async () => {
    const { regions, origin } = await readGiven({ ...LOCAL, grids: '[{ region: far }]' })
    expect(regions).toBeUndefined()
    expect(origin).toMatchObject({ grids: [{ region: 'far' }] })
  })

  test('every problem is an input error, with its place', async () => {
    expect(
      await problemsOf({ ...LOCAL, regions: 'eu: { kubernetes: { images: x, host-network: perhaps } }' })
    ).toEqual([
      expect.stringMatching(
        /^regions: eu: kubernetes: unknown key images \(did you mean image\?\); known keys are /
      ),
      'regions: eu: kubernetes: host-network: this text is invalid; expected true or false'
    ])
  })

  test('what is no YAML is said', async () => {
    expect(await problemsOf({ ...LOCAL, regions: 'eu: { kubernetes' })).toEqual([
      expect.stringMatching(/^regions: is not YAML: /)
    ])
  })

  test('an empty key of the config file is an error', async () => {
    const problems = await problemsOf({ ...LOCAL, config: 'loadgate.yml' }, { configText: 'regions:' })
    expect(problems).toEqual(['config: loadgate.yml: regions has no value; set one, or remove the key'])
  })

  test('at a service are an error', async () => {
    expect(await problemsOf({ ...REMOTE, regions: ONE })).toEqual([
      'regions: is for base-url: local only; the service at base-url decides itself where its grids run. Remove one of the two'
    ])
  })

  test('with an address that may come from an empty variable are not', async () => {
    const given = { files: 'plan.jmx', regions: ONE, 'on-missing-token': 'skip' }
    expect(await readSettings(makeSources(given))).toHaveProperty('skip')
  })
})

describe('grids', () => {
  test('run in the only region by default', async () => {
    const { origin } = await readGiven({ ...LOCAL, regions: ONE })
    expect(origin).toMatchObject({ grids: [{ region: 'eu', nodeCount: 1 }] })
  })

  test('that do not say where run in the only region', async () => {
    const { origin } = await readGiven({ ...LOCAL, regions: ONE, grids: '[{ instance_quantity: 3 }]' })
    expect(origin).toMatchObject({ grids: [{ region: 'eu', nodeCount: 3 }] })
  })

  test('have to be given where there are several regions', async () => {
    expect(await problemsOf({ ...LOCAL, regions: TWO })).toEqual([
      'grids: is empty; say where to run, for example `- region: eu`: regions has eu, here'
    ])
    expect(await problemsOf({ ...LOCAL, regions: TWO, grids: '[{ instance_quantity: 3 }]' })).toEqual([
      'grids: element 1: missing region'
    ])
  })

  test('in another region are an error', async () => {
    expect(await problemsOf({ ...LOCAL, regions: TWO, grids: '[{ region: eu }, { region: us }]' })).toEqual([
      'grids: element 2: region "us" is not in regions, which has eu, here'
    ])
  })

  test('are checked where a place has a problem, too', async () => {
    const given = { ...LOCAL, regions: 'eu: { kubernetes: { image: "a b" } }', grids: '[{ region: us }]' }
    expect(await problemsOf(given)).toHaveLength(2)
  })

  test('by uuid are as without regions', async () => {
    const { origin } = await readGiven({ ...LOCAL, regions: TWO, grids: '[g1]' })
    expect(origin).toMatchObject({ grids: [{ id: 'g1' }] })
  })
})
