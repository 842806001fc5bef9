import { afterAll, describe, expect, test } from '@jest/globals'
import { nodeOf } from '../node-of.js'
import type { LoadNode, NodeCommand } from '../../../../src/service/nodes/load-node.js'
import { LoadRecorder } from '../../../../src/service/nodes/machine/load-recorder.js'
import {
  type GroupUsage,
  type LoadReading,
  readLoad
} from '../../../../src/service/nodes/machine/load-sample.js'
import { Processes, type ToolCommand } from '../../../../src/service/nodes/machine/processes.js'
import { createServices, finishRun, get, runForm, specFields, until } from '../../support.js'
import { ManualClock } from '../../../support/manual-clock.js'
import { writeJMeter, writeSample } from '../../stand-in.js'

const services = createServices()
afterAll(() => services.closeAll())

const never = new AbortController().signal
const BURN = 'for (;;);'
const commandOf = (script: string): NodeCommand => ({
  file: process.execPath,
  args: ['-e', script],
  cwd: '/',
  env: {},
  onLine: () => undefined,
  brings: [],
  follows: [],
  collects: []
})

const usageOf = (cpuTicks: number): GroupUsage => ({
  cpuTicks,
  memoryBytes: 1,
  threads: new Map([[1, { waitedMs: cpuTicks * 30, runs: cpuTicks }]])
})

/** A machine of two cores, six seconds later with every look, on which each tool uses this many of them. */
function createMachine(coresPerTool: number): { readLoad: typeof readLoad; looks: number[][] } {
  const looks: number[][] = []
  return {
    looks,
    readLoad: (groupIds) => {
      looks.push([...groupIds])
      const elapsedMs = looks.length * 6000
      const ticks = elapsedMs / 10
      return {
        atMs: elapsedMs,
        cores: 2,
        machine: { totalTicks: ticks * 2, busyTicks: ticks * 2, stolenTicks: 0 },
        throttling: undefined,
        memory: { totalBytes: 100, availableBytes: 50 },
        swappedPages: 0,
        oomKills: 0,
        groups: new Map(groupIds.map((id) => [id, usageOf(ticks * coresPerTool)]))
      } satisfies LoadReading
    }
  }
}

/** A node whose tools end when the test says so. */
function createNode(): { node: LoadNode; start: (groupId: number) => () => void } {
  const commands: ToolCommand[] = []
  const ends: (() => void)[] = []
  return {
    node: nodeOf({
      run: (command) => {
        commands.push(command)
        return new Promise((resolve) => ends.push(() => resolve({ code: 0, signal: null })))
      }
    }),
    start: (groupId) => {
      commands.at(-1)?.onStart?.(groupId)
      return ends.at(-1)!
    }
  }
}

describe('a recorder of the load', () => {
  test('looks while tools run, and counts those of all nodes', async () => {
    const clock = new ManualClock()
    const machine = createMachine(1)
    const recorder = new LoadRecorder({ clock, ...machine })
    const { node, start } = createNode()
    const watched = recorder.watch(node)
    await clock.advance(10_000)
    expect(machine.looks).toEqual([])
    const first = watched.run(commandOf(''), never)
    const endFirst = start(11)
    const second = watched.run(commandOf(''), never)
    const endSecond = start(12)
    await clock.advance(2000)
    await clock.advance(2000)
    endFirst()
    await first
    await clock.advance(2000)
    endSecond()
    await second
    await clock.advance(10_000)
    expect(machine.looks).toEqual([[11], [11, 12], [11, 12], [12], [12]])
    expect(recorder.judge()).toEqual([expect.stringContaining('The load generator was short of CPU: ')])
  })

  test('finds nothing where nothing can be measured', async () => {
    const { node, start } = createNode()
    const recorder = new LoadRecorder({ clock: new ManualClock(), readLoad: () => undefined })
    const run = recorder.watch(node).run(commandOf(''), never)
    start(11)()
    await run
    expect(recorder.judge()).toEqual([])
  })

  test('a failed look does not stop the tool', async () => {
    const { node, start } = createNode()
    const fail = (): never => {
      throw new Error('no /proc')
    }
    const run = new LoadRecorder({ clock: new ManualClock(), readLoad: fail })
      .watch(node)
      .run(commandOf(''), never)
    start(11)()
    expect(await run).toEqual({ code: 0, signal: null })
  })

  const onLinux = process.platform === 'linux' ? test : test.skip
  onLinux('sees the CPU time of a real tool and of a child in another session', async () => {
    const stop = new AbortController()
    const child = `require('child_process').spawn(process.execPath, ['-e', ${JSON.stringify(BURN)}], { detached: true })`
    let groupId = 0
    let group: number[] = []
    const ticks = (): number => readLoad([groupId])?.groups.get(groupId)?.cpuTicks ?? 0
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const command = commandOf(`const c = ${child}; console.log(c.pid); setInterval(() => undefined, 1000)`)
    const done = processes.run(
      { ...command, onStart: (pid) => (groupId = pid), onLine: (line) => (group = [Number(line)]) },
      stop.signal
    )
    try {
      await until(() => group.length === 1)
      const before = ticks()
      await until(() => ticks() > before + 10)
    } finally {
      stop.abort()
      await done
      process.kill(group[0]!, 'SIGKILL')
    }
    expect(readLoad([groupId])?.groups.get(groupId)).toEqual({
      cpuTicks: 0,
      memoryBytes: 0,
      threads: new Map()
    })
  })
})

describe('a run on a machine without CPU to spare', () => {
  test('has results, and says so', async () => {
    const home = writeJMeter(services.folder(), [writeSample('home')])
    const machine = createMachine(2)
    // One tool is over between two looks, which must be long enough to judge.
    const readSlowly: typeof readLoad = (groupIds) => {
      machine.readLoad([])
      return machine.readLoad(groupIds)
    }
    const service = await services.start({
      engine: 'real',
      readLoad: readSlowly,
      env: { PATH: process.env.PATH, JMETER_HOME: home }
    })
    const { json } = await finishRun(service, runForm({}, specFields({ instance_quantity: '1' })))
    const sentence = 'The load generator was short of CPU: it used 100 % of 2 cores for 100 % of the run.'
    expect(json).toMatchObject({ status: 'finished', remote_errors: null })
    const report = (await get(service, `/runs/${json.uuid}/report`)).json
    expect(report.summary).toContain(sentence)
    expect(report.warnings).toEqual([expect.stringContaining(sentence)])
  })
})
