import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messageOf } from '../../src/contract/text.js'
import type { Regions } from '../../src/contract/regions/regions.js'
import { runCommandLine } from '../../src/cli/commands.js'
import { makeCommandPorts } from './command-ports.js'

const YAML = 'eu: { kubernetes: { namespace: load } }'
let workspace: string

beforeAll(() => {
  workspace = mkdtempSync(join(tmpdir(), 'loadgate-regions-'))
  writeFileSync(join(workspace, 'regions.yml'), `${YAML}\n`)
  writeFileSync(join(workspace, 'broken.yml'), 'eu: { kubernetes: { name: x, host-network: perhaps } }\n')
  writeFileSync(join(workspace, 'plan.jmx'), '<jmeterTestPlan/>')
  writeFileSync(join(workspace, 'loadgate.yml'), `files: plan.jmx\nregions:\n  ${YAML}\n`)
})
afterAll(() => rmSync(workspace, { recursive: true }))

/** How the command ends, and with which regions it would start a service. */
async function start(...args: string[]): Promise<{ end: unknown; regions: (Regions | undefined)[] }> {
  const regions: (Regions | undefined)[] = []
  const refuse = (given: Regions | undefined): Promise<never> => {
    regions.push(given)
    return Promise.reject(new Error('not here'))
  }
  const ports = makeCommandPorts({
    workspace,
    findFiles: () => (pattern) => Promise.resolve([join(workspace, pattern)]),
    startLocalService: (request) => refuse(request.regions?.places),
    serve: (options) => refuse(options.setUp.regions)
  })
  return { end: await runCommandLine(args, ports).catch(messageOf), regions }
}

const FORMS = [
  { form: 'run', args: ['run', '--files', 'plan.jmx'] },
  { form: 'serve', args: ['serve'] }
]

describe.each(FORMS)('loadgate $form --regions', ({ args }) => {
  test.each([
    ['a file', 'regions.yml'],
    ['YAML', YAML]
  ])('with %s', async (_, given) => {
    const { regions } = await start(...args, '--regions', given)
    expect(regions).toHaveLength(1)
    expect(regions[0]?.get('eu')).toMatchObject({ kind: 'kubernetes', namespace: 'load' })
  })

  test('is not needed', async () => {
    expect(await start(...args)).toMatchObject({ regions: [undefined] })
  })

  test('with a file that does not exist is a usage error', async () => {
    expect(await start(...args, '--regions', 'none.yml')).toEqual({
      end: '--regions: there is no file "none.yml"',
      regions: []
    })
  })

  test.each(['{}', '[a]', ' { }'])(
    'with %s, which is no map of regions, says what it must be',
    async (given) => {
      const { end, regions } = await start(...args, '--regions', given)
      expect(end).toMatch(/regions: must be a map from the names of regions to places/)
      expect(regions).toEqual([])
    }
  )

  test('every problem is said, and nothing is started', async () => {
    const { end, regions } = await start(...args, '--regions', 'broken.yml')
    expect(end).toMatch(
      /regions: eu: kubernetes: unknown key name; known keys are context, .*\n.*host-network/
    )
    expect(regions).toEqual([])
  })

  test('has no effect on a rehearsal', async () => {
    expect(await start(...args, '--regions', 'regions.yml', '--rehearse')).toEqual({
      end: '--regions would have no effect together with --rehearse, which generates no load; remove one of the two',
      regions: []
    })
  })
})

test('a rehearsal starts nothing on the clusters of a config file', async () => {
  expect(await start('run', '--config', 'loadgate.yml', '--rehearse')).toMatchObject({ regions: [undefined] })
  const { regions } = await start('run', '--config', 'loadgate.yml')
  expect(regions[0]?.has('eu')).toBe(true)
})
