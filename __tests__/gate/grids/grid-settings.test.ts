import { describe, expect, test } from '@jest/globals'
import { readGridStartSettings, readGridStopSettings } from '../../../src/gate/grids/grid-settings.js'
import { SettingsError } from '../../../src/gate/errors.js'

const SPEC =
  '{ region: us-east-1, instance_quantity: 2, instance_type: m5.large, infrastructure: demand, stop_after: 60 }'
const GIVEN = { 'base-url': 'https://load.example.com', token: 'abc', grids: `[${SPEC}]` }
const reader =
  (inputs: Readonly<Record<string, string>>) =>
  (name: string): string =>
    inputs[name] ?? ''
const start = (changes: Record<string, string> = {}): ReturnType<typeof readGridStartSettings> =>
  readGridStartSettings(reader({ ...GIVEN, ...changes }))
const stop = (changes: Record<string, string> = {}): ReturnType<typeof readGridStopSettings> =>
  readGridStopSettings(reader({ ...GIVEN, grids: '[{"uuid":"a1"}]', ...changes }))

async function problemsOf(read: () => Promise<unknown>): Promise<readonly string[]> {
  try {
    await read()
  } catch (thrown) {
    return thrown instanceof SettingsError ? thrown.problems : [String(thrown)]
  }
  return []
}

describe('grid-start', () => {
  test('takes specifications, waits 15 minutes and keeps nothing, unless told otherwise', async () => {
    expect(await start()).toEqual({
      service: {
        address: { api: 'https://load.example.com', origin: 'https://load.example.com' },
        token: 'abc',
        serviceName: undefined
      },
      grids: [
        {
          infrastructure: 'demand',
          region: 'us-east-1',
          nodeCount: 2,
          instanceType: 'm5.large',
          stopAfterMinutes: 60,
          options: {}
        }
      ],
      timeoutMs: 900_000,
      keep: false
    })
    expect(await start({ timeout: '90s', keep: 'true', 'service-name': 'acme' })).toMatchObject({
      service: { serviceName: 'acme' },
      timeoutMs: 90_000,
      keep: true
    })
  })

  test('reports every problem at once', async () => {
    const problems = await problemsOf(() =>
      start({
        'base-url': 'http://load.example.com',
        token: 'a b',
        grids: '- a1\n- { stop_after: soon }',
        timeout: 'soon',
        'service-name': 'A B',
        keep: 'perhaps'
      })
    )
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'base-url',
      'token',
      'service-name',
      'grids',
      'timeout',
      'keep',
      'grids'
    ])
    expect(problems.at(-1)).toContain(
      '"a1" is the uuid of an existing grid, and grid-start only creates grids'
    )
  })

  test.each([
    ['base-url', '', 'is empty'],
    ['token', '', 'is empty'],
    ['grids', '[]', 'must be a list of grids'],
    ['grids', `- uuid: a1\n- ${SPEC}`, 'only creates grids'],
    ['base-url', 'local', 'the embedded service ends with its step']
  ])('%s "%s" is an error', async (name, value, words) => {
    expect(await problemsOf(() => start({ [name]: value }))).toEqual([
      expect.stringMatching(new RegExp(`^${name}: .*${words}`))
    ])
  })

  test('an empty list is one grid, of which the service chooses everything', async () => {
    expect((await start({ grids: '' })).grids).toEqual([
      expect.objectContaining({ region: '', nodeCount: 1, leftOut: expect.arrayContaining(['region']) })
    ])
  })

  test('local says what to use instead', async () => {
    await expect(start({ 'base-url': 'local' })).rejects.toThrow('loadgate serve')
  })

  test('no message quotes a password of the address', async () => {
    const problems = await problemsOf(() => start({ 'base-url': 'https://me:secret@load.example.com' }))
    expect(problems).toEqual([expect.stringContaining('***@load.example.com')])
    expect(problems.join()).not.toContain('secret')
  })
})

describe('grid-stop', () => {
  test('takes the output of grid-start, and bare uuids, each once', async () => {
    expect(await stop({ grids: '["a1", {"uuid": "b2"}, {"uuid": "a1"}]' })).toMatchObject({
      ids: ['a1', 'b2'],
      timeoutMs: 600_000
    })
  })

  test.each(['', '[]', '[ ]'])('grids "%s": nothing to stop, whatever else is missing', async (grids) => {
    expect(await stop({ grids, token: '', 'base-url': '' })).toBeUndefined()
  })

  test('reports every problem at once', async () => {
    const problems = await problemsOf(() =>
      stop({ grids: `[${SPEC}]`, token: '', 'base-url': 'local', timeout: '0' })
    )
    expect(problems.map((problem) => problem.split(':')[0])).toEqual([
      'base-url',
      'token',
      'timeout',
      'grids'
    ])
  })
})
