import { afterEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openUsers } from '../../../src/service/accounts/open-users.js'
import { parseConfig } from '../../../src/service/config/parse-config.js'
import { type Clock, systemClock } from '../../../src/contract/clock.js'
import { DEFAULT_LIMITS } from '../../../src/service/http/limits.js'
import { serve } from '../../../src/service/serve.js'
import { startService } from '../../../src/service/server.js'
import { createFolders, finishRun, get, postForm, runForm, send, SPEC } from '../support.js'
import { HTML } from '../pages/page-support.js'

const folders = createFolders()
const open: { close(): Promise<void> }[] = []
const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) await end(child)
  await Promise.all(open.splice(0).map((service) => service.close()))
  folders.remove()
})

/** Ten seconds of a caller's patience take half a second. */
const hasty: Clock = {
  ...systemClock,
  steady: () => performance.now() * 20,
  sleep: (ms, signal) => systemClock.sleep(ms / 20, signal)
}

/** As `loadgate serve --config`, with one user. */
async function start(clock?: Clock) {
  const folder = folders.create()
  const { config, problems } = parseConfig('listen: 127.0.0.1:0\ndata: data\n', folder)
  if (!config) throw new Error(problems.join('\n'))
  const users = openUsers(config.dataDir, () => undefined)
  const { token } = users.add('ada', 'admin')
  users.close()
  const lines: string[] = []
  const served = await serve(
    {
      ...{ setUp: config, rehearse: true, serviceName: undefined, signal: new AbortController().signal },
      log: (line) => void lines.push((JSON.parse(line) as { msg: string }).msg)
    },
    {
      start: startService,
      pages: () => import('../../../src/report/page/served/served-pages.js'),
      limits: DEFAULT_LIMITS,
      ...(clock && { clock })
    }
  )
  open.push(served)
  return { url: `http://${served.listening ?? ''}`, token, lines, dataDir: join(folder, 'data') }
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** Another process that is writing, until it is ended. */
async function lock(dataDir: string): Promise<ChildProcess> {
  const flags = ['--experimental-transform-types', '--no-warnings']
  const hooks = ['--import', here('../../support/typescript-hooks.mjs')]
  const child = spawn(process.execPath, [...flags, ...hooks, here('./hold-folder.mjs'), 'hold', dataDir], {
    stdio: ['pipe', 'pipe', 'inherit']
  })
  children.push(child)
  await once(child.stdout, 'data')
  return child
}

async function end(child: ChildProcess): Promise<void> {
  child.stdin?.end()
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
}

const GRID = SPEC.map(([key, value]): [string, string] => [`grid[${key}]`, value])

describe('while another process is writing to the database', () => {
  test('everyone is answered at once, and what is created waits and is created once', async () => {
    const service = await start()
    const { uuid } = (await finishRun(service, runForm({ duration: '1' }))).json
    const holder = await lock(service.dataDir)
    const order: string[] = []
    const note =
      (name: string) =>
      <T>(reply: T): T => {
        order.push(name)
        return reply
      }
    const creations = [
      postForm(service, '/runs', runForm({ duration: '1' })).then(note('run')),
      postForm(service, '/grids', GRID).then(note('grid')),
      get(service, `/runs/${uuid}/repeat`).then(note('repeat')),
      send(service, 'PUT', `/runs/${uuid}/thresholds`, {
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ thresholds: 'apdex >= 0.1' })
      }).then(note('thresholds')),
      login(service).then(note('login'))
    ]
    const paths = ['/healthz', '/readyz', `/runs/${uuid}`, '/runs', '/grids', '/projects', '/account']
    for (const path of paths) expect([path, (await get(service, path)).status]).toEqual([path, 200])
    const page = await get(service, `/runs/${uuid}`, { headers: HTML })
    expect([page.status, order]).toEqual([200, []])
    await end(holder)
    const replies = await Promise.all(creations)
    expect(replies.map(({ status }) => status)).toEqual([201, 201, 200, 200, 303])
    const [run, , repeat] = replies
    const { _embedded, total } = (await get(service, '/runs')).json
    expect(total).toBe(3)
    expect(new Set(_embedded.runs.map((each) => each.uuid))).toEqual(
      new Set([run!.json.uuid, repeat!.json.uuid, uuid])
    )
    expect(service.lines.filter((line) => line.includes('cannot be written'))).toEqual([])
  })

  test('a creation that waits too long is refused, and nothing is created later', async () => {
    const service = await start(hasty)
    const holder = await lock(service.dataDir)
    const replies = await Promise.all([
      postForm(service, '/runs', runForm()),
      postForm(service, '/grids', GRID),
      login(service)
    ])
    const why =
      'the service cannot use its data folder (another process is writing to its database for longer than usual); try again later'
    expect(replies.map(({ status, headers, text }) => [status, headers['retry-after'], text])).toEqual([
      [503, '10', JSON.stringify({ error: `the run was not created: ${why}` })],
      [503, '10', JSON.stringify({ error: `the grid was not created: ${why}` })],
      [503, '10', `you cannot log in: ${why}`]
    ])
    await end(holder)
    expect((await get(service, '/runs')).json.total).toBe(0)
    expect((await get(service, '/grids')).json.total).toBe(0)
    expect((await postForm(service, '/runs', runForm())).status).toBe(201)
  })
})

/** By the form. */
function login({ url, token }: { url: string; token: string }): ReturnType<typeof send> {
  const body = new URLSearchParams({ token, next: '/' }).toString()
  return send({ url, token }, 'POST', '/login', {
    token: null,
    headers: { ...HTML, 'content-type': 'application/x-www-form-urlencoded', origin: url },
    body
  })
}
