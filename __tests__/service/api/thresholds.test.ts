import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import type { Accounts, User } from '../../../src/service/accounts/users.js'
import { openDatabase } from '../../../src/service/store/database.js'
import { DataFolder } from '../../../src/service/store/data-folder.js'
import { HTML, visit, WITH_PAGES } from '../pages/page-support.js'
import {
  createRun,
  createServices,
  finishRun,
  get,
  runForm,
  send,
  specFields,
  waitForStatus
} from '../support.js'
import type { Address, Reply } from '../support.js'

const USERS: readonly User[] = [
  { id: 1, name: 'root', role: 'admin' },
  { id: 2, name: 'ann', role: 'member' },
  { id: 3, name: 'bob', role: 'member' },
  { id: 4, name: 'eve', role: 'viewer' }
]
/** The name is the token, and the cookie. */
const byName = (name: string): User | undefined => USERS.find((user) => user.name === name)
const ACCOUNTS: Accounts = {
  takesTokenInAddress: true,
  admit: (token) => Promise.resolve(byName(token)),
  findByToken: byName,
  findExpired: () => undefined,
  findBySession: byName,
  users: () => [],
  isRemoved: () => false,
  findCreator: ({ name }) => byName(name),
  openSession: ({ name }) => name,
  closeSession: () => undefined
}
const REAL_TIME = { duration: '60', override_parameters: '-Jrehearsal.realtime=true' }

interface ThresholdDoc {
  readonly thresholds: string
  readonly warm_up: number
  readonly verdict?: string
  readonly reason: string
  readonly problems: readonly string[]
  readonly lines: readonly { readonly threshold: string; readonly verdict: string }[]
}

const services = createServices()
let service: Awaited<ReturnType<typeof services.start>>
let as: Record<string, Address>
let ended: string

beforeAll(async () => {
  service = await services.start({ ...WITH_PAGES, accounts: ACCOUNTS })
  as = Object.fromEntries(USERS.map(({ name }) => [name, { url: service.url, token: name }]))
  ended = (await finishRun(as.ann!, runForm({ name: 'shop', threads: '3', duration: '10' }))).json.uuid
})
afterAll(() => services.closeAll())

const path = (id = ended): string => `/runs/${id}/thresholds`
const put = (who: string, body: unknown, id = ended): Promise<Reply> =>
  send(as[who]!, 'PUT', path(id), {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
const read = async (id = ended): Promise<ThresholdDoc> =>
  (await get(as.eve!, path(id))).json as unknown as ThresholdDoc

describe('thresholds of a run', () => {
  test.each([
    ['p95 < 9s\nsamples > 1', 'passed', ['passed', 'passed']],
    [['p95 < 9s', 'samples < 1 # no'], 'failed', ['passed', 'failed']],
    ['p95{label="nowhere"} < 1s', 'inconclusive', ['inconclusive']],
    ['apdex >= 0.01\nwarn: samples < 1', 'passed', ['passed', 'failed']],
    ['samples > 1\np95 <= baseline + 10%', 'left to the gate', ['passed', 'left to the gate']],
    ['samples < 1\np95 <= baseline + 10%', 'failed', ['failed', 'left to the gate']],
    ['samples > 1\nwarn: p95 <= baseline + 10%', 'passed', ['passed', 'left to the gate']]
  ])('%j make it %s', async (thresholds, verdict, lines) => {
    expect((await put('ann', { thresholds })).status).toBe(200)
    const document = await read()
    expect([document.verdict, document.lines.map((line) => line.verdict)]).toEqual([verdict, lines])
    expect(document.thresholds).toBe([thresholds].flat().join('\n'))
    const head = await send(as.eve!, 'HEAD', path())
    expect([head.status, head.text]).toEqual([200, ''])
  })

  test.each([
    [
      'a run shorter than its warm-up',
      { thresholds: 'samples > 1', warm_up: 3600 },
      /not longer than its warm-up/
    ],
    ['no thresholds of its own', { thresholds: 'p95 <= baseline' }, /^1 line compares with a baseline/],
    [
      'nothing that is judged here',
      { thresholds: 'warn: p95 <= baseline' },
      /^1 line compares with a baseline/
    ]
  ])('%s never passes', async (_name, body, reason) => {
    await put('ann', body)
    const { verdict, reason: words } = await read()
    expect(verdict).not.toBe('passed')
    expect(words).toMatch(reason)
  })

  test('every problem is told with its place, and nothing is stored', async () => {
    await put('ann', { thresholds: 'samples > 1' })
    const reply = await put('ann', { thresholds: 'p95 < 800\nlatency < 1s', warm_up: -1, more: 1 })
    expect(reply.status).toBe(422)
    const { problems } = reply.json as unknown as ThresholdDoc
    expect(problems).toHaveLength(4)
    expect(problems[1]).toContain('  p95 < 800\n           ^')
    expect((await read()).thresholds).toBe('samples > 1')
  })

  test.each<[string, unknown]>([
    ['nothing', undefined],
    ['a list', []],
    ['a number', { thresholds: 1 }],
    ['no thresholds', { warm_up: 1 }],
    ['too much', { thresholds: '#'.repeat(20_000) }],
    ['too many lines', { thresholds: '\n'.repeat(300) }],
    ['half a second', { thresholds: '', warm_up: 0.5 }]
  ])('%s is refused', async (_name, body) => {
    expect((await put('ann', body)).status).toBe(422)
  })

  test('an empty text removes them', async () => {
    await put('ann', { thresholds: 'samples > 1', warm_up: 1 })
    await put('ann', { thresholds: ' # nothing\n' })
    expect(await read()).toMatchObject({ thresholds: '', warm_up: 0 })
    expect((await read()).verdict).toBeUndefined()
  })

  test.each([
    ['ann', 200],
    ['root', 200],
    ['bob', 403],
    ['eve', 403]
  ])('%s, of the run of ann: %d', async (who, status) => {
    expect((await put(who, { thresholds: 'samples > 2' })).status).toBe(status)
  })

  test('a run that was stopped, or whose results are gone, is inconclusive', async () => {
    const id = await createRun(as.ann!, runForm(REAL_TIME))
    await waitForStatus(as.ann!, `/runs/${id}`, ['running'])
    await put('ann', { thresholds: 'error_rate <= 100%' }, id)
    expect((await read(id)).verdict).toBeUndefined()
    await get(as.ann!, `/runs/${id}/stop`)
    await waitForStatus(as.ann!, `/runs/${id}`, ['finished'])
    const stopped = await read(id)
    expect(stopped.verdict).toBe('inconclusive')
    expect(stopped.reason).toMatch(
      /^The run was stopped before its end: stopped by a caller.* If a gate stopped it, the gate has the verdict\.$/
    )
    const other = (await finishRun(as.ann!, runForm({ duration: '5' }))).json.uuid
    rmSync(join(service.dataDir, 'runs', other), { recursive: true })
    await put('ann', { thresholds: 'error_rate <= 100%' }, other)
    expect((await read(other)).verdict).toBe('inconclusive')
  })
})

test('a run one of whose grids has no record any more is inconclusive, though the other one is whole', async () => {
  const grids = [...specFields(), ...specFields({ region: 'eu-west-1' })]
  const { uuid, _embedded } = (await finishRun(as.ann!, runForm({ duration: '5' }, grids))).json
  const gridId = _embedded.grids[0]!.uuid
  await send(as.ann!, 'DELETE', `/grids/${gridId}`)
  const database = openDatabase(service.dataDir)
  database.prepare('DELETE FROM grids WHERE id = ?').run(gridId)
  database.close()
  await put('ann', { thresholds: 'error_rate <= 100%' }, uuid)
  expect(await read(uuid)).toMatchObject({
    verdict: 'inconclusive',
    reason: expect.stringContaining(`grid ${gridId}`)
  })
})

describe('results that are not those that the run had at its end', () => {
  let id: string
  let files: string[]
  let texts: string[]
  beforeAll(async () => {
    const grids = [...specFields(), ...specFields({ region: 'eu-west-1', instance_quantity: '2' })]
    id = (await finishRun(as.ann!, runForm({ threads: '3', duration: '5' }, grids))).json.uuid
    const folder = join(service.dataDir, 'runs', id, 'results')
    files = readdirSync(folder).map((name) => join(folder, name))
    texts = files.map((file) => readFileSync(file, 'utf8'))
  })
  /** Back to how it was, with other texts in some of them. */
  const write = (...others: (string | undefined)[]): void =>
    files.forEach((file, index) => {
      rmSync(file, { recursive: true, force: true })
      writeFileSync(file, others[index] ?? texts[index]!)
    })
  const rowsOf = (text: string): string => text.slice(text.indexOf('\n') + 1)
  const cut = (text: string, rows: number): string =>
    text
      .split(/(?<=\n)/)
      .slice(0, rows)
      .join('')
  const twice = (text: string): string => text + rowsOf(text)

  test.each<[string, () => void]>([
    ['one row less', () => write(cut(texts[0]!, -1))],
    ['a few rows', () => write(cut(texts[0]!, 4))],
    ['no rows', () => write(cut(texts[0]!, 1))],
    ['half a row less', () => write(texts[0]!.slice(0, -20))],
    ['each row twice', () => write(twice(texts[0]!))],
    ['those of another grid', () => write(texts[1])],
    ['all rows in one of them', () => write(cut(texts[0]!, 1), texts[1]! + rowsOf(texts[0]!))],
    ['one file less', () => rmSync(files[0]!)],
    ['no files', () => files.forEach((file) => rmSync(file))],
    [
      'a folder',
      () => {
        rmSync(files[0]!)
        mkdirSync(files[0]!)
      }
    ],
    [
      'a file that cannot be opened',
      () => {
        rmSync(files[0]!)
        symlinkSync(files[0]!, files[0]!)
      }
    ]
  ])('%s: inconclusive until they are back, whether the line holds or not', async (_name, change) => {
    for (const [thresholds, verdict] of [
      ['error_rate <= 100%', 'passed'],
      ['samples < 1', 'failed']
    ]) {
      change()
      await put('ann', { thresholds }, id)
      expect((await read(id)).verdict).toBe('inconclusive')
      const page = await get(as.ann!, `/runs/${id}`, { headers: HTML })
      expect([page.status, page.text.includes('<h1>inconclusive</h1>')]).toEqual([200, true])
      write()
      // By itself, and by the same thresholds sent again.
      expect((await read(id)).verdict).toBe(verdict)
      await put('ann', { thresholds }, id)
      expect((await read(id)).verdict).toBe(verdict)
    }
  })

  test('once they were judged, the verdict stays when they are deleted', async () => {
    await put('ann', { thresholds: 'error_rate <= 100%' }, id)
    expect((await read(id)).verdict).toBe('passed')
    files.forEach((file) => rmSync(file))
    expect((await read(id)).verdict).toBe('passed')
    // Whoever sends thresholds asks anew.
    await put('ann', { thresholds: 'error_rate <= 100%' }, id)
    expect((await read(id)).verdict).toBe('inconclusive')
    write()
  })

  test.each([
    ['with thresholds', 'samples > 1', 'Not all results can be read: grid '],
    ['without', '', 'The figures are not complete: grid ']
  ])(
    'those that cannot be read are told on the page, and the file in the log: %s',
    async (_, text, words) => {
      await put('ann', { thresholds: text }, id)
      write()
      rmSync(files[0]!)
      symlinkSync(files[0]!, files[0]!)
      const page = await get(as.ann!, `/runs/${id}`, { headers: HTML })
      expect(page.status).toBe(200)
      expect(page.text).toContain(words)
      expect(page.text).toContain('its results cannot be read (ELOOP)')
      expect(service.lines.at(-1)).toContain(files[0])
      write()
      expect((await get(as.ann!, `/runs/${id}`, { headers: HTML })).text).not.toContain(words)
    }
  )

  test('a download of them says so, in JSON', async () => {
    rmSync(files[0]!)
    mkdirSync(files[0]!)
    for (const query of ['', `?grid_id=${basename(files[0]!, '.csv')}`]) {
      const reply = await get(as.ann!, `/runs/${id}/result.csv${query}`)
      expect([reply.status, reply.json.error]).toEqual([503, expect.stringMatching(/cannot be read/)])
    }
    write()
    expect((await get(as.ann!, `/runs/${id}/result.csv`)).status).toBe(200)
    const [file] = (await get(as.ann!, `/runs/${id}`)).json._embedded.files
    const upload = new DataFolder(service.dataDir).uploadedFile(id, file!.name)
    rmSync(upload)
    mkdirSync(upload)
    const reply = await get(as.ann!, new URL(file!.href).pathname)
    expect([reply.status, reply.json.error]).toEqual([503, expect.stringMatching(/data folder/)])
    expect(reply.headers['content-disposition']).toBeUndefined()
  })
})

describe('on the pages', () => {
  const browse = (who: string, address: string): Promise<Reply> =>
    get(service, address, { token: null, headers: { ...HTML, cookie: `${cookieName}=${who}` } })
  let cookieName: string
  beforeAll(async () => {
    cookieName = (await visit({ ...service, token: 'ann' })).split('=')[0]!
    await put('ann', { thresholds: 'samples > 1' })
  })
  const post = (who: string, body: string, headers: Record<string, string> = {}): Promise<Reply> =>
    send(service, 'POST', path(), {
      token: null,
      headers: {
        ...{ cookie: `${cookieName}=${who}`, origin: new URL(service.url).origin },
        'content-type': 'application/x-www-form-urlencoded',
        ...headers
      },
      body
    })

  test('the verdict and its reason are at the top, and the list has it too', async () => {
    const { text } = await browse('eve', `/runs/${ended}`)
    expect(text).toContain('<h1>passed</h1>')
    expect(text).toContain('<p class="reason">The threshold holds.</p>')
    const list = async (): Promise<string> => (await browse('eve', '/?name=shop')).text
    while ((await list()).includes('judging…')) await new Promise((resolve) => setTimeout(resolve, 20))
    expect(await list()).toContain('>passed</span>')
  })

  test.each([
    ['ann', true],
    ['root', true],
    ['bob', false],
    ['eve', false]
  ])('%s is offered what may be done: %s', async (who, isOffered) => {
    const id = await createRun(as.ann!, runForm(REAL_TIME))
    const { text } = await browse(who, `/runs/${id}`)
    expect(text.includes('id="stop"')).toBe(isOffered)
    expect(text.includes('<textarea')).toBe(isOffered)
    expect(text).toContain(`<span class="visitor-name">${who}</span>`)
    expect(text).toContain('<dt>Started by</dt><dd>ann</dd>')
    expect(text).toContain('action="/logout"')
    await get(as.ann!, `/runs/${id}/stop`)
  })

  test('what is typed in is stored, or shown again with what is wrong', async () => {
    const good = await post('ann', 'thresholds=samples+%3E+3&warm_up=')
    expect([good.status, good.headers.location]).toEqual([303, `/runs/${ended}`])
    const bad = await post('ann', 'thresholds=%3C%2Ftextarea%3E&warm_up=x')
    expect(bad.status).toBe(422)
    expect(bad.text).toContain('&#60;/textarea&#62;</textarea>')
    expect(bad.text).toContain('warm_up must be a whole number from 0 to 86400')
    expect((await read()).thresholds).toBe('samples > 3')
  })

  test.each<[string, string, string, Record<string, string>, number]>([
    ['another member', 'bob', 'thresholds=', {}, 403],
    ['a viewer', 'eve', 'thresholds=', {}, 403],
    ['a foreign page', 'ann', 'thresholds=', { origin: 'https://evil.example' }, 403],
    ['no form', 'ann', '{"fields":[1]}', { 'content-type': 'application/json' }, 422],
    ['a form without the box', 'ann', 'warm_up=1', {}, 422]
  ])('%s changes nothing', async (_name, who, body, headers, status) => {
    expect((await post(who, body, headers)).status).toBe(status)
    expect((await read()).thresholds).toBe('samples > 3')
  })
})
