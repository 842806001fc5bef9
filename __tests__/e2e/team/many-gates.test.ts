import { afterEach, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Doc } from '../../service/support.js'
import { slice } from '../../support/slice.js'
import { type Command, follow } from '../cli-command.js'
import { GRID, type Person, TeamService } from './team-service.js'

const AT_ONCE = slice(6, 20)
const IN_A_ROW = slice(8, 100)
const HOLDS = ['--thresholds', 'p95 < 9s']
const BREAKS = ['--thresholds', 'p95 < 1ms']

let team: TeamService | undefined
afterEach(() => team?.remove())

const nameOf = (index: number): string => String(index).padStart(3, '0')
const isToFail = (index: number): boolean => index % 4 === 3

/** Each gate has exactly one run, it ended well, and it belongs to whoever started it. */
async function expectOneRunEach(
  service: TeamService,
  admin: Person,
  owners: readonly string[]
): Promise<void> {
  const runs = (await service.listRuns(admin)) as (Doc & { tag_list?: unknown; user?: unknown })[]
  expect(runs.map(({ name }) => name).sort()).toEqual(owners.map((_, index) => nameOf(index)))
  expect(new Set(runs.map(({ uuid }) => uuid)).size).toBe(owners.length)
  expect(runs.filter(({ status }) => status !== 'finished')).toEqual([])
  expect(readdirSync(join(service.dataDir, 'uploads'))).toEqual([])
  expect(readdirSync(join(service.dataDir, 'runs')).sort()).toEqual(runs.map(({ uuid }) => uuid).sort())
}

test(`${AT_ONCE} gates at once, in as many processes: each has its run and its verdict`, async () => {
  team = await TeamService.create({ config: 'max-nodes: 2' })
  const service = team
  await service.start()
  const people = [
    await service.addUser('ann', 'member'),
    await service.addUser('ben', 'member'),
    await service.addUser('cleo', 'admin')
  ]
  const owners = Array.from({ length: AT_ONCE }, (_, index) => people[index % people.length]!)
  const gates = owners.map((owner, index): Command => {
    const flags = isToFail(index) ? BREAKS : HOLDS
    return service.startGate(owner, nameOf(index), ['--duration', '5s', ...flags])
  })
  const ended = await Promise.all(gates.map((gate) => gate.ended))
  expect(
    ended.map(({ code, err }, index) => [code, isToFail(index) ? '' : (/error.*/i.exec(err)?.[0] ?? '')])
  ).toEqual(ended.map((_, index) => [isToFail(index) ? 1 : 0, '']))
  const verdicts = owners.map((_, index) => service.verdictOf(nameOf(index)).verdict)
  expect(verdicts).toEqual(owners.map((_, index) => (isToFail(index) ? 'failed' : 'passed')))
  await expectOneRunEach(
    service,
    people[2]!,
    owners.map(({ name }) => name)
  )
}, 240_000)

test(`${IN_A_ROW} gates in a row: none is lost, none runs twice`, async () => {
  team = await TeamService.create()
  await team.start()
  const admin = await team.addUser('cleo', 'admin')
  const gates = Array.from({ length: IN_A_ROW }, (_, index) => ({
    name: nameOf(index),
    flags: ['--grids', GRID, '--duration', '5s', ...(isToFail(index) ? BREAKS : HOLDS)]
  }))
  const hooks = resolve('__tests__/support/typescript-hooks.mjs')
  const script = resolve('__tests__/e2e/team/gates-in-a-row.mjs')
  const options = JSON.stringify({ url: team.url, token: admin.token, folder: team.folder, gates })
  const row = follow(
    spawn(
      process.execPath,
      ['--experimental-transform-types', '--no-warnings', '--import', hooks, script, options],
      {
        stdio: ['ignore', 'pipe', 'pipe'],
        env: { ...process.env, NODE_EXTRA_CA_CERTS: join(team.folder, 'cert.pem') }
      }
    )
  )
  const { out, err } = await row.ended
  const lines = out.trim().split('\n').filter(Boolean)
  const ended = lines.map((line) => JSON.parse(line) as { name: string; code: number; text: string })
  expect(err).toBe('')
  expect(ended.filter(({ code }, index) => code !== (isToFail(index) ? 1 : 0))).toEqual([])
  await expectOneRunEach(
    team,
    admin,
    gates.map(() => admin.name)
  )
}, 240_000)
