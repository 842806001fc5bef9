import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { cpSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '../../../src/service/store/database.js'
import { openQueue } from '../../../src/service/accounts/open-queue.js'
import { createKillable } from '../../service/killable-service.js'
import { createServedTeams, type ServedTeam } from '../../service/quotas/served-team.js'
import { createWorld, type World } from '../../service/runs/surviving-world.js'
import { createRun, get, send, until, waitForStatus } from '../../service/support.js'

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

const ENDED = ['finished', 'problem']
const KEYS = 'max-nodes: 1\ndrain: 0\n'
const HELD = /the queue is held: .*restored from an older copy.* `loadgate queue resume`/

/** As `.backup` of sqlite3 does it, while the service runs. */
function backUp(dataDir: string): string {
  const file = join(teams.folder(), 'backup.sqlite')
  const database = openDatabase(dataDir)
  database.prepare('VACUUM INTO ?').run(file)
  database.close()
  return file
}

/** As the documentation says: in place of the database, without its other files. */
function restore(backup: string, dataDir: string): void {
  for (const end of ['', '-wal', '-shm']) rmSync(join(dataDir, `loadgate.sqlite${end}`), { force: true })
  cpSync(backup, join(dataDir, 'loadgate.sqlite'))
}

const queueOf = <T>(dataDir: string, read: (queue: ReturnType<typeof openQueue>) => T): T => {
  const queue = openQueue(dataDir, () => undefined)
  try {
    return read(queue)
  } finally {
    queue.close()
  }
}
const whyHeld = (dataDir: string): string | undefined => queueOf(dataDir, (queue) => queue.why())
const letGo = (dataDir: string): void => queueOf(dataDir, (queue) => queue.release())

/** A service with a backup in which one run was at work and one waited; both have run since. */
async function runBoth(): Promise<{ folder: string; first: ServedTeam; ids: string[]; backup: string }> {
  const folder = teams.folder()
  const first = await teams.start(KEYS, { folder, world })
  const ids = [await createRun(first.as('shop')), await createRun(first.as('shop'))]
  await until(() => world.starts() === 1)
  const backup = backUp(first.dataDir)
  world.release()
  for (const id of ids) await waitForStatus(first.as('shop'), `/runs/${id}`, ['finished'])
  await first.close()
  return { folder, first, ids, backup }
}

describe('a backup, restored where it was made', () => {
  test('holds the queue, says so everywhere, and no run is ever started twice', async () => {
    const { folder, first, ids, backup } = await runBoth()
    restore(backup, first.dataDir)
    const [, waiting] = ids as [string, string]
    const results = join(first.dataDir, 'runs', waiting, 'results')
    const before = readResults(results)
    expect(before).toHaveLength(1)
    const service = await teams.start(KEYS, { folder, world })
    const shop = service.as('shop')
    expect(service.lines.filter((line) => HELD.test(line))).not.toEqual([])
    const ready = await get(shop, '/readyz')
    expect([ready.status, ready.json.error]).toEqual([503, expect.stringMatching(HELD)])
    const shown = await get(shop, `/runs/${waiting}`)
    expect(shown.json).toMatchObject({
      status: 'queued',
      queue_position: 1,
      waiting_reason: expect.stringMatching(HELD)
    })
    // A new one waits as well, and can be stopped.
    const added = await createRun(shop)
    expect((await get(shop, `/runs/${added}`)).json).toMatchObject({ status: 'queued', queue_position: 2 })
    expect((await send(shop, 'POST', `/runs/${added}/stop`)).json.status).toBe('finished')
    const last = await createRun(shop)
    // A restart is no reason to let it go.
    await service.close()
    const again = await teams.start(KEYS, { folder, world })
    expect((await get(again.as('shop'), `/runs/${last}`)).json.status).toBe('queued')
    expect(world.starts()).toBe(2)
    expect((await send(again.as('shop'), 'POST', '/queue/resume')).status).toBe(403)
    const resumed = await send(again.as('ops', 'admin'), 'POST', '/queue/resume')
    expect([resumed.status, resumed.text]).toEqual([200, expect.stringContaining('"held":null')])
    expect((await waitForStatus(again.as('shop'), `/runs/${waiting}`, ENDED)).json).toMatchObject({
      status: 'problem',
      remote_errors: expect.stringMatching(/^This run has run before, .* So it was not started again/)
    })
    expect((await waitForStatus(again.as('shop'), `/runs/${last}`, ENDED)).json.status).toBe('finished')
    expect(world.starts()).toBe(3)
    expect(readResults(results)).toEqual(before)
    expect((await get(again.as('shop'), '/readyz')).status).toBe(200)
    expect(readFileSync(join(again.dataDir, 'audit.jsonl'), 'utf8')).toContain('"action":"queue.resume"')
  })

  test('a run with results never starts, even where only its folder tells that it has run', async () => {
    const { folder, first, ids, backup } = await runBoth()
    restore(backup, first.dataDir)
    // Not even where nothing but its folder tells: the count says that nothing has changed.
    const database = openDatabase(first.dataDir)
    database.prepare("UPDATE facts SET value = json_set(value, '$.count', 99999) WHERE key = 'changes'").run()
    database.close()
    const service = await teams.start(KEYS, { folder, world })
    expect(whyHeld(service.dataDir)).toMatch('there are logs of runs that have not started')
    letGo(service.dataDir)
    const ended = await waitForStatus(service.as('shop'), `/runs/${ids[1]!}`, ENDED)
    expect([ended.json.status, world.starts()]).toEqual(['problem', 2])
  })
})

test('what an admin has let go is not held again at the next start', async () => {
  const { folder, first, ids, backup } = await runBoth()
  restore(backup, first.dataDir)
  await (await teams.start(KEYS, { folder, world })).close()
  letGo(first.dataDir)
  const service = await teams.start(KEYS, { folder, world })
  expect(whyHeld(service.dataDir)).toBeUndefined()
  const ended = await waitForStatus(service.as('shop'), `/runs/${ids[1]!}`, ENDED)
  expect([ended.json.status, world.starts()]).toEqual(['problem', 2])
})

/** By their names. */
function readResults(folder: string): [name: string, text: string][] {
  return readdirSync(folder).map((name) => [name, readFileSync(join(folder, name), 'utf8')])
}

describe('on another machine', () => {
  test.each(['with', 'without'])(
    '%s the files of its runs, it is held, until a command lets it go',
    async (kind) => {
      const { first, ids, backup } = await runBoth()
      const folder = teams.folder()
      const moved = await teams.start(KEYS, { folder, world })
      await moved.close()
      rmSync(join(folder, 'data', 'changes'))
      restore(backup, join(folder, 'data'))
      if (kind === 'with')
        cpSync(join(first.dataDir, 'runs'), join(folder, 'data', 'runs'), { recursive: true, force: true })
      const service = await teams.start(KEYS, { folder, world })
      expect(whyHeld(service.dataDir)).toMatch(
        'the file `changes`, which tells the newest database from a copy, is missing'
      )
      expect((await get(service.as('shop'), `/runs/${ids[1]!}`)).json.status).toBe('queued')
      letGo(service.dataDir)
      await waitForStatus(service.as('shop'), `/runs/${ids[1]!}`, ['problem'])
      expect(world.starts()).toBe(2)
    }
  )

  test('a copy of the whole folder of a stopped service is held too', async () => {
    const folder = teams.folder()
    const first = await teams.start(KEYS, { folder, world })
    for (let count = 0; count < 2; count++) await createRun(first.as('shop'))
    await until(() => world.starts() === 1)
    await first.close()
    const copy = teams.folder()
    cpSync(folder, copy, { recursive: true, preserveTimestamps: true })
    const second = await teams.start(KEYS, { folder: copy, world })
    expect(whyHeld(second.dataDir)).toMatch('its data folder is a copy of the one in which it was last used')
  })

  test('a folder that was only renamed is not', async () => {
    const folder = teams.folder()
    const first = await teams.start(KEYS, { folder, world })
    for (let count = 0; count < 2; count++) await createRun(first.as('shop'))
    await until(() => world.starts() === 1)
    await first.close()
    const moved = join(teams.folder(), 'moved')
    renameSync(folder, moved)
    const second = await teams.start(KEYS, { folder: moved, world })
    expect(whyHeld(second.dataDir)).toBeUndefined()
    await until(() => world.starts() === 2)
    renameSync(moved, folder)
  })
})

test('a restored database without waiting runs holds nothing: what is new starts', async () => {
  const folder = teams.folder()
  const first = await teams.start(KEYS, { folder, world })
  const backup = backUp(first.dataDir)
  world.release()
  await waitForStatus(first.as('shop'), `/runs/${await createRun(first.as('shop'))}`, ['finished'])
  await first.close()
  restore(backup, first.dataDir)
  const second = await teams.start(KEYS, { folder, world })
  expect(whyHeld(second.dataDir)).toBeUndefined()
  await waitForStatus(second.as('shop'), `/runs/${await createRun(second.as('shop'))}`, ['finished'])
})

describe('is not held', () => {
  test('after a normal end, with runs that wait', async () => {
    const folder = teams.folder()
    const first = await teams.start(KEYS, { folder, world })
    const ids = [await createRun(first.as('shop')), await createRun(first.as('shop'))]
    await until(() => world.starts() === 1)
    await first.close()
    const second = await teams.start(KEYS, { folder, world })
    world.release()
    expect((await waitForStatus(second.as('shop'), `/runs/${ids[1]!}`, ENDED)).json.status).toBe('finished')
    expect(whyHeld(second.dataDir)).toBeUndefined()
  })

  test('after a kill, however often', async () => {
    const dataDir = teams.folder()
    for (let round = 1; round <= 3; round++) {
      const service = await killable.start(dataDir, world.home, undefined, 1)
      await createRun(service)
      await createRun(service)
      await until(() => world.starts() === round)
      await service.kill()
      expect(whyHeld(dataDir)).toBeUndefined()
    }
    await killable.start(dataDir, world.home, undefined, 1)
    expect(whyHeld(dataDir)).toBeUndefined()
  })

  test('where nothing can be written for a while: a change that failed is not counted', async () => {
    const folder = teams.folder()
    const first = await teams.start(KEYS, { folder, world })
    const shop = first.as('shop')
    const ids = [await createRun(shop), await createRun(shop)]
    await until(() => world.starts() === 1)
    // As a full disk: another process has the lock for longer than the service waits.
    const other = openDatabase(first.dataDir)
    other.exec('BEGIN IMMEDIATE')
    expect((await send(shop, 'POST', `/runs/${ids[0]!}/repeat`)).status).not.toBe(200)
    other.exec('ROLLBACK')
    other.close()
    await first.close()
    const second = await teams.start(KEYS, { folder, world })
    expect(whyHeld(second.dataDir)).toBeUndefined()
  })
})

test.each(['restored elsewhere', 'restored in its place', 'upgraded in its place'])(
  'a database of a version that did not count is held, %s: nobody knows what has run since',
  async (kind) => {
    const { folder, first, ids, backup } = await runBoth()
    const old = openDatabase(first.dataDir)
    old.exec(`ATTACH '${backup}' AS backup; DELETE FROM backup.facts WHERE key = 'changes'`)
    old.close()
    const place = kind === 'restored elsewhere' ? teams.folder() : folder
    if (kind === 'restored elsewhere') mkdirSync(join(place, 'data'))
    if (kind === 'upgraded in its place') rmSync(join(first.dataDir, 'changes'))
    restore(backup, join(place, 'data'))
    const service = await teams.start(KEYS, { folder: place, world })
    expect(whyHeld(service.dataDir)).toMatch(
      /restored from an older copy .*, and waiting runs may have run since/
    )
    expect((await get(service.as('shop'), `/runs/${ids[1]!}`)).json.status).toBe('queued')
    expect(world.starts()).toBe(2)
    letGo(service.dataDir)
    await waitForStatus(service.as('shop'), `/runs/${ids[1]!}`, ['problem'])
    await service.close()
    // Once is enough.
    expect(whyHeld((await teams.start(KEYS, { folder: place, world })).dataDir)).toBeUndefined()
  }
)
