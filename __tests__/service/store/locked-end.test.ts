import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { type Clock, systemClock } from '../../../src/contract/clock.js'
import { openQueue } from '../../../src/service/accounts/open-queue.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { createKillable } from '../killable-service.js'
import { createServedTeams } from '../quotas/served-team.js'
import { createWorld, type World } from '../runs/surviving-world.js'
import { createRun, get, readRun, send, until, waitForStatus } from '../support.js'

const teams = createServedTeams()
const killable = createKillable()
let world: World
beforeEach(() => {
  world = createWorld(teams.folder())
})
afterEach(async () => {
  world.release()
  killable.killAll()
  await teams.closeAll()
})

/** Ten seconds of patience take half a second. */
const hasty: Clock = {
  ...systemClock,
  steady: () => performance.now() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal)
}

/** As another process that is writing, until it is rolled back. */
function lock(dataDir: string): DatabaseSync {
  const database = openDatabase(dataDir)
  database.exec('BEGIN IMMEDIATE')
  return database
}

function release(database: DatabaseSync): void {
  database.exec('ROLLBACK')
  database.close()
}

const CLOSED = 'The service was closed during this run.'

test('a service that ends while another process is writing waits for it, and records how its runs have ended', async () => {
  const team = await teams.start('drain: 0', { world })
  const id = await createRun(team.as('shop'))
  await until(() => world.starts() === 1)
  const other = lock(team.dataDir)
  const closing = team.close()
  await until(() => readFileSync(join(team.dataDir, 'audit.jsonl'), 'utf8').includes('service.stop'))
  // What comes next is done with the next turn.
  await new Promise((resolve) => setImmediate(resolve))
  release(other)
  await closing
  expect(readRun(team.dataDir, id)).toMatchObject({ status: 'problem', remoteErrors: CLOSED, samples: 1 })
})

test('one that waits too long says so, and the next start ends its runs, with their samples', async () => {
  const folder = teams.folder()
  const team = await teams.start('drain: 0', { world, folder, clock: hasty })
  const id = await createRun(team.as('shop'))
  await until(() => world.starts() === 1)
  const other = lock(team.dataDir)
  await team.close()
  release(other)
  expect(team.lines.join('\n')).toContain('its next start has to find out how runs have ended')
  expect(readRun(team.dataDir, id).status).toBe('running')
  const next = await teams.start('drain: 0', { world, folder })
  expect((await get(next.as('shop'), `/runs/${id}`)).json.status).toBe('problem')
  expect((await get(next.as('shop'), `/runs/${id}/result.csv`)).text).toContain('before')
  expect(world.starts()).toBe(1)
})

test('a waiting run that was stopped meanwhile, before a kill, holds nothing, and does not start', async () => {
  const dataDir = teams.folder()
  const first = await killable.start(dataDir, world.home, undefined, 1)
  const [, stopped, waiting] = [await createRun(first), await createRun(first), await createRun(first)]
  await until(() => world.starts() === 1)
  const other = lock(dataDir)
  send(first, 'POST', `/runs/${stopped}/stop`).catch(() => undefined)
  await until(() => existsSync(join(dataDir, 'runs', stopped, 'results')))
  await first.kill()
  release(other)
  world.release()
  const next = await killable.start(dataDir, world.home, undefined, 1)
  const queue = openQueue(dataDir, () => undefined)
  expect(queue.why()).toBeUndefined()
  queue.close()
  const { json } = await waitForStatus(next, `/runs/${stopped}`, ['finished', 'problem'])
  expect(json.remote_errors).toMatch(/^This run has run before, or was stopped, although the database has it/)
  await waitForStatus(next, `/runs/${waiting}`, ['finished'])
  expect(world.starts()).toBe(2)
})
