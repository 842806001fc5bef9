import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { type ProcessGroup, readStartTime } from '../../../../src/service/nodes/machine/processes.js'
import { startWatchdog } from '../../../../src/service/nodes/machine/watchdog.js'
import { watchdogsOf } from '../../../support/watchdogs.js'
import { createFolders, until } from '../../support.js'
import { writeScript } from '../../stand-in.js'

const folders = createFolders()
let started: ChildProcess[]
let pids: number[]

beforeEach(() => {
  started = []
  pids = []
})
afterEach(() => {
  for (const child of started) child.kill('SIGKILL')
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
  folders.remove()
})

function isAlive(pid: number): boolean {
  return readStartTime(pid) !== undefined
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

interface Owner {
  readonly child: ChildProcess
  readonly watchdogs: number[]
  readonly said: Record<string, unknown>[]
  readonly group: ProcessGroup
  kill(signal: NodeJS.Signals): Promise<void>
}

/** A separate process that runs a tool; the tool writes its process ids to the given file. */
async function startOwner(tool: readonly string[], ...more: string[]): Promise<Owner> {
  const dir = folders.create()
  const pidFile = join(dir, 'pids')
  const file = writeScript(join(dir, 'tool'), tool)
  const flags = [
    '--experimental-transform-types',
    '--no-warnings',
    '--import',
    here('../../../support/typescript-hooks.mjs')
  ]
  const child = spawn(process.execPath, [...flags, here('../../own-tool.mjs'), file, pidFile, ...more], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  started.push(child)
  const said: Record<string, unknown>[] = []
  createInterface(child.stdout).on('line', (line) => said.push(JSON.parse(line) as Record<string, unknown>))
  await until(() => existsSync(pidFile) && said.some(({ group }) => group !== undefined))
  pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
  const kill = async (signal: NodeJS.Signals): Promise<void> => {
    child.kill(signal)
    await until(() => child.signalCode !== null)
  }
  const watchdogs = watchdogsOf(child.pid!)
  pids.push(...watchdogs)
  return { child, watchdogs, said, group: said.find(({ group }) => group)!.group as ProcessGroup, kill }
}

const NOTE_PIDS = 'echo "$$ $!" > "$1.new"; mv "$1.new" "$1"'
const FOREVER = 'while :; do sleep 0.1; done'

describe('when its owner is killed', () => {
  test.each([
    { name: 'a tool with a grandchild', tool: [`(${FOREVER}) & ${NOTE_PIDS}`, FOREVER] },
    {
      name: 'a tool that ignores TERM',
      tool: [`trap '' TERM`, `(${FOREVER}) & ${NOTE_PIDS}`, FOREVER]
    },
    {
      name: 'a grandchild that ignores TERM and outlives the tool',
      tool: [`(trap '' TERM; ${FOREVER}) & ${NOTE_PIDS}`, 'wait']
    }
  ])('$name is ended, and so is the watchdog', async ({ tool }) => {
    const owner = await startOwner(tool)
    expect(owner.watchdogs).toHaveLength(1)
    expect(pids.map(isAlive)).toEqual([true, true, true])
    await owner.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
  })

  test.each([
    { name: 'ends on TERM', tool: [`(${FOREVER}) & ${NOTE_PIDS}`, FOREVER] },
    { name: 'has to be killed', tool: [`trap '' TERM`, `(${FOREVER}) & ${NOTE_PIDS}`, FOREVER] }
  ])('the temporary files of a tool that $name go with it, and nothing else', async ({ tool }) => {
    const root = folders.create()
    const tempDir = join(root, "a tool's $HOME")
    mkdirSync(join(tempDir, 'profile'), { recursive: true })
    writeFileSync(join(tempDir, 'profile', 'lock'), '')
    writeFileSync(join(root, 'another'), '')
    const owner = await startOwner(tool, tempDir)
    await owner.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
    expect(readdirSync(root)).toEqual(['another'])
  })

  test('the signals of a terminal and of a service manager do not end the watchdog', async () => {
    const owner = await startOwner([`(${FOREVER}) & ${NOTE_PIDS}`, FOREVER])
    for (const signal of ['SIGHUP', 'SIGINT', 'SIGQUIT', 'SIGTERM', 'SIGPIPE'] as const)
      process.kill(owner.watchdogs[0]!, signal)
    await owner.kill('SIGKILL')
    await until(() => !pids.some(isAlive))
  })
})

describe('when the tool ends', () => {
  test('the watchdog exits with it, and blocks nothing', async () => {
    const owner = await startOwner([`sleep 0 & ${NOTE_PIDS}`, 'sleep 0.3'])
    const code = await new Promise((resolve) => owner.child.once('exit', resolve))
    expect(code).toBe(0)
    expect(owner.said.at(-1)).toEqual({ done: true })
    await until(() => !pids.some(isAlive))
  })
})

describe('a watchdog whose owner ends', () => {
  /** Another process group, which must not be touched. */
  function startStranger(): number {
    const stranger = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
    started.push(stranger)
    return stranger.pid!
  }

  test('leaves the group alone once it was dismissed', async () => {
    const stranger = startStranger()
    const before = watchdogsOf(process.pid)
    const folder = folders.create()
    const watchdog = startWatchdog(folder)
    const [own] = watchdogsOf(process.pid).filter((pid) => !before.includes(pid))
    watchdog.watch({ pid: stranger })
    watchdog.dismiss()
    await until(() => !isAlive(own!))
    expect([isAlive(stranger), existsSync(folder)]).toEqual([true, true])
  })

  test('has nothing to do when there never was a tool', async () => {
    const before = watchdogsOf(process.pid)
    const watchdog = startWatchdog()
    const [own] = watchdogsOf(process.pid).filter((pid) => !before.includes(pid))
    watchdog.dismiss()
    await until(() => !isAlive(own!))
  })
})
