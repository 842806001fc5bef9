import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { openDatabase } from '../../../src/service/store/database.js'
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
      waiting_reason: `user shop has 2 nodes at work, and may have 2 (quota nodes); ${WHO}quotas.user.nodes in its config file`
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
      expect.stringContaining('project "shop" has 90 kB uploaded today (UTC), and may have 150 kB')
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

describe('a service that may keep no more', () => {
  test('keeps runs that a gate has not read, refuses new ones, and says what may help; a pinned one stays', async () => {
    const clock = new ManualClock()
    const keys = 'drain: 0\nretention: { size: 100KB, runs-per-project: 1 }'
    const service = await teams.start(keys, { clock })
    const shop = service.as('shop')
    const ids = [await createRun(shop, runForm({}, specFields(), planOf(40_000)))]
    ids.push(await createRun(shop, runForm({}, specFields(), planOf(40_000))))
    for (const id of ids) await waitForStatus(shop, `/runs/${id}`, ['finished'])
    await until(() => sizesOf(service).every((bytes) => bytes !== null))
    const refused = await upload(shop, 40_000)
    expect([refused.status, refused.json.error]).toEqual([
      507,
      expect.stringMatching(
        /^the run was not created: the service keeps \d+ kB of runs, its limit is 100 kB, and nothing more may be deleted \(pinned runs are kept, and each for 24 h after its end\); unpin runs or try again later, or an admin of the service can raise the limit: retention\.size in its config file$/
      )
    ])
    expect((await get(shop, `/runs/${ids[0]!}/result.csv`)).status).toBe(200)
    // Only its owner and admins.
    expect((await send(service.as('other'), 'POST', `/runs/${ids[0]!}/pin`)).status).toBe(403)
    expect((await send(shop, 'POST', `/runs/${ids[0]!}/pin`)).json).toMatchObject({ pinned: true })
    await clock.advance(25 * 3_600_000)
    await until(() => sizesOf(service).length === 1)
    expect((await get(shop, `/runs/${ids[0]!}`)).json).toMatchObject({ pinned: true })
    expect((await upload(shop, 40_000)).status).toBe(201)
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
