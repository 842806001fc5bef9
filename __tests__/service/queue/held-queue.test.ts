import { afterEach, expect, test } from '@jest/globals'
import { openQueue } from '../../../src/service/accounts/open-queue.js'
import { HTML, logIn, submit } from '../pages/page-support.js'
import { createServedTeams, type ServedTeam } from '../quotas/served-team.js'
import { type Address, createRun, get, type Reply, waitForStatus } from '../support.js'

const teams = createServedTeams()
afterEach(() => teams.closeAll())

const WORDS = 'The queue is held: an admin has held it. An admin of the service has to look'
const BUTTON =
  '<form method="post" action="/queue/resume"><button type="submit">Let the queue go</button></form>'

/** As `loadgate queue hold` does it, beside the service. */
function hold({ dataDir }: ServedTeam): void {
  const queue = openQueue(dataDir, () => undefined)
  queue.hold()
  queue.close()
}

async function browse(address: Address, path: string): Promise<Reply> {
  return get(address, path, { token: null, headers: { ...HTML, cookie: await logIn(address) } })
}

async function press(address: Address, origin = address.url): Promise<Reply> {
  return submit(address, '/queue/resume', {}, { cookie: await logIn(address), origin })
}

test('every page says that the queue is held, and only admins get the button that lets it go', async () => {
  const team = await teams.start('drain: 0')
  const [shop, admin] = [team.as('shop'), team.as('ops', 'admin')]
  const ended = await createRun(shop)
  await waitForStatus(shop, `/runs/${ended}`, ['finished'])
  expect((await browse(admin, '/')).text).not.toContain('queue is held')
  hold(team)
  const waiting = await createRun(shop)
  for (const path of ['/', `/runs/${ended}`, `/runs/${waiting}`, `/runs/${ended}/compare`]) {
    const pages = [await browse(shop, path), await browse(admin, path)]
    expect([path, pages.map(({ status, text }) => [status, text.includes(WORDS)])]).toEqual([
      ...[path, Array(2).fill([200, true])]
    ])
    expect([path, pages.map(({ text }) => text.includes(BUTTON))]).toEqual([path, [false, true]])
  }
})

test('the button lets the queue go, for admins, from a page of this service', async () => {
  const team = await teams.start('drain: 0')
  const [shop, admin] = [team.as('shop'), team.as('ops', 'admin')]
  hold(team)
  const id = await createRun(shop)
  expect((await press(shop)).status).toBe(403)
  expect((await press(admin, 'https://evil.example')).status).toBe(403)
  // Without a session there is nobody who may.
  expect((await submit(admin, '/queue/resume', {})).status).toBe(401)
  expect((await get(shop, `/runs/${id}`)).json.status).toBe('queued')
  const { status, headers } = await press(admin)
  expect([status, headers.location]).toEqual([303, '/'])
  await waitForStatus(shop, `/runs/${id}`, ['finished'])
  expect((await browse(admin, '/')).text).not.toContain('queue is held')
  // Twice is no mistake.
  expect((await press(admin)).status).toBe(303)
})

test('how many wait and work is for those who see all runs', async () => {
  const team = await teams.start('drain: 0\nprojects: {}')
  hold(team)
  await createRun(team.as('shop'))
  const counts = async (address: Address): Promise<unknown> => {
    const { text } = await get(address, '/queue')
    const { held, waiting, nodes_at_work } = JSON.parse(text) as Record<string, unknown>
    return { held, waiting, nodes_at_work }
  }
  const held = 'an admin has held it'
  expect(await counts(team.as('shop'))).toEqual({ held, waiting: null, nodes_at_work: null })
  expect(await counts(team.as('ops', 'admin'))).toEqual({ held, waiting: 1, nodes_at_work: 0 })
})
