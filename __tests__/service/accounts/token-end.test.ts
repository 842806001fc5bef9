import { afterAll, expect, test } from '@jest/globals'
import { remindOfEnds } from '../../../src/service/accounts/token-end.js'
import { ManualClock } from '../../support/manual-clock.js'
import { HTML } from '../pages/page-support.js'
import { type Address, get, type Reply, send } from '../support.js'
import { createTeams, type Team } from './team.js'

const DAY_MS = 24 * 3_600_000
const teams = createTeams()
afterAll(() => teams.closeAll())

/** A member whose token ends after 90 days: on 2026-04-05 at noon. */
async function start(): Promise<{ team: Team; clock: ManualClock; ada: Address }> {
  const clock = new ManualClock()
  const team = await teams.start({}, clock)
  const { token } = team.users.add('ada', 'member', clock.now() + 90 * DAY_MS)
  return { team, clock, ada: { url: team.service.url, token } }
}

const WARNING =
  'the token of ada ends on 2026-04-05; ask an admin to rotate it (loadgate user rotate ada --days <days>)'
const EXPIRED =
  'the token of ada expired on 2026-04-05; ask an admin for another one (loadgate user rotate ada --days <days>)'

function logIn({ url, token }: Address): Promise<Reply> {
  return send({ url, token: '' }, 'POST', '/login', {
    token: null,
    headers: { ...HTML, origin: url, 'content-type': 'application/x-www-form-urlencoded' },
    body: new URLSearchParams({ token }).toString()
  })
}

test('a token warns for two weeks, and opens nothing from its end on', async () => {
  const { team, clock, ada } = await start()
  const warningOf = async (path: string): Promise<unknown> =>
    (await get(ada, path)).headers['x-loadgate-warning']
  await clock.advance(76 * DAY_MS - 1)
  expect(await warningOf('/account')).toBeUndefined()
  await clock.advance(1)
  expect(await warningOf('/account')).toBe(WARNING)
  expect(await warningOf('/runs')).toBe(WARNING)
  expect((await get(team.as('member'), '/account')).headers['x-loadgate-warning']).toBeUndefined()

  const cookie = String((await logIn(ada)).headers['set-cookie']?.[0]).split(';')[0]!
  const visit = (): Promise<Reply> => get(ada, '/', { token: null, headers: { ...HTML, cookie } })
  expect((await visit()).text).toContain('the token of ada ends on 2026-04-05')

  // A session that is in use ends with the token all the same.
  await clock.advance(14 * DAY_MS - 3_600_000)
  const late = String((await logIn(ada)).headers['set-cookie']?.[0]).split(';')[0]!
  const visitLate = async (): Promise<number> =>
    (await get(ada, '/', { token: null, headers: { ...HTML, cookie: late } })).status
  expect(await visitLate()).toBe(200)
  await clock.advance(3_600_000 - 1)
  expect((await get(ada, '/account')).status).toBe(200)
  await clock.advance(1)
  expect(await visitLate()).toBe(401)
  const reply = await get(ada, '/account')
  expect([reply.status, reply.json.error]).toEqual([401, EXPIRED])
  expect((await logIn(ada)).text).toContain('the token of ada expired on 2026-04-05')
  expect(team.audited()).toContainEqual(
    expect.objectContaining({ action: 'login.failed', reason: 'the token of ada has expired', status: 401 })
  )
})

test('only whoever holds an expired token learns about it, and nothing of it counts as guessing', async () => {
  const { clock, ada } = await start()
  await clock.advance(90 * DAY_MS)
  for (let i = 0; i < 25; i++) expect((await get(ada, '/account')).status).toBe(401)
  for (const token of [ada.token.slice(0, -1), `${ada.token.slice(0, -1)}_`]) {
    const reply = await get({ ...ada, token }, '/account')
    expect([reply.status, reply.json.error]).toEqual([401, expect.stringContaining('missing or wrong')])
    expect(reply.text).not.toContain('ada')
  }
})

test('another token ends when it is said to, or not at all', async () => {
  const { team, clock, ada } = await start()
  await clock.advance(91 * DAY_MS)
  const { token } = team.users.rotate('ada', clock.now() + DAY_MS)
  expect((await get({ ...ada, token }, '/account')).status).toBe(200)
  await clock.advance(DAY_MS)
  expect((await get({ ...ada, token }, '/account')).status).toBe(401)
  const lasting = team.users.rotate('ada').token
  await clock.advance(4000 * DAY_MS)
  expect((await get({ ...ada, token: lasting }, '/account')).status).toBe(200)
})

test('the log names the tokens that end soon or have ended, once a day', async () => {
  const { team, clock } = await start()
  team.users.add('ben', 'member', clock.now() + DAY_MS)
  const lines: string[] = []
  const reminder = remindOfEnds(team.users, { clock, log: (line) => void lines.push(line) })
  const ben = 'ends on 2026-01-06; loadgate user rotate ben --days <days> makes another'
  expect(lines.splice(0)).toEqual([`the token of ben ${ben}`])
  await clock.advance(DAY_MS)
  expect(lines.splice(0)).toEqual([`the token of ben ${ben.replace('ends', 'expired')}`])
  team.users.remove('ben')
  await clock.advance(75 * DAY_MS)
  expect(lines.splice(0)).toEqual([
    'the token of ada ends on 2026-04-05; loadgate user rotate ada --days <days> makes another'
  ])
  reminder.close()
  await clock.advance(5 * DAY_MS)
  expect(lines).toEqual([])
})
