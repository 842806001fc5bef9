import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import { systemClock } from '../../../src/contract/clock.js'
import { IssuerUsers } from '../../../src/service/accounts/oidc/issuer-users.js'
import { openUsers } from '../../../src/service/accounts/open-users.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { RunTable } from '../../../src/service/store/tables.js'
import { runCommandLine } from '../../../src/cli/commands.js'
import { readLines } from '../../service/accounts/team.js'
import { makeRun } from '../../service/store/records.js'
import { createFolders } from '../../service/support.js'
import { makeCommandPorts } from '../command-ports.js'

const folders = createFolders()
afterAll(() => folders.remove())

const TOKEN = /lg_[0-9a-f]{12}_[\w-]{43}/

function makeService(): { dataDir: string; type: (words: string) => Promise<{ out: string; err: string }> } {
  const workspace = folders.create()
  const dataDir = join(workspace, 'data')
  writeFileSync(join(workspace, 'service.yml'), 'listen: 127.0.0.1:8443\ndata: data\n')
  return {
    dataDir,
    type: async (words) => {
      const ports = makeCommandPorts({
        workspace,
        openUsers: (folder) => Promise.resolve(openUsers(folder, (line) => ports.screen.err.write(line)))
      })
      const args = ['user', ...words.split(' ')]
      expect(await runCommandLine(args, ports)).toBe(0)
      return { out: ports.screen.out.text, err: ports.screen.err.text }
    }
  }
}

const CONFIG = '--config service.yml'

test('the documents have exactly these fields, and a token is only on standard output', async () => {
  const { type, dataDir } = makeService()
  const added = await type(`add anna --role admin --json ${CONFIG}`)
  const anna = JSON.parse(added.out) as { token: string }
  expect(anna).toEqual({ name: 'anna', role: 'admin', token: expect.stringMatching(TOKEN) })
  const rotated = JSON.parse((await type(`rotate ANNA --json ${CONFIG}`)).out) as { token: string }
  expect(rotated).toEqual({ name: 'anna', role: 'admin', token: expect.stringMatching(TOKEN) })
  expect(rotated.token).not.toBe(anna.token)
  await type(`add ben@example.com --role viewer ${CONFIG}`)
  const listed = await type(`list --json ${CONFIG}`)
  const since = {
    created: expect.any(String),
    last_seen: null,
    sign_ins: 0,
    token_expires: null,
    issuer: null
  }
  expect(JSON.parse(listed.out)).toEqual([
    { name: 'anna', role: 'admin', ...since },
    { name: 'ben@example.com', role: 'viewer', ...since }
  ])
  const removed = await type(`remove ben@example.com --json ${CONFIG}`)
  expect(JSON.parse(removed.out)).toEqual({
    ...{ name: 'ben@example.com', role: 'viewer', removed: true },
    waiting_runs: [],
    runs_at_work: []
  })
  for (const { err } of [added, listed, removed]) expect(err).toBe('')
  const file = join(dataDir, 'audit.jsonl')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toMatch(TOKEN)
  const by = { user: userInfo().username, role: 'operator' }
  expect(readLines(file)).toMatchObject([
    { action: 'user.add', target: 'anna', ...by },
    { action: 'user.rotate', target: 'anna', ...by },
    { action: 'user.add', target: 'ben@example.com', ...by },
    { action: 'user.remove', target: 'ben@example.com', ...by }
  ])
})

test('people read the same', async () => {
  const { type } = makeService()
  expect((await type(`list ${CONFIG}`)).out).toContain('There are no users yet')
  const { out, err } = await type(`add anna --role admin ${CONFIG}`)
  // As `TOKEN=$(loadgate user add …)` needs it.
  expect(out).toMatch(/^lg_\S+\n$/)
  expect(err).toBe('Added anna (admin).\nSave the token now: it is not shown again.\n')
  const { out: list } = await type(`list ${CONFIG}`)
  expect(list).toMatch(/name +role +created +last seen +token ends/)
  expect(list).toMatch(/anna +admin +20\S+ \S+ +never +never/)
  expect(list).not.toMatch(TOKEN)
  await type(`add ben --role admin ${CONFIG}`)
  expect((await type(`remove ben ${CONFIG}`)).out).toContain('Removed ben (admin)')
})

test('tokens end after the days that were given', async () => {
  const { type, dataDir } = makeService()
  const ofDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)
  const { out, err } = await type(`add anna --role admin --days 90 ${CONFIG}`)
  expect(out).toMatch(/^lg_\S+\n$/)
  expect(err).toContain(`It ends on ${ofDays(90)}; whoever uses it is warned two weeks before.\n`)
  expect((await type(`list ${CONFIG}`)).out).toMatch(new RegExp(`anna +admin .*${ofDays(90)}`))
  const rotated = await type(`rotate anna --days 1 --json ${CONFIG}`)
  expect(JSON.parse(rotated.out)).toMatchObject({
    name: 'anna',
    token_expires: expect.stringMatching(ofDays(1))
  })
  const database = openDatabase(dataDir)
  database.exec('UPDATE users SET expires_ms = 0')
  database.close()
  expect((await type(`list ${CONFIG}`)).out).toContain('expired 1970-01-01')
  const lasting = await type(`rotate anna --json ${CONFIG}`)
  expect(Object.keys(JSON.parse(lasting.out) as object)).toEqual(['name', 'role', 'token'])
})

test('whoever ends a token learns what it has started and what goes on', async () => {
  const { type, dataDir } = makeService()
  await type(`add ops --role admin ${CONFIG}`)
  await type(`add leaked --role member ${CONFIG}`)
  const users = openUsers(dataDir, () => undefined)
  const ids = new Map(users.users().map(({ id, name }) => [name, id]))
  users.close()
  const database = openDatabase(dataDir)
  const runs = new RunTable(database, () => undefined)
  let sequence = 0
  for (const [name, id] of ids)
    for (const status of ['queued', 'running', 'stopping', 'finished', 'problem'] as const)
      runs.insert(makeRun({ id: `${name}-${status}`, status, user: { id, name }, sequence: ++sequence }))
  database.close()
  expect((await type(`rotate LEAKED ${CONFIG}`)).err).toContain(
    '3 of their runs go on, waiting or in progress; an admin can stop them: /?user=leaked\n'
  )
  const { out } = await type(`remove leaked ${CONFIG}`)
  expect(out).toContain(
    'Removed leaked (member). Their runs are still there.\n1 of their runs is waiting and will end'
  )
  expect(out).toMatch(
    /2 of their runs are in progress and go on; .*:\n {2}leaked-running\n {2}leaked-stopping\n$/
  )
})

test('a user of an issuer is listed with it, has no token here, and may come back once it is removed', async () => {
  const { type, dataDir } = makeService()
  await type(`add ops --role admin ${CONFIG}`)
  const database = openDatabase(dataDir)
  const issuer = 'https://token.actions.example'
  const shop = { subject: 'acme/shop', name: 'acme/shop', role: 'member', project: undefined } as const
  new IssuerUsers(database, systemClock).require({ issuer, ...shop })
  database.close()
  const { out: list } = await type(`list ${CONFIG}`)
  expect(list).toMatch(/name +role +created +last seen +token ends +issuer/)
  expect(list).toMatch(/acme\/shop +member +20\S+ \S+ +20\S+ \S+ +https:\/\/token\.actions\.example/)
  expect(JSON.parse((await type(`list --json ${CONFIG}`)).out)).toMatchObject([{ issuer: null }, { issuer }])
  await expect(type(`rotate acme/shop ${CONFIG}`)).rejects.toThrow(/has no token here/)
  expect((await type(`remove acme/shop ${CONFIG}`)).out).toContain(
    `acme/shop comes from ${issuer}: a new user of that name is made with its next request, as long as a rule of oidc`
  )
})

describe('mistakes', () => {
  test.each([
    [`add anna ${CONFIG}`, 'give the role of the user with --role: admin, member, viewer'],
    [`add anna --role root ${CONFIG}`, '--role: "root" is invalid; expected one of admin, member, viewer'],
    ['add anna --role admin', 'give the config file of the service with --config'],
    [`add --role admin ${CONFIG}`, 'takes one name, found 0'],
    [`rotate anna ben ${CONFIG}`, 'takes one name, found 2'],
    [`list anna ${CONFIG}`, 'takes flags only'],
    [`rotate anna --role admin ${CONFIG}`, 'there is no flag --role here'],
    [`add a:b --role admin ${CONFIG}`, 'cannot be the name of a user'],
    [`add anna --role admin --days 0 ${CONFIG}`, '--days: "0" is invalid'],
    [`rotate anna --days soon ${CONFIG}`, '--days: "soon" is invalid'],
    [`rotate nobody ${CONFIG}`, 'there is no user "nobody"'],
    ['list --config nowhere.yml', 'cannot be read'],
    ['list --config wrong.yml', 'lisen']
  ])('%s', async (words, message) => {
    const workspace = folders.create()
    mkdirSync(join(workspace, 'data'))
    writeFileSync(join(workspace, 'service.yml'), 'listen: 127.0.0.1:8443\ndata: data\n')
    writeFileSync(join(workspace, 'wrong.yml'), 'lisen: 127.0.0.1:8443\ndata: data\n')
    const ports = makeCommandPorts({
      workspace,
      openUsers: (folder) => Promise.resolve(openUsers(folder, () => undefined))
    })
    await expect(runCommandLine(['user', ...words.split(' ')], ports)).rejects.toThrow(message)
    expect(ports.screen.out.text).toBe('')
  })
})
