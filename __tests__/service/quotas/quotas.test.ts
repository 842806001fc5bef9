import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openDatabase } from '../../../src/service/store/database.js'
import type { Creator } from '../../../src/service/accounts/users.js'
import type { QuotaLimits } from '../../../src/service/config/config.js'
import { quotasOf } from '../../../src/service/quotas/limits.js'
import { createWorld, type World } from '../runs/surviving-world.js'
import {
  type Address,
  createRun,
  formOf,
  get,
  PLAN,
  postForm,
  type Reply,
  runForm,
  send,
  specFields,
  until,
  waitForStatus
} from '../support.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createServedTeams, type ServedTeam } from './served-team.js'

const teams = createServedTeams()
let world: World
beforeEach(() => {
  world = createWorld(teams.folder())
})
afterEach(async () => {
  world.release()
  await teams.closeAll()
})

const start = (keys: string): Promise<ServedTeam> => teams.start(`drain: 0\n${keys}`, { world })
const post = (from: Address, project = 'shop', parts = runForm({ project })): Promise<Reply> =>
  postForm(from, '/runs', parts)
const nodes = (number: number, project = 'shop') =>
  runForm({ project }, specFields({ instance_quantity: String(number) }))
/** A plan of about so many bytes. */
const planOf = (bytes: number): string => PLAN + ' '.repeat(Math.max(0, bytes - PLAN.length))
const upload = (from: Address, bytes: number, project = 'shop'): Promise<Reply> =>
  post(from, project, runForm({ project }, specFields(), planOf(bytes)))
const WHO = 'an admin of the service can raise the quota: '

describe('waiting runs', () => {
  const KEYS = 'max-nodes: 1\nquotas: { user: { waiting-runs: 2 } }'

  test('beyond the quota are refused with all there is to know, and when to try again', async () => {
    const service = await start(KEYS)
    const shop = service.as('shop')
    for (let count = 0; count < 3; count++) await createRun(shop)
    const refused = await post(shop)
    expect([refused.status, refused.headers['retry-after'], refused.json.error]).toEqual([
      429,
      '30',
      `the run was not created: user shop has 2 waiting runs, and may have 2 (quota waiting-runs); try again when one of them has started, or ${WHO}quotas.user.waiting-runs in its config file`
    ])
    // Others have their own, and a repeat counts too.
    await createRun(service.as('bank'))
    world.release()
    for (let total = 0; total < 4;) total = await countOf(service, 'finished')
    await createRun(shop)
  })

  test('by many requests at once: none slips past the quota', async () => {
    const service = await start('max-nodes: 1\nquotas: { project: { waiting-runs: 3 } }')
    await createRun(service.as('shop'), runForm({ project: 'shop' }))
    await until(() => world.starts() === 1)
    const users = ['shop', 'bank'].map((name) => service.as(name))
    const replies = await Promise.all(Array.from({ length: 12 }, (_, index) => post(users[index % 2]!)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, 201, ...Array<number>(9).fill(429)])
    expect((await post(users[0]!, 'other')).status).toBe(201)
  })

  test('of a user with a quota of their own', async () => {
    const service = await start(`${KEYS.slice(0, -1)}, users: { bank: { waiting-runs: 1 } } }`)
    for (let count = 0; count < 2; count++) await createRun(service.as('bank'))
    const { status, json } = await post(service.as('bank'))
    expect([status, json.error]).toEqual([429, expect.stringContaining('quotas.users.bank.waiting-runs')])
  })
})

describe('a name in quotas.users', () => {
  const limits = (names: Record<string, QuotaLimits>, user: Creator): unknown =>
    quotasOf(
      { user: { nodes: 2 }, project: {}, users: new Map(Object.entries(names)), projects: new Map() },
      { user, project: null },
      'nodes'
    ).map(({ limit, key }) => [limit, key])
  const iss = 'https://token.actions.githubusercontent.com'

  test.each<[string, Omit<Creator, 'id'>, unknown]>([
    ['a user with a token, whatever the case', { name: 'nightly' }, [[1, 'quotas.users.Nightly.nodes']]],
    ['no person, who may have chosen it', { name: 'Nightly', claims: {} }, [[2, 'quotas.user.nodes']]],
    [
      'a repository, as it is written',
      { name: 'acme/shop', claims: { iss } },
      [[9, 'quotas.users.acme/shop.nodes']]
    ],
    ['no other one', { name: 'ACME/shop', claims: { iss } }, [[2, 'quotas.user.nodes']]],
    ['all that match it', { name: 'acme/cart', claims: { iss } }, [[3, 'quotas.users.acme/*.nodes']]]
  ])('means %s', (_, user, expected) => {
    const names = { Nightly: { nodes: 1 }, 'acme/*shop': { disk: 1 }, 'acme/shop': { nodes: 9 } }
    expect(limits({ ...names, 'acme/*': { nodes: 3 } }, { id: 1, ...user })).toEqual(expected)
  })

  test('counts for uploads, too', async () => {
    const service = await start('quotas: { users: { BANK: { upload-per-day: 10KB } } }')
    expect((await upload(service.as('bank'), 12_000)).status).toBe(413)
    expect((await upload(service.as('shop'), 12_000)).status).toBe(201)
  })
})

async function countOf(service: ServedTeam, status: string): Promise<number> {
  return (await get(service.as('shop'), `/runs?status=${status}`)).json.total
}

describe('nodes', () => {
  test('beyond the quota wait, say why, and hold up nobody else', async () => {
    const service = await start('max-nodes: 10\nquotas: { user: { nodes: 2 } }')
    const shop = service.as('shop')
    await createRun(shop, nodes(2))
    const waiting = await createRun(shop, nodes(1))
    await createRun(service.as('bank'), nodes(2))
    await until(() => world.starts() === 4)
    expect((await get(shop, `/runs/${waiting}`)).json).toMatchObject({
      status: 'queued',
      waiting_reason: `user shop may have at most 2 nodes at work (quota nodes); ${WHO}quotas.user.nodes in its config file`
    })
    world.release()
    await waitForStatus(shop, `/runs/${waiting}`, ['finished'])
    expect(world.starts()).toBe(5)
  })

  test('of one run that is beyond it alone: it is refused, because it would wait for ever', async () => {
    const service = await start(
      'max-nodes: 10\nquotas: { project: { nodes: 2 }, projects: { bank: { nodes: 4 } } }'
    )
    const refused = await post(service.as('shop'), 'shop', nodes(3))
    expect([refused.status, refused.json.error]).toEqual([
      422,
      `this run needs 3 nodes, and at most 2 fit into the quota of project "shop" (nodes); ${WHO}quotas.project.nodes in its config file`
    ])
    expect((await post(service.as('shop'), 'bank', nodes(3, 'bank'))).status).toBe(201)
  })
})

describe('uploads of a day', () => {
  const KEYS = 'quotas: { user: { upload-per-day: 100KB }, project: { upload-per-day: 150KB } }'

  test('beyond the quota of a user are refused, also after a restart, and what was refused has counted', async () => {
    const folder = teams.folder()
    const first = await teams.start(`drain: 0\n${KEYS}`, { world, folder })
    expect((await upload(first.as('shop'), 60_000)).status).toBe(201)
    // It arrived, although there is no such tool.
    const odd = await postForm(first.as('shop'), '/runs', [
      ['run[tool]', 'none'],
      { name: 'run_files[]', fileName: 'plan.jmx', content: planOf(20_000) }
    ])
    expect(odd.status).toBe(422)
    await first.close()
    const service = await teams.start(`drain: 0\n${KEYS}`, { world, folder })
    const refused = await upload(service.as('shop'), 30_000)
    expect([refused.status, refused.headers['retry-after'], refused.json.error]).toEqual([
      413,
      undefined,
      `the run was not created, and this upload would be too much: user shop has 80 kB uploaded today (UTC), and may have 100 kB (quota upload-per-day); try again after 00:00 UTC, or ${WHO}quotas.user.upload-per-day in its config file`
    ])
    expect((await upload(service.as('shop'), 10_000)).status).toBe(201)
    expect((await upload(service.as('bank'), 90_000, 'bank')).status).toBe(201)
  })

  test('beyond the quota of a project are refused, by whomever', async () => {
    const service = await start(KEYS)
    expect((await upload(service.as('shop'), 90_000)).status).toBe(201)
    const refused = await upload(service.as('bank'), 80_000)
    expect([refused.status, refused.json.error]).toEqual([
      413,
      expect.stringContaining('project "shop" may have at most 150 kB uploaded today (UTC) (quota')
    ])
  })

  test('that arrive at the same time, without a length, are counted as they arrive', async () => {
    const service = await start(KEYS)
    const replies = await Promise.all(
      Array.from({ length: 6 }, (_, index) =>
        send(service.as('shop'), 'POST', '/runs', {
          ...formOf(runForm({ project: `p${index}` }, specFields(), planOf(40_000))),
          isChunked: true
        }).catch(() => ({ status: 413 }))
      )
    )
    expect(replies.filter(({ status }) => status === 201).length).toBeLessThanOrEqual(2)
    const database = openDatabase(service.dataDir)
    const { bytes } = database.prepare('SELECT sum(bytes) AS bytes FROM uploads').get()!
    database.close()
    expect(Number(bytes)).toBeLessThanOrEqual(100_000)
  })

  test('begin anew at midnight', async () => {
    const clock = new ManualClock()
    const service = await teams.start(`drain: 0\n${KEYS}`, { clock })
    expect((await upload(service.as('shop'), 90_000)).status).toBe(201)
    expect((await upload(service.as('shop'), 90_000)).status).toBe(413)
    await clock.advance(24 * 3_600_000)
    expect((await upload(service.as('shop'), 90_000)).status).toBe(201)
  })
})

describe('the disk', () => {
  test('of a user and a project: uploads of waiting runs count, results once a run has ended', async () => {
    const service = await start(
      'max-nodes: 1\nquotas: { user: { disk: 200KB }, projects: { bank: { disk: 50KB } } }'
    )
    const shop = service.as('shop')
    expect((await upload(shop, 90_000)).status).toBe(201)
    expect((await upload(shop, 90_000)).status).toBe(201)
    const refused = await upload(shop, 90_000)
    expect([refused.status, refused.json.error]).toEqual([
      507,
      `the run was not created: user shop has 180 kB on the service's disk, and may have 200 kB (quota disk); try again when the service has deleted old runs, or ${WHO}quotas.user.disk in its config file`
    ])
    expect((await upload(service.as('bank'), 60_000, 'bank')).json.error).toContain(
      'quotas.projects.bank.disk'
    )
    world.release()
    for (let total = 0; total < 2;) total = await countOf(service, 'finished')
    expect((await upload(shop, 30_000)).status).toBe(507)
    expect((await upload(service.as('other'), 30_000)).status).toBe(201)
  })

  test('by many requests at once: none slips past the quota', async () => {
    const service = await start('max-nodes: 1\nquotas: { user: { disk: 200KB } }')
    const shop = service.as('shop')
    const replies = await Promise.all(Array.from({ length: 8 }, () => upload(shop, 90_000)))
    expect(replies.map(({ status }) => status).sort()).toEqual([201, 201, ...Array<number>(6).fill(507)])
  })
})

describe('a project that is not in the config file, which anybody may name', () => {
  const filed = (quota: string, listed = '{}') =>
    start(`max-nodes: 2\nprojects: ${listed}\nquotas: { project: { ${quota} } }`)
  const OTHERS = 'user shop in project "shop" may have at most'

  test.each(['shop', ''])('%j: has waiting runs of each creator by itself', async (project) => {
    const service = await filed('waiting-runs: 1')
    for (const status of [201, 201, 201, 429])
      expect((await post(service.as('bank'), project)).status).toBe(status)
    expect((await post(service.as('shop'), project)).status).toBe(201)
    const refused = await post(service.as('shop'), project)
    const where = project === '' ? 'what has no project' : 'project "shop"'
    expect([refused.status, refused.json.error]).toEqual([
      429,
      expect.stringContaining(`user shop in ${where} may have at most 1 waiting run (quota`)
    ])
  })

  test('has nodes of each creator by itself', async () => {
    const service = await filed('nodes: 1')
    await createRun(service.as('bank'), nodes(1))
    const waiting = await createRun(service.as('bank'), nodes(1))
    await createRun(service.as('shop'), nodes(1))
    await until(() => world.starts() === 2)
    expect((await get(service.as('bank'), `/runs/${waiting}`)).json).toMatchObject({
      waiting_reason: expect.stringContaining('user bank in project "shop" may have at most 1 node at work')
    })
  })

  test.each(['upload-per-day', 'disk'])('has %s of each creator by itself', async (name) => {
    const service = await filed(`${name}: 100KB`)
    expect((await upload(service.as('bank'), 90_000)).status).toBe(201)
    expect((await upload(service.as('shop'), 90_000)).status).toBe(201)
    expect((await upload(service.as('shop'), 90_000)).json.error).toContain(OTHERS)
  })

  test('while one that is in the file has one for all of its members', async () => {
    const service = await filed('disk: 100KB', '{ shop: { members: [shop, bank] } }')
    expect((await upload(service.as('bank'), 90_000)).status).toBe(201)
    expect((await upload(service.as('shop'), 90_000)).json.error).toContain(
      'not created: project "shop" may have at most'
    )
  })
})

describe('a service that may keep no more', () => {
  const DAY_MS = 24 * 3_600_000
  /** A service that keeps 100 kB, with an ended run of a little more than these. */
  async function startWith(bytes: number): Promise<{ service: ServedTeam; clock: ManualClock; id: string }> {
    const clock = new ManualClock()
    const service = await teams.start('drain: 0\nretention: { size: 100KB }', { clock })
    const id = await end(service, bytes)
    return { service, clock, id }
  }
  async function end(service: ServedTeam, bytes: number): Promise<string> {
    const id = await createRun(service.as('shop'), runForm({}, specFields(), planOf(bytes)))
    await waitForStatus(service.as('shop'), `/runs/${id}`, ['finished'])
    await until(() => sizesOf(service).every((size) => size !== null))
    return id
  }

  test('deletes old runs for a new one that has no room beside them, although they are within the limit', async () => {
    const { service, clock, id } = await startWith(60_000)
    expect((await upload(service.as('shop'), 60_000)).status).toBe(507)
    await clock.advance(DAY_MS + 1000)
    // Nothing is deleted before somebody needs the room.
    expect((await get(service.as('shop'), `/runs/${id}`)).status).toBe(200)
    const { status, json } = await upload(service.as('shop'), 60_000)
    expect(status).toBe(201)
    await until(() => sizesOf(service).length === 1)
    expect((await get(service.as('shop'), `/runs/${id}`)).status).toBe(404)
    expect((await get(service.as('shop'), `/runs/${json.uuid}`)).status).toBe(200)
  })

  test('says of a run that is larger than all of it that time will not help', async () => {
    const { service, id } = await startWith(10_000)
    const refused = await upload(service.as('shop'), 150_000)
    expect([refused.status, refused.json.error]).toEqual([
      413,
      'the run was not created: its files have 150 kB, and all runs together may take 100 kB; an admin of the service can raise the limit: retention.size in its config file'
    ])
    expect((await get(service.as('shop'), `/runs/${id}`)).status).toBe(200)
  })

  test('counts the uploads of runs that wait, as they are when they have ended', async () => {
    const clock = new ManualClock()
    const service = await teams.start('drain: 0\nmax-nodes: 1\nretention: { size: 100KB }', { world, clock })
    for (const status of [201, 201, 507])
      expect((await upload(service.as('shop'), 40_000)).status).toBe(status)
  })

  test('keeps half of it free of pinned runs: what is pinned is never deleted', async () => {
    const { service, clock, id } = await startWith(20_000)
    const other = await end(service, 20_000)
    const pin = (one: string): Promise<Reply> => send(service.as('shop'), 'POST', `/runs/${one}/pin`)
    expect((await pin(id)).status).toBe(200)
    // Once more changes nothing.
    expect((await pin(id)).status).toBe(200)
    const refused = await pin(other)
    expect([refused.status, refused.json.error]).toEqual([
      507,
      expect.stringMatching(
        /^run \w+ was not pinned: it has \d\d kB, and pinned runs may take half of what all runs may \(100 kB\); unpin others, or an admin/
      )
    ])
    await clock.advance(DAY_MS + 1000)
    expect((await upload(service.as('shop'), 50_000)).status).toBe(201)
    await until(() => sizesOf(service).length === 2)
    expect((await send(service.as('shop'), 'POST', `/runs/${id}/unpin`)).status).toBe(200)
  })

  test('pins a run once it has ended: before that nobody knows its size', async () => {
    const service = await teams.start('drain: 0\nretention: { size: 100KB }', { world })
    const id = await createRun(service.as('shop'))
    const refused = await send(service.as('shop'), 'POST', `/runs/${id}/pin`)
    expect([refused.status, refused.json.error]).toEqual([
      409,
      expect.stringContaining('pin it when it has ended')
    ])
  })

  test('keeps runs that a gate has not read, refuses new ones, and says what may help; a pinned one stays', async () => {
    const clock = new ManualClock()
    const keys = 'drain: 0\nretention: { size: 100KB, runs-per-project: 1 }'
    const service = await teams.start(keys, { clock })
    const shop = service.as('shop')
    const ids = [await createRun(shop, runForm({}, specFields(), planOf(30_000)))]
    ids.push(await createRun(shop, runForm({}, specFields(), planOf(30_000))))
    for (const id of ids) await waitForStatus(shop, `/runs/${id}`, ['finished'])
    await until(() => sizesOf(service).every((bytes) => bytes !== null))
    const refused = await upload(shop, 40_000)
    expect([refused.status, refused.json.error]).toEqual([
      507,
      'the run was not created: there is no room for it. All runs together may take 100 kB, and nothing more may be deleted now: each run stays for 24 h after its end, and a pinned one until its owner or an admin unpins it. Try again later; or an admin of the service can raise the limit: retention.size in its config file'
    ])
    expect((await get(shop, `/runs/${ids[0]!}/result.csv`)).status).toBe(200)
    // Only its owner and admins.
    expect((await send(service.as('other'), 'POST', `/runs/${ids[0]!}/pin`)).status).toBe(403)
    expect((await send(shop, 'POST', `/runs/${ids[0]!}/pin`)).json).toMatchObject({ pinned: true })
    await clock.advance(25 * 3_600_000)
    expect((await upload(shop, 40_000)).status).toBe(201)
    await until(() => sizesOf(service).length === 2)
    expect((await get(shop, `/runs/${ids[0]!}`)).json).toMatchObject({ pinned: true })
    const unpinned = await send(shop, 'POST', `/runs/${ids[0]!}/unpin`)
    expect([unpinned.status, 'pinned' in unpinned.json]).toEqual([200, false])
  })

  test('eight gates in a project of which three runs are kept: all of them read their results', async () => {
    const service = await teams.start('drain: 0\nmax-nodes: 2\nretention: { runs-per-project: 3 }')
    const shop = service.as('shop')
    const ids = await Promise.all(
      Array.from({ length: 8 }, () => createRun(shop, runForm({ project: 'shop' })))
    )
    for (const id of ids) await waitForStatus(shop, `/runs/${id}`, ['finished'])
    await until(() => sizesOf(service).every((bytes) => bytes !== null))
    for (const id of ids) expect((await get(shop, `/runs/${id}/result.csv`)).status).toBe(200)
  })

  test('a run whose results are larger than the limit stays; the next one is refused', async () => {
    const service = await teams.start('drain: 0\nretention: { size: 1KB }')
    const shop = service.as('shop')
    const id = await createRun(shop)
    await waitForStatus(shop, `/runs/${id}`, ['finished'])
    await until(() => sizesOf(service).every((bytes) => bytes !== null))
    expect(sizesOf(service)[0]).toBeGreaterThan(1000)
    expect((await get(shop, `/runs/${id}/result.csv`)).status).toBe(200)
    expect((await post(shop)).status).toBe(507)
  })
})

function sizesOf({ dataDir }: ServedTeam): (number | null)[] {
  const database = openDatabase(dataDir)
  try {
    return database
      .prepare('SELECT bytes FROM runs ORDER BY sequence')
      .all()
      .map(({ bytes }) => (bytes === null ? null : Number(bytes)))
  } finally {
    database.close()
  }
}
