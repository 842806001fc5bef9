import { afterAll, expect, test } from '@jest/globals'
import { TeamAccounts } from '../../../src/service/accounts/accounts.js'
import { Queue } from '../../../src/service/queue/queue.js'
import type { ServiceOptions } from '../../../src/service/server.js'
import { openStore } from '../../../src/service/serve.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createTeams } from '../accounts/team.js'
import { HTML } from '../pages/page-support.js'
import { type Address, createRun, createServices, get, runForm, waitForStatus } from '../support.js'

const teams = createTeams()
const services = createServices()
afterAll(async () => {
  await teams.closeAll()
  await services.closeAll()
})

const LONG = runForm({ duration: '3600', override_parameters: '-Jrehearsal.realtime=true' })
const REASON = 'The user who created this run, member, was removed before it started.'

/** One run at a time. */
const withQueue = (clock: ManualClock): Pick<ServiceOptions, 'queue'> => ({
  queue: (placeOf) => new Queue({ maxNodes: 1, placeOf, cores: 1, clock, log: () => undefined })
})

const statusOf = async (who: Address, id: string): Promise<unknown[]> => {
  const { status, started, remote_errors } = (await get(who, `/runs/${id}`)).json as unknown as Record<
    string,
    unknown
  >
  return [status, typeof started, remote_errors]
}

async function makeLine() {
  const clock = new ManualClock()
  const team = await teams.start(withQueue(clock), clock)
  const [admin, member, other] = [team.as('admin'), team.as('member'), team.as('other')]
  const atWork = await createRun(member, LONG)
  await waitForStatus(admin, `/runs/${atWork}`, ['running'])
  const waiting = [await createRun(member, LONG), await createRun(member, LONG)]
  const others = await createRun(other, LONG)
  return { clock, team, admin, atWork, waiting, others }
}

test('the waiting runs of a removed user end when their turn comes; those at work and those of others go on', async () => {
  const { team, admin, atWork, waiting, others } = await makeLine()
  team.users.remove('member')
  expect(await statusOf(admin, atWork)).toEqual(['running', 'string', null])
  await get(admin, `/runs/${atWork}/stop`)
  await waitForStatus(admin, `/runs/${others}`, ['running'])
  await get(admin, `/runs/${others}/stop`)
  for (const id of waiting) {
    await waitForStatus(admin, `/runs/${id}`, ['problem'])
    expect(await statusOf(admin, id)).toEqual(['problem', 'object', REASON])
  }
})

test('a user who is removed while the run gets ready', async () => {
  const clock = new ManualClock()
  const accounts = new TeamAccounts(
    openStore(services.folder(), { log: () => undefined, clock }).database,
    clock
  )
  const { token } = accounts.add('member', 'member')
  let looks = 0
  accounts.isRemoved = () => ++looks > 1
  const service = await services.start({ accounts, clock })
  const member = { url: service.url, token }
  const id = await createRun(member, LONG)
  await waitForStatus(member, `/runs/${id}`, ['problem'])
  expect(await statusOf(member, id)).toEqual(['problem', 'object', REASON])
})

test('a service that starts later does not start them either', async () => {
  const dataDir = services.folder()
  const clock = new ManualClock()
  const open = async () => {
    const store = openStore(dataDir, { log: () => undefined, clock })
    const accounts = new TeamAccounts(store.database, clock)
    return {
      accounts,
      service: await services.start({ dataDir, store, accounts, clock, ...withQueue(clock) })
    }
  }
  const before = await open()
  before.accounts.add('admin', 'admin')
  const member = { url: before.service.url, token: before.accounts.add('member', 'member').token }
  await createRun(member, LONG)
  const waiting = await createRun(member, LONG)
  before.accounts.remove('member')
  await before.service.close()
  const after = await open()
  const admin = { url: after.service.url, token: after.accounts.rotate('admin').token }
  await waitForStatus(admin, `/runs/${waiting}`, ['problem'])
  expect(await statusOf(admin, waiting)).toEqual(['problem', 'object', REASON])
})

test('what belonged to a removed user is not taken for that of the next one of the same name', async () => {
  const { team, admin, atWork } = await makeLine()
  team.users.remove('member')
  const { token } = team.users.add('Member', 'member')
  for (const who of [{ ...admin, token }, team.as('other')]) {
    const { status, json } = await get(who, `/runs/${atWork}/stop`)
    expect([status, json.error]).toEqual([
      403,
      `run ${atWork} belongs to an earlier user member, who was removed; only an admin may do this`
    ])
  }
  for (const path of ['/', `/runs/${atWork}`])
    expect((await get(admin, path, { headers: HTML })).text).toContain('>member (removed)<')
  expect((await get(admin, `/runs/${atWork}/stop`)).status).toBe(200)
})
