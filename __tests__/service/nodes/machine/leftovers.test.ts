import { afterAll, afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { endBelongings, MARKER_VARIABLE } from '../../../../src/service/nodes/machine/leftovers.js'
import {
  Processes,
  type ProcessGroup,
  readStartTime
} from '../../../../src/service/nodes/machine/processes.js'
import { createKillable } from '../../killable-service.js'
import { writeJMeter, writeSample, writeScript } from '../../stand-in.js'
import { createRun, createServices, get, until, waitForStatus } from '../../support.js'

const services = createServices()
const killable = createKillable()
const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
let pids: number[]
let owners: ChildProcess[]

beforeEach(() => {
  process.env.XDG_STATE_HOME = services.folder()
  pids = []
  owners = []
})
afterEach(() => {
  for (const owner of owners) owner.kill('SIGKILL')
  for (const pid of pids.filter(isAlive)) process.kill(pid, 'SIGKILL')
})
afterAll(async () => {
  killable.killAll()
  await services.closeAll()
})

function isAlive(pid: number): boolean {
  return readStartTime(pid) !== undefined
}

/**
 * A child in a session of its own, whose parent has exited, in another folder, under another name, deaf to TERM, with none of the tool's
 * pipes; it leaves its id in the file.
 */
const daemon = (pidFile: string): string =>
  `cp "$(command -v sleep)" "${pidFile}-kworker"; (setsid sh -c 'trap "" TERM HUP; cd /; echo $$ >"${pidFile}.new"; mv "${pidFile}.new" "${pidFile}"; exec "${pidFile}-kworker" 600' </dev/null >/dev/null 2>&1 &)`
const untilThere = (pidFile: string): string => `until [ -e "${pidFile}" ]; do sleep 0.02; done`

async function readPid(pidFile: string): Promise<number> {
  await until(() => existsSync(pidFile))
  const pid = Number(readFileSync(pidFile, 'utf8'))
  pids.push(pid)
  return pid
}

function tool(lines: (pidFile: string) => readonly string[]) {
  const dir = services.folder()
  const pidFile = join(dir, 'pid')
  const file = writeScript(join(dir, 'tool'), lines(pidFile))
  return {
    pidFile,
    command: { file, args: [], cwd: dir, env: { PATH: process.env.PATH }, onLine: () => undefined }
  }
}

const endless = (): ReturnType<typeof tool> =>
  tool((pidFile) => [daemon(pidFile), 'while :; do sleep 0.1; done'])

describe('a child that has left its group', () => {
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const never = new AbortController().signal

  test('is ended when its tool has ended', async () => {
    const { pidFile, command } = tool((file) => [daemon(file), untilThere(file)])
    await processes.run(command, never)
    expect(isAlive(await readPid(pidFile))).toBe(false)
  })

  test('is ended when its tool is stopped; those of other commands go on', async () => {
    const [one, other] = [endless(), endless()]
    const [stop, stopOther] = [new AbortController(), new AbortController()]
    const running = processes.run(one.command, stop.signal)
    const otherRunning = processes.run(other.command, stopOther.signal)
    const [pid, otherPid] = [await readPid(one.pidFile), await readPid(other.pidFile)]
    stop.abort()
    await running
    expect([pid, otherPid].map(isAlive)).toEqual([false, true])
    stopOther.abort()
    await otherRunning
    expect(isAlive(otherPid)).toBe(false)
  })

  test('is ended with all others', async () => {
    const { pidFile, command } = endless()
    const running = processes.run(command, never)
    const pid = await readPid(pidFile)
    await processes.endAll()
    expect(isAlive(pid)).toBe(false)
    await running
  })

  test('is ended although it starts others without end', async () => {
    const seconds = `60.${process.pid}${Date.now()}`
    const { pidFile, command } = tool((file) => [
      `for each in 1 2 3 4 5 6; do setsid sh -c 'trap "" TERM; for round in $(seq 2000); do setsid sleep ${seconds} & sleep 0.005; done' </dev/null >/dev/null 2>&1 & done`,
      'sleep 0.3',
      `echo 1 >"${file}"`
    ])
    await processes.run(command, never)
    expect(existsSync(pidFile)).toBe(true)
    expect(execFileSync('ps', ['-axo', 'args='], { encoding: 'utf8' })).not.toContain(seconds)
  })

  test('stays on record, and is reported, where it cannot be ended', async () => {
    const { pidFile, command } = tool((file) => [daemon(file), untilThere(file)])
    const left: string[] = []
    const ended: number[] = []
    const events = { onStart: () => undefined, onEnd: (pid: number) => ended.push(pid) }
    const deaf = new Processes({ ...events, onLeft: (words) => left.push(words) }, { giveUpAfterMs: 200 })
    const kill = process.kill.bind(process)
    // A kernel that ends nothing.
    process.kill = (pid, signal) => (pid < 0 ? kill(pid, signal) : true)
    try {
      await deaf.run(command, never)
    } finally {
      process.kill = kill
    }
    expect(isAlive(await readPid(pidFile))).toBe(true)
    expect(ended).toEqual([])
    expect(left).toEqual([
      expect.stringMatching(/^1 processes that .*tool \(process group \d+\) has started could/)
    ])
  })
})

test('a process without the marker, or with another one, is left alone', async () => {
  const env = { PATH: process.env.PATH, [MARKER_VARIABLE]: 'a'.repeat(24) }
  const stranger = spawn('sleep', ['600'], { env, stdio: 'ignore' })
  pids.push(stranger.pid!)
  expect(await endBelongings({ marker: 'b'.repeat(24) })).toEqual({ found: 0, left: 0 })
  expect(await endBelongings({ marker: '' })).toEqual({ found: 0, left: 0 })
  expect(await endBelongings({})).toEqual({ found: 0, left: 0 })
  // A user that a person or a daemon may have.
  expect(await endBelongings({ uid: process.getuid!() })).toEqual({ found: 0, left: 0 })
  expect(isAlive(stranger.pid!)).toBe(true)
  expect(await endBelongings({ marker: 'a'.repeat(24) })).toEqual({ found: 1, left: 0 })
})

describe('when the owner of the tool is killed', () => {
  test('the watchdog ends the child too', async () => {
    const { pidFile, command } = endless()
    const flags = ['--experimental-transform-types', '--no-warnings']
    const hooks = ['--import', here('../../../support/typescript-hooks.mjs')]
    const owner = spawn(
      process.execPath,
      [...flags, ...hooks, here('../../own-tool.mjs'), command.file, 'x'],
      {
        stdio: ['ignore', 'pipe', 'inherit']
      }
    )
    owners.push(owner)
    const said: string[] = []
    createInterface(owner.stdout).on('line', (line) => said.push(line))
    await until(() => said.length > 0)
    pids.push((JSON.parse(said[0]!) as { group: ProcessGroup }).group.pid)
    const pid = await readPid(pidFile)
    owner.kill('SIGKILL')
    await until(() => !isAlive(pid))
  })

  test('and the watchdog with it: the next service ends the child, also after the tool has exited', async () => {
    const dataDir = services.folder()
    const pidFile = join(services.folder(), 'pid')
    const toolFile = join(services.folder(), 'tool')
    const home = writeJMeter(services.folder(), [
      writeSample('one'),
      `echo $$ >"${toolFile}"`,
      daemon(pidFile),
      'while :; do sleep 0.1; done'
    ])
    const first = await killable.start(dataDir, home)
    await createRun(first)
    const pid = await readPid(pidFile)
    const leader = await readPid(toolFile)
    await until(() => first.groups.some((group) => group.pid === leader))
    await first.kill()
    // Nothing of its group is left.
    process.kill(-leader, 'SIGKILL')
    await until(() => !isAlive(leader))
    expect(isAlive(pid)).toBe(true)
    const { lines } = await services.start()
    expect(isAlive(pid)).toBe(false)
    expect(lines.join()).toContain('left behind when process')
    expect(readdirSync(join(process.env.XDG_STATE_HOME!, 'loadgate', 'tools'))).toEqual([])
  })
})

describe('a run whose plan daemonizes', () => {
  const start = async (lines: (pidFile: string) => readonly string[]) => {
    const pidFile = join(services.folder(), 'pid')
    const home = writeJMeter(services.folder(), lines(pidFile))
    const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
    return { service, pidFile, id: await createRun(service) }
  }

  test('leaves nothing behind when it has ended', async () => {
    const { service, id, pidFile } = await start((file) => [
      writeSample('one'),
      daemon(file),
      untilThere(file)
    ])
    await waitForStatus(service, `/runs/${id}`, ['finished'])
    expect(isAlive(await readPid(pidFile))).toBe(false)
  })

  test('leaves nothing behind when it is stopped, and when the service ends', async () => {
    const lines = (file: string): string[] => [
      writeSample('one'),
      daemon(file),
      'while :; do sleep 0.1; done'
    ]
    const [stopped, closed] = [await start(lines), await start(lines)]
    const [pid, otherPid] = [await readPid(stopped.pidFile), await readPid(closed.pidFile)]
    await get(stopped.service, `/runs/${stopped.id}/stop`)
    expect([pid, otherPid].map(isAlive)).toEqual([false, true])
    await closed.service.close()
    expect(isAlive(otherPid)).toBe(false)
  })
})

test('a note of an earlier version, without a marker, is still followed', async () => {
  const dir = join(process.env.XDG_STATE_HOME!, 'loadgate', 'tools')
  const first = await services.start()
  await first.close()
  const note = { group: { pid: 4_000_000, startTime: 'x/1' }, owner: { pid: 4_000_001, startTime: 'x/1' } }
  const place = `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()} ${(await import('node:fs')).readlinkSync('/proc/self/ns/pid')}`
  writeFileSync(join(dir, `4000000-${'0'.repeat(16)}.json`), JSON.stringify({ ...note, place }))
  await services.start()
  expect(readdirSync(dir)).toEqual([])
})
