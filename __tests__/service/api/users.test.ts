import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { createTeams, type Member, type Team } from '../accounts/team.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createRun, createServices, get, postForm, postJson, type Reply, runForm, send } from '../support.js'

const teams = createTeams()
const services = createServices()
afterAll(async () => {
  await teams.closeAll()
  await services.closeAll()
})

const DAY_MS = 24 * 3_600_000
const TOKEN = /^lg_[0-9a-f]{12}_[\w-]{43}$/

/** A user as a reply has it. */
interface UserReply {
  readonly id: number
  readonly email: string
  readonly role: string
  readonly authentication_token: string
  readonly token_expires_at?: string
}
const userOf = (reply: Reply): UserReply => reply.json as unknown as UserReply
const usersOf = (reply: Reply): UserReply[] =>
  (reply.json as unknown as { _embedded: { users: UserReply[] } })._embedded.users

let team: Team
let clock: ManualClock
beforeAll(async () => {
  clock = new ManualClock()
  team = await teams.start({}, clock)
})

test('an admin adds, lists, rotates and removes users; a token is in one reply only', async () => {
  const admin = team.as('admin')
  const added = await postJson(admin, '/users', { user: { name: 'shop-ci', role: 'member', days: 90 } })
  expect(added.status).toBe(201)
  const { id, authentication_token: token } = userOf(added)
  expect(userOf(added)).toMatchObject({
    ...{ email: 'shop-ci', role: 'member', authentication_token: expect.stringMatching(TOKEN) },
    token_expires_at: new Date(clock.now() + 90 * DAY_MS).toISOString()
  })
  const own = { ...admin, token }
  expect(userOf(await get(own, `/users/${id}`)).authentication_token).toBe('redacted')

  const listed = await get(admin, '/users')
  expect(usersOf(listed).map(({ email }) => email)).toEqual(['admin', 'member', 'viewer', 'other', 'shop-ci'])
  expect(listed.text).not.toContain('lg_')
  expect(listed.json.total).toBe(5)

  const rotated = await postForm(admin, `/users/${id}/rotate`, [['user[days]', '30']])
  expect([rotated.status, userOf(rotated).id]).toEqual([200, id])
  expect(userOf(rotated).authentication_token).toMatch(TOKEN)
  expect(userOf(rotated).token_expires_at).toBe(new Date(clock.now() + 30 * DAY_MS).toISOString())
  expect((await get(own, '/account')).status).toBe(401)
  const lasting = await send(admin, 'POST', `/users/${id}/rotate`)
  expect([lasting.status, userOf(lasting).token_expires_at]).toEqual([200, undefined])

  const user = { ...admin, token: userOf(lasting).authentication_token }
  const run = await createRun(user, runForm({ duration: '60' }))
  const removed = await send(admin, 'DELETE', `/users/${id}`)
  const { waiting_runs: waiting, runs_at_work: atWork } = removed.json as unknown as Record<string, string[]>
  expect([removed.status, userOf(removed).email]).toEqual([200, 'shop-ci'])
  expect([...(waiting ?? []), ...(atWork ?? [])]).toEqual([run])
  expect((await get(user, '/account')).status).toBe(401)
  expect((await get(admin, `/users/${id}`)).status).toBe(404)
  await get(admin, `/runs/${run}/stop`)

  const lines = team.audited().filter(({ action }) => String(action).startsWith('user.'))
  expect(lines).toMatchObject(
    ['user.add', 'user.rotate', 'user.rotate', 'user.remove'].map((action) => ({
      ...{ action, user: 'admin', role: 'admin', target: 'shop-ci', address: '127.0.0.1' }
    }))
  )
  expect(JSON.stringify([team.audited(), team.service.lines])).not.toContain('lg_')
})

describe('nobody else does', () => {
  test.each<Member>(['member', 'viewer'])('%s', async (member) => {
    const as = team.as(member)
    const before = usersOf(await get(team.as('admin'), '/users'))
    const own = before.find(({ email }) => email === member)!.id
    const replies = [
      await get(as, '/users'),
      await postJson(as, '/users', { user: { name: 'x', role: 'admin' } }),
      // Not even with themselves.
      await send(as, 'POST', `/users/${own}/rotate`),
      await send(as, 'DELETE', `/users/${own}`)
    ]
    for (const { status, json } of replies)
      expect([status, json.error]).toEqual([403, expect.stringContaining('only an admin')])
    expect(usersOf(await get(team.as('admin'), '/users')).map(({ id }) => id)).toEqual(
      before.map(({ id }) => id)
    )
    expect((await get(as, '/account')).status).toBe(200)
  })
})

describe('as with the commands', () => {
  const add = (user: unknown): Promise<Reply> => postJson(team.as('admin'), '/users', { user })

  test.each<[string, unknown, number, string]>([
    ['nothing is given', undefined, 422, 'user: name is missing; user: role is missing'],
    ['a name is impossible', { name: 'a/b', role: 'viewer' }, 422, 'cannot be the name of a user'],
    ['a name is taken', { name: 'MEMBER', role: 'viewer' }, 409, 'there is a user member already'],
    ['a role is unknown', { name: 'x', role: 'root' }, 422, 'role must be admin or member or viewer'],
    ['days are none', { name: 'x', role: 'viewer', days: 0 }, 422, 'days must be a whole number from 1'],
    ['days are endless', { name: 'x', role: 'viewer', days: '9999' }, 422, 'to 3650, not "9999"'],
    ['a key is unknown', { name: 'x', role: 'viewer', day: 30 }, 422, 'user: there is no key "day"'],
    [
      'all of it is wrong',
      { name: 'x', rol: 'viewer', days: 0 },
      422,
      'user: role is missing; user: days must be a whole number from 1 to 3650, not "0"; user: there is no key "rol"'
    ]
  ])('where %s', async (_, user, status, words) => {
    const reply = await add(user)
    expect([reply.status, reply.json.error]).toEqual([status, expect.stringContaining(words)])
  })

  test('where a key is unknown, nothing is added or rotated: a misspelt one must not make a token without an end', async () => {
    const admin = team.as('admin')
    const before = usersOf(await get(admin, '/users'))
    const own = before.find(({ email }) => email === 'viewer')!.id
    const replies = [
      await add({ name: 'y', role: 'viewer', day: 30 }),
      await postForm(admin, '/users', [
        ['user[name]', 'y'],
        ['user[role]', 'viewer'],
        ['user[day]', '30']
      ]),
      await postForm(admin, `/users/${own}/rotate`, [['user[day]', '30']]),
      await postJson(admin, `/users/${own}/rotate`, { user: { day: 30 } })
    ]
    for (const { status, json } of replies)
      expect([status, json.error]).toEqual([422, 'user: there is no key "day"'])
    expect(usersOf(await get(admin, '/users'))).toEqual(before)
    expect((await get(team.as('viewer'), '/account')).status).toBe(200)
  })

  test('the last admin stays, though another one’s token has expired', async () => {
    const admin = team.as('admin')
    const late = userOf(await add({ name: 'late', role: 'admin', days: 1 }))
    const { id } = usersOf(await get(admin, '/users')).find(({ email }) => email === 'admin')!
    await clock.advance(DAY_MS)
    const reply = await send(admin, 'DELETE', `/users/${id}`)
    expect([reply.status, reply.json.error]).toEqual([409, expect.stringContaining('is the last admin')])
    expect((await get(admin, '/account')).status).toBe(200)
    expect((await send(admin, 'DELETE', `/users/${late.id}`)).status).toBe(200)
  })

  test('the last admin stays, and nobody is found who is not there', async () => {
    const admin = team.as('admin')
    const { id } = usersOf(await get(admin, '/users')).find(({ email }) => email === 'admin')!
    const reply = await send(admin, 'DELETE', `/users/${id}`)
    expect([reply.status, reply.json.error]).toEqual([409, expect.stringContaining('is the last admin')])
    expect((await send(admin, 'DELETE', '/users/999')).status).toBe(404)
    expect((await send(admin, 'POST', '/users/x/rotate')).status).toBe(404)
  })
})

test('a service for one person has that one', async () => {
  const service = await services.start()
  expect(usersOf(await get(service, '/users'))).toHaveLength(1)
  const reply = await postJson(service, '/users', { user: { name: 'x', role: 'viewer' } })
  expect([reply.status, reply.json.error]).toEqual([409, expect.stringContaining('loadgate serve --config')])
})
