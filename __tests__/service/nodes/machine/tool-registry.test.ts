import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { execFileSync, spawn } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  utimesSync,
  writeFileSync
} from 'node:fs'
import { join } from 'node:path'
import { readStartTime } from '../../../../src/service/nodes/machine/processes.js'
import { stateFolder, ToolRegistry } from '../../../../src/service/nodes/machine/tool-registry.js'
import { createKillable, type KillableService } from '../../killable-service.js'
import { runEndlessly, writeJMeter, writeSample } from '../../stand-in.js'
import { createRun, createServices, finishRun, until } from '../../support.js'

const services = createServices()
const killable = createKillable()
let stateHome: string
let pids: number[]

beforeEach(() => {
  stateHome = services.folder()
  process.env.XDG_STATE_HOME = stateHome
  pids = []
})
afterEach(async () => {
  killable.killAll()
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
  await services.closeAll()
})

const registryDir = (): string => join(stateHome, 'loadgate', 'tools')

function isAlive(pid: number): boolean {
  return readStartTime(pid) !== undefined
}

/** A service with a running tool, and the tool's process ids. */
async function startTool(): Promise<KillableService> {
  const pidFile = join(services.folder(), 'pids')
  const home = writeJMeter(services.folder(), runEndlessly(pidFile, 'deaf'))
  const owner = await killable.start(services.folder(), home)
  await createRun(owner)
  // The tool may be running before its owner has noted it.
  await until(() => existsSync(pidFile) && readdirSync(registryDir()).some((name) => name.endsWith('.json')))
  pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
  return owner
}

describe('the next service, with another data folder', () => {
  test('ends the tool of an owner that was killed, and says so', async () => {
    const owner = await startTool()
    expect(statSync(registryDir()).mode & 0o777).toBe(0o700)
    await owner.kill()
    expect(pids.map(isAlive)).toEqual([true, true])
    const { lines } = await services.start()
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(lines).toEqual([
      expect.stringMatching(
        new RegExp(
          `^ended the tool's processes \\(group ${pids[0]!}\\), left behind when process \\d+ was killed$`
        )
      )
    ])
    expect(readdirSync(registryDir())).toEqual([])
  })

  test('removes the temporary files of a tool whose owner and watchdog were killed', async () => {
    const registry = ToolRegistry.open({ XDG_STATE_HOME: stateHome }, () => undefined)
    const temp = join(services.folder(), 'loadgate-temp')
    mkdirSync(join(temp, 'home'), { recursive: true })
    const child = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    child.unref()
    pids = [child.pid!]
    registry.note({ pid: child.pid!, startTime: readStartTime(child.pid!)! }, temp)
    const [name = ''] = readdirSync(registryDir())
    await registry.endOrphans()
    expect(existsSync(temp)).toBe(true)
    // As if this process had ended.
    const file = join(registryDir(), name)
    const note = JSON.parse(readFileSync(file, 'utf8')) as { owner: { startTime: string } }
    note.owner.startTime = `0${note.owner.startTime}`
    writeFileSync(file, JSON.stringify(note))
    await registry.endOrphans()
    expect([existsSync(temp), existsSync(file), isAlive(child.pid!)]).toEqual([false, false, false])
  })

  test('leaves the tool of an owner that lives', async () => {
    await startTool()
    const { lines } = await services.start()
    expect(pids.map(isAlive)).toEqual([true, true])
    expect(lines).toEqual([])
    expect(readdirSync(registryDir())).toHaveLength(1)
  })

  test.each([
    {
      name: 'another start time and another marker of the tool',
      from: /("pid":\d+,"startTime":"[^"]+)","marker":"(.*owner)/,
      to: '$11","marker":"0$2'
    },
    { name: 'another place', from: /"place":"/, to: '"place":"elsewhere ' }
  ])('leaves a tool noted with $name', async ({ from, to }) => {
    const owner = await startTool()
    await owner.kill()
    const [name] = readdirSync(registryDir())
    const note = readFileSync(join(registryDir(), name!), 'utf8')
    expect(note).toMatch(from)
    writeFileSync(join(registryDir(), name!), note.replace(from, to))
    expect((await services.start()).lines).toEqual([])
    expect(pids.map(isAlive)).toEqual([true, true])
  })
})

describe('a broken folder', () => {
  const runOneTool = async (): Promise<void> => {
    const home = writeJMeter(services.folder(), [writeSample('home')])
    const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
    expect((await finishRun(service)).json.status).toBe('finished')
  }

  test.each([
    { name: 'a file in its place', make: () => writeFileSync(join(stateHome, 'loadgate'), '') },
    {
      name: 'no right to write',
      make: () => {
        mkdirSync(registryDir(), { recursive: true })
        chmodSync(registryDir(), 0o500)
      }
    },
    {
      name: 'odd files',
      make: () => {
        mkdirSync(registryDir(), { recursive: true })
        const name = (n: number): string => join(registryDir(), `${n}-0123456789abcdef.json`)
        const odd = ['', '{', 'null', '[]', '7', '{"group":{"pid":-1}}', '{"group":[],"owner":null}']
        odd.forEach((text, n) => writeFileSync(name(n), text))
        const mine = { pid: 1, startTime: 'x' }
        writeFileSync(name(50), JSON.stringify({ group: mine, owner: mine, place: 'here' }))
        mkdirSync(name(51))
        // Without a writer.
        execFileSync('mkfifo', [name(52)])
        writeFileSync(join(registryDir(), 'notes.txt'), 'mine')
      }
    }
  ])('stops nothing: $name', async ({ make }) => {
    make()
    await runOneTool()
  })

  test('a folder that others may write to becomes private', async () => {
    mkdirSync(registryDir(), { recursive: true })
    chmodSync(registryDir(), 0o777)
    await runOneTool()
    expect(statSync(registryDir()).mode & 0o777).toBe(0o700)
  })

  test('stale records are removed after a week', async () => {
    mkdirSync(registryDir(), { recursive: true })
    const [old, young] = ['1', '2'].map((n) => join(registryDir(), `${n}-0123456789abcdef.json`))
    for (const file of [old!, young!]) writeFileSync(file, '{"place":"elsewhere"}')
    const longAgo = Date.now() / 1000 - 8 * 24 * 3600
    utimesSync(old!, longAgo, longAgo)
    await ToolRegistry.open(process.env, () => undefined).endOrphans()
    expect([old!, young!].map((file) => existsSync(file))).toEqual([false, true])
  })
})

describe('where the folder is', () => {
  const platformFolder = process.platform === 'darwin' ? 'Library/Application Support' : '.local/state'

  test.each([
    { env: { XDG_STATE_HOME: '/state', HOME: '/home/dev' }, folder: '/state/loadgate' },
    { env: { XDG_STATE_HOME: '', HOME: '/home/dev' }, folder: `/home/dev/${platformFolder}/loadgate` },
    { env: { XDG_STATE_HOME: 'state', HOME: '/home/dev' }, folder: `/home/dev/${platformFolder}/loadgate` }
  ])('$env', ({ env, folder }) => {
    expect(stateFolder(env)).toBe(folder)
  })
})
