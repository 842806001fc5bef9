import { afterAll, describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import {
  endLeftoverGroup,
  Processes,
  type ProcessGroup,
  readStartTime
} from '../../../../src/service/nodes/machine/processes.js'
import { createRun, createServices, get, runForm, until, waitForStatus } from '../../support.js'
import { runEndlessly, writeJMeter, writeSample, writeScript } from '../../stand-in.js'
import { createKillable } from '../../killable-service.js'

const services = createServices()
const killable = createKillable()
afterAll(async () => {
  killable.killAll()
  await services.closeAll()
})

function isAlive(pid: number): boolean {
  return readStartTime(pid) !== undefined
}

async function readPids(pidFile: string): Promise<number[]> {
  await until(() => existsSync(pidFile))
  return readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
}

describe('a tool and what it started', () => {
  test('stopping the run leaves nothing behind, and keeps what was measured', async () => {
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), runEndlessly(pidFile, 'deaf'))
    const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
    const id = await createRun(service)
    const pids = await readPids(pidFile)
    expect(pids.map(isAlive)).toEqual([true, true])
    expect((await get(service, `/runs/${id}/stop`)).json.status).toBe('finished')
    expect(pids.map(isAlive)).toEqual([false, false])
    expect((await get(service, `/runs/${id}/result.csv`)).text).toContain(',endless,')
    expect(readdirSync(join(process.env.XDG_STATE_HOME!, 'loadgate', 'tools'))).toEqual([])
  })

  test('closing the service leaves nothing behind', async () => {
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), runEndlessly(pidFile))
    const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
    await createRun(service)
    const pids = await readPids(pidFile)
    await service.close()
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test('a child that outlives its tool is ended too', async () => {
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), [
      writeSample('done'),
      `sleep 600 & echo "$$ $!" > "${pidFile}"`,
      'exit 0'
    ])
    const service = await services.start({ engine: 'real', env: { ...process.env, JMETER_HOME: home } })
    const id = await createRun(service)
    await waitForStatus(service, `/runs/${id}`, ['finished'])
    expect((await readPids(pidFile)).map(isAlive)).toEqual([false, false])
  })
})

describe('after a SIGKILL of the service', () => {
  test('a tool that has just been started is ended too', async () => {
    const pidFile = join(services.folder(), 'pid')
    // The tool kills its own parent before anything else but leaving its id, for it may be ended right after that.
    const home = writeJMeter(services.folder(), [`echo $$ > "${pidFile}"; kill -9 $PPID; exec sleep 600`])
    const service = await killable.start(services.folder(), home)
    await createRun(service)
    await until(() => existsSync(pidFile) && readFileSync(pidFile, 'utf8').endsWith('\n'))
    const pid = Number(readFileSync(pidFile, 'utf8'))
    await until(() => !isAlive(pid))
  })

  test('a restart ends its tools, and the run in progress is a problem with its results', async () => {
    const dataDir = services.folder()
    const pidFile = join(services.folder(), 'pids')
    const home = writeJMeter(services.folder(), [
      `case "$*" in *-Jquick=yes*) ${writeSample('quick')}; exit 0;; esac`,
      ...runEndlessly(pidFile)
    ])
    const first = await killable.start(dataDir, home)
    const finished = await createRun(first, runForm({ override_parameters: '-Jquick=yes' }))
    const before = await waitForStatus(first, `/runs/${finished}`, ['finished'])
    const underWay = await createRun(first)
    const pids = await readPids(pidFile)
    // The tool may have written its file before the service's message about it has arrived.
    await until(() => first.groups.some(({ pid }) => pid === pids[0]))
    await first.kill()
    expect(pids.map(isAlive)).toEqual([true, true])

    const service = await services.start({ dataDir })
    expect(pids.map(isAlive)).toEqual([false, false])
    expect((await get(service, '/runs')).json.total).toBe(2)
    const kept = await get(service, `/runs/${finished}`)
    expect(kept.json).toMatchObject({
      status: 'finished',
      apdex: before.json.apdex,
      tool: 'jmeter-9.8.7'
    })
    expect((await get(service, `/runs/${finished}/report`)).json.summary).toContain('1 transaction passed')
    expect((await get(service, `/runs/${finished}/result.csv`)).text).toContain(',quick,')
    const lost = await get(service, `/runs/${underWay}`)
    expect(lost.json).toMatchObject({
      status: 'problem',
      remote_errors: expect.stringContaining('The service ended during this run.')
    })
    expect(lost.json._embedded.grids[0]!.status).toBe('started')
    expect((await get(service, `/runs/${underWay}/result.csv`)).text).toContain(',endless,')
  })

  test('two services do not share a folder', async () => {
    const dataDir = services.folder()
    const other = await killable.start(dataDir, services.folder())
    await expect(services.start({ dataDir })).rejects.toThrow('is in use by the service with process id')
    await other.kill()
    await expect(services.start({ dataDir })).resolves.toMatchObject({ dataDir })
  })
})

describe('a group that was left behind', () => {
  const startGroup = async (script: readonly string[]): Promise<{ group: ProcessGroup; pids: number[] }> => {
    const dir = services.folder()
    const file = writeScript(join(dir, 'tool'), [...script])
    let group: ProcessGroup | undefined
    const processes = new Processes({ onStart: (started) => (group = started), onEnd: () => undefined })
    const command = { file, args: [join(dir, 'pids')], cwd: dir, env: {}, onLine: () => undefined }
    void processes.run({ ...command, env: { PATH: process.env.PATH } }, new AbortController().signal)
    const pids = await readPids(join(dir, 'pids'))
    return { group: group!, pids }
  }
  const TWO = ['sleep 600 & echo "$$ $!" > "$1.new"; mv "$1.new" "$1"; wait']

  test('is ended when it is the same', async () => {
    const { group, pids } = await startGroup(TWO)
    expect(await endLeftoverGroup(group)).toBe(true)
    expect(pids.map(isAlive)).toEqual([false, false])
    expect(await endLeftoverGroup(group)).toBe(false)
  })

  test.each([
    {
      name: 'another start time',
      change: ({ pid, startTime }: ProcessGroup) => ({ pid, startTime: `${startTime}1` })
    },
    { name: 'no start time', change: ({ pid }: ProcessGroup) => ({ pid, startTime: '' }) }
  ])('is left alone with $name and no marker', async ({ change }) => {
    const { group, pids } = await startGroup(TWO)
    expect(await endLeftoverGroup(change(group))).toBe(false)
    expect(pids.map(isAlive)).toEqual([true, true])
    await endLeftoverGroup(group)
  })
})

describe('lines of a tool', () => {
  test('come one by one, split at CR and LF, including the last one', async () => {
    const dir = services.folder()
    const file = writeScript(join(dir, 'tool'), [
      `printf 'one\\r\\ntwo\\rthr'; sleep 0.1; printf 'ee\\n\\n::error::x' >&2`
    ])
    const lines: string[] = []
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const exit = await processes.run(
      { file, args: [], cwd: dir, env: { PATH: process.env.PATH }, onLine: (line) => lines.push(line) },
      new AbortController().signal
    )
    expect(exit).toEqual({ code: 0, signal: null })
    expect(lines.sort()).toEqual(['::error::x', 'ee', 'one', 'thr', 'two'])
  })

  test('what a tool is started with is all that it sees, and a marker', async () => {
    const lines: string[] = []
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const env = { GIVEN: 'a b' }
    const args = [
      '-e',
      'console.log(JSON.stringify({ env: process.env, args: process.argv.slice(1) }))',
      '$HOME "x"'
    ]
    const exit = await processes.run(
      { file: process.execPath, args, cwd: services.folder(), env, onLine: (line) => lines.push(line) },
      new AbortController().signal
    )
    expect(exit).toEqual({ code: 0, signal: null })
    const marked = { ...env, LOADGATE_NODE: expect.stringMatching(/^[0-9a-f]{24}$/) }
    expect(JSON.parse(lines.join('\n'))).toEqual({ env: marked, args: ['$HOME "x"'] })
  })

  test('a missing tool is an error', async () => {
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const command = { file: '/nowhere/tool', args: [], cwd: '/', env: {}, onLine: () => undefined }
    await expect(processes.run(command, new AbortController().signal)).rejects.toThrow('ENOENT')
  })
})
