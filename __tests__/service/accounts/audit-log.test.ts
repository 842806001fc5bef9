import { afterAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readFileSync, renameSync, rmdirSync, statSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { type AuditEntry, FrequentLines, openAuditLog } from '../../../src/service/accounts/audit-log.js'
import { createFolders, createRun, get, postJson, runForm, send, SPEC, until } from '../support.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createTeams, readLines } from './team.js'

const teams = createTeams()
const folders = createFolders()
afterAll(async () => {
  await teams.closeAll()
  folders.remove()
})

test('every effect and every refusal has its line, with who, what, when and from where', async () => {
  const team = await teams.start()
  const id = await createRun(team.as('member'), runForm({ duration: '60' }))
  await get(team.as('other'), `/runs/${id}/stop`)
  await get(team.as('member'), `/runs/${id}/stop`)
  const { json } = await get(team.as('admin'), `/runs/${id}/repeat`)
  const grid = (await postJson(team.as('member'), '/grids', { grid: Object.fromEntries(SPEC) })).json.uuid
  await send(team.as('admin'), 'DELETE', `/grids/${grid}`)
  await get({ ...team.service, token: 'lg_guess' }, '/account')
  // Neither of these does anything.
  await get(team.as('viewer'), '/runs')
  await get(team.service, '/account', { token: null })
  await until(() => team.audited().length >= 8)
  await team.service.close()
  const expected = [
    { user: null, action: 'service.start' },
    { user: 'member', role: 'member', action: 'run.create', target: id, status: 201 },
    { user: 'other', role: 'member', action: 'refused', target: `run.stop ${id}`, status: 403 },
    { user: 'member', role: 'member', action: 'run.stop', target: id, status: 200 },
    { user: 'admin', role: 'admin', action: 'run.repeat', target: id, created: json.uuid, status: 200 },
    { user: 'member', action: 'grid.create', target: grid, status: 201 },
    { user: 'admin', action: 'grid.terminate', target: grid, status: 200 },
    { user: null, action: 'login.failed', status: 401 },
    { user: null, action: 'service.stop' }
  ]
  const lines = team.audited()
  expect(lines).toMatchObject(expected)
  for (const line of lines.slice(1, -1))
    expect(line).toMatchObject({
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
      address: '127.0.0.1',
      request_id: expect.any(String)
    })
  const file = join(team.service.dataDir, 'audit.jsonl')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readFileSync(file, 'utf8')).not.toContain('lg_')
})

test('whoever hangs up before the reply is in it all the same', async () => {
  const team = await teams.start()
  const id = await createRun(team.as('member'), runForm({ duration: '60' }))
  const hangUp = (path: string, token: string): void => {
    const { port, host } = new URL(team.service.url)
    const text = (path: string): string =>
      [`GET ${path} HTTP/1.1`, `Host: ${host}`, `Authorization: Bearer ${token}`, '', ''].join('\r\n')
    const socket = connect(Number(port), '127.0.0.1')
    socket.write(text('/login'))
    // From now on the service knows that there is a connection.
    socket.once('data', () => socket.write(text(path), () => setImmediate(() => socket.resetAndDestroy())))
    socket.on('error', () => undefined)
  }
  const count = (action: string): number => team.audited().filter((line) => line.action === action).length
  const { token } = team.as('member')
  for (let i = 0; i < 10; i++) hangUp(`/runs/${id}/stop`, token)
  await until(() => count('run.stop') === 10)
  for (let i = 0; i < 10; i++) hangUp(`/runs/${id}/repeat`, token)
  await until(() => count('run.repeat') === 10)
  for (let i = 0; i < 3; i++) hangUp('/account', 'lg_guess')
  await until(() => count('login.failed') === 3)
  expect(team.audited().flatMap(({ request_id: id, address }) => (id === null ? [] : address))).toEqual(
    Array(24).fill('127.0.0.1')
  )
  expect(team.service.lines.join('\n')).not.toContain('failed')
})

describe('what anybody can send as often as they like', () => {
  /** How often something happened, by all lines, and how many lines there are. */
  const sum = (lines: Record<string, unknown>[]): { lines: number; times: number } => ({
    lines: lines.length,
    times: lines.reduce((total, { more }) => total + (typeof more === 'number' ? more : 1), 0)
  })

  test('has few lines and a number, by who it was', async () => {
    const clock = new ManualClock()
    const team = await teams.start({}, clock)
    const evil = { headers: { origin: 'https://evil.example' } }
    for (let i = 0; i < 30; i++) await get(team.service, `/runs/${i}`, { token: null, ...evil })
    for (let i = 0; i < 30; i++)
      await get(team.service, '/runs', { token: null, headers: { 'sec-fetch-site': 'cross-site' } })
    for (let i = 0; i < 70; i++) await postJson(team.as('viewer'), '/grids', {})
    await postJson(team.as('member'), '/grids', { grid: Object.fromEntries(SPEC) })
    const { host } = new URL(team.service.url)
    for (let i = 0; i < 10; i++)
      await send(team.service, 'POST', '/logout', {
        token: null,
        headers: { origin: `http://${host}`, 'content-type': 'application/x-www-form-urlencoded' },
        body: ''
      })
    await clock.advance(60_000)
    const by = (name: string | null) => team.audited().filter(({ user, address }) => address && user === name)
    expect(sum(by(null))).toEqual({ lines: 6, times: 60 })
    expect(by(null).at(-1)).toMatchObject({ action: 'refused', address: '127.0.0.1', status: 403, more: 55 })
    expect(sum(by('viewer'))).toEqual({ lines: 61, times: 70 })
    expect(by('viewer').at(-1)).toMatchObject({ action: 'refused', role: 'viewer', status: 403, more: 10 })
    expect(by('member')).toMatchObject([{ action: 'grid.create', status: 201 }])
    // The next minute begins anew.
    await get(team.service, '/runs', { token: null, ...evil })
    expect(sum(by(null))).toEqual({ lines: 7, times: 61 })
  })

  test('cannot come from so many addresses that it fills the disk or the memory', async () => {
    const clock = new ManualClock()
    const written: AuditEntry[] = []
    const frequent = new FrequentLines({ write: (entry) => void written.push(entry) }, clock)
    for (let minute = 0; minute < 3; minute++) {
      for (let i = 0; i < 20_000; i++)
        frequent.write({
          action: 'refused',
          status: 403,
          address: `2001:db8:${(i % 5000).toString(16)}::${i}`
        })
      await clock.advance(60_000)
    }
    expect(written.length).toBeLessThan(3 * 6 * 1001)
    expect(written.reduce((total, { more = 1 }) => total + more, 0)).toBe(60_000)
    expect(clock.pendingCount).toBe(0)
  })

  test('is told to the end', async () => {
    const team = await teams.start({}, new ManualClock())
    for (let i = 0; i < 9; i++)
      await get(team.service, '/runs', { token: null, headers: { origin: 'https://evil.example' } })
    await team.service.close()
    expect(
      team
        .audited()
        .filter(({ action }) => action === 'refused')
        .at(-1)
    ).toMatchObject({ more: 4 })
  })
})

test('what comes from outside stays within its line', () => {
  const dataDir = folders.create()
  const audit = openAuditLog(dataDir, { clock: new ManualClock(), log: () => undefined })
  const hostile = [
    'a\nb',
    'a\r\n{"action":"login"}',
    '"}\u2028{',
    '\u0085\u001b[2J',
    '\ud800',
    'x'.repeat(9999)
  ]
  for (const target of hostile) audit.write({ action: 'refused', target, user: { name: target } })
  const text = readFileSync(join(dataDir, 'audit.jsonl'), 'utf8')
  expect(text.split('\n')).toHaveLength(hostile.length + 1)
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\u2028\u2029]/u)
  for (const [i, line] of readLines(join(dataDir, 'audit.jsonl')).entries())
    expect(line.target).toBe(hostile[i]!.slice(0, 300))
})

test('a file that was moved away is begun anew, and one that cannot be written is said once', () => {
  const dataDir = folders.create()
  const file = join(dataDir, 'audit.jsonl')
  const said: string[] = []
  const audit = openAuditLog(dataDir, { clock: new ManualClock(), log: (line) => said.push(line) })
  audit.write({ action: 'one' })
  renameSync(file, `${file}.1`)
  audit.write({ action: 'two' })
  expect([readLines(`${file}.1`), readLines(file)]).toMatchObject([[{ action: 'one' }], [{ action: 'two' }]])
  renameSync(file, `${file}.2`)
  mkdirSync(file)
  for (let i = 0; i < 5; i++) audit.write({ action: 'lost' })
  expect(said).toEqual([
    expect.stringMatching(/^the audit log cannot be written: .*EISDIR.*is not recorded$/)
  ])
  rmdirSync(file)
  audit.write({ action: 'three' })
  expect(readLines(file)).toMatchObject([{ action: 'three' }])
})
