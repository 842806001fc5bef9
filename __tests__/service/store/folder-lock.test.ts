import { afterEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openUsers } from '../../../src/service/accounts/open-users.js'
import { pruneBeside } from '../../../src/service/retention/prune.js'
import { openStore } from '../../../src/service/serve.js'
import { createRun, createServices, get, postForm, send, SPEC, waitForStatus } from '../support.js'

const services = createServices()
const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  await services.closeAll()
})

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const NODE = [
  ...[process.execPath, '--experimental-transform-types', '--no-warnings'],
  ...['--import', here('../../support/typescript-hooks.mjs'), here('./hold-folder.mjs')]
]
/** As in a container, where the service is process 1. It ends with its parent. */
const APART = ['unshare', '--fork', '--pid', '--kill-child']
const canBeApart =
  process.platform === 'linux' && spawnSync(APART[0]!, [...APART.slice(1), 'true']).status === 0

/** Returns its first line. */
async function startBeside(
  what: 'service' | 'lock',
  dataDir: string,
  by: readonly string[] = []
): Promise<string> {
  const [command, ...args] = [...by, ...NODE, what, dataDir]
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  children.push(child)
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  return line.toString().trim()
}

describe('a folder that another service has', () => {
  const places: [string, string[]][] = [
    ['on this machine', []],
    ...(canBeApart ? [['in a container of its own', APART] as [string, string[]]] : [])
  ]

  test.each(places)('%s is refused with its process id, and nothing in it is touched', async (_, by) => {
    const dataDir = services.folder()
    const pid = await startBeside('service', dataDir, by)
    const upload = join(dataDir, 'uploads', 'of-the-other')
    mkdirSync(upload)
    writeFileSync(join(upload, 'plan.jmx'), '')
    expect(() => openStore(dataDir, { log: () => undefined })).toThrow(
      `the data folder ${dataDir} is in use by the service with process id ${pid}; stop it, or choose another folder`
    )
    expect(existsSync(upload)).toBe(true)
    // Commands work beside it.
    const users = openUsers(dataDir, () => undefined)
    users.add('ada', 'admin')
    users.close()
    expect(await pruneBeside(dataDir, { retention: { days: 1 }, isDry: false, nowMs: 0 })).toEqual([])
    children[0]!.kill('SIGKILL')
    // A moment later, for the system ends what is in a container after it.
    for (;;) {
      const service = await services.start({ dataDir }).catch((thrown: unknown) => thrown)
      if (!(service instanceof Error)) break
      expect(service.message).toContain('is in use')
    }
  })
})

test('a command that writes for a second keeps nobody from anything', async () => {
  const service = await services.start()
  const id = await createRun(service)
  await waitForStatus(service, `/runs/${id}`, ['finished'])
  await startBeside('lock', service.dataDir)
  const replies = [
    await postForm(
      service,
      '/grids',
      SPEC.map(([key, value]) => [`grid[${key}]`, value])
    ),
    await get(service, `/runs/${id}/repeat`),
    await send(service, 'PUT', `/runs/${id}/thresholds`, {
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ thresholds: 'apdex >= 0.1' })
    })
  ]
  expect(replies.map(({ status, text }) => (status < 300 ? 'done' : text))).toEqual(['done', 'done', 'done'])
})
