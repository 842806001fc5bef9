import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runEndlessly, writeJMeter, writeScript } from '../server/stand-in.js'
import { Step } from '../support/step/step.js'
import { killWatchdogs, watchdogsOf } from '../support/watchdogs.js'
import { CLI, NODE, follow, isAlive, killAll, runCommand, startCommand, until } from './cli-command.js'
import type { Command } from './cli-command.js'

const TOKEN = 'a-token-for-this-test'
const GRIDS =
  '[{ region: us-east-1, instance_quantity: 1, instance_type: small, infrastructure: demand, stop_after: 9 }]'

let folder: string
let pidFile: string
let env: Record<string, string>
let started: Command[]
/** The tool's, its child's, and what else must not be left. */
let pids: number[]

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-left-'))
  writeFileSync(join(folder, 'plan.jmx'), '<jmeterTestPlan/>')
  pidFile = join(folder, 'pids')
  env = { XDG_STATE_HOME: join(folder, 'state') }
  started = []
  pids = []
})
afterEach(async () => {
  for (const { child } of started) child.kill('SIGKILL')
  await Promise.all(started.map(({ ended }) => ended))
  killAll(pids)
  rmSync(folder, { recursive: true })
})

function start(args: readonly string[]): Command {
  const command = startCommand(args, { cwd: folder, env })
  started.push(command)
  return command
}

function useTool(kind: 'deaf' | 'obedient'): void {
  env.JMETER_HOME = writeJMeter(join(folder, 'jmeter'), runEndlessly(pidFile, kind))
}

async function awaitTool(): Promise<void> {
  await until(() => existsSync(pidFile))
  pids = readFileSync(pidFile, 'utf8').trim().split(' ').map(Number)
  expect(pids.map(isAlive)).toEqual([true, true])
}

type Kind = 'run' | 'serve' | 'demo'

/** A command of the kind with a tool at work. */
async function startAtWork(kind: Kind, tool: 'deaf' | 'obedient' = 'obedient'): Promise<Command> {
  useTool(tool)
  if (kind === 'run') {
    const gate = start(['run', '--files', 'plan.jmx', '--output', 'out'])
    await awaitTool()
    return gate
  }
  if (kind === 'demo') {
    // The demo wants to see a Java before it starts a tool.
    env.JAVA_HOME = join(folder, 'java')
    writeScript(join(env.JAVA_HOME, 'bin', 'java'), ['exit 0'])
    const demo = start(['demo'])
    await awaitTool()
    return demo
  }
  env.LOADGATE_TOKEN = TOKEN
  const service = start(['serve', '--data', 'data'])
  const [, url] = await service.shows(/^Address: (\S+)$/m)
  const gate = ['run', '--base-url', url!, '--files', 'plan.jmx', '--grids', GRIDS, '--wait', 'false']
  expect((await runCommand(gate, { cwd: folder, env })).code).toBe(0)
  await awaitTool()
  return service
}

describe('a terminal or a service manager that ends a command', () => {
  test.each<[NodeJS.Signals, Kind, number]>([
    ['SIGHUP', 'run', 130],
    ['SIGQUIT', 'run', 130],
    ['SIGHUP', 'serve', 0],
    ['SIGQUIT', 'serve', 0],
    ['SIGTERM', 'serve', 0],
    ['SIGHUP', 'demo', 130]
  ])('by %s leaves no tool of %s', async (signal, kind, code) => {
    const command = await startAtWork(kind)
    pids.push(...watchdogsOf(command.child.pid!))
    expect(pids).toHaveLength(3)
    command.child.kill(signal)
    expect((await command.ended).code).toBe(code)
    await until(() => !pids.some(isAlive))
  })

  test('SIGHUP twice, as a terminal sends it, still ends in order', async () => {
    const command = await startAtWork('run', 'deaf')
    command.child.kill('SIGHUP')
    command.child.kill('SIGHUP')
    const { code, out } = await command.ended
    expect([code, out]).toEqual([130, expect.stringMatching(/^CANCELLED: .*SIGHUP/m)])
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test('with nobody left who reads what it says', async () => {
    const command = await startAtWork('run')
    command.child.stdout!.destroy()
    command.child.stderr!.destroy()
    command.child.kill('SIGHUP')
    expect((await command.ended).code).toBe(130)
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
  const testOnTerminal = hasScript ? test : test.skip

  testOnTerminal(
    `a terminal that vanishes, to which nothing can be written any more${hasScript ? '' : ' (skipped: there is no script(1) to make one)'}`,
    async () => {
      useTool('obedient')
      const command = `'${NODE}' '${CLI}' run --files plan.jmx --output out`
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, SHELL: '/bin/sh', ...env }
      })
      started.push(follow(child))
      await awaitTool()
      const parent = spawnSync('ps', ['-o', 'ppid=', '-p', String(pids[0])]).stdout.toString()
      pids.push(Number(parent))
      child.kill('SIGKILL')
      await until(() => !pids.some(isAlive))
      const verdict = JSON.parse(readFileSync(join(folder, 'out', 'verdict.json'), 'utf8')) as object
      expect(verdict).toMatchObject({ verdict: 'cancelled' })
    }
  )
})

describe('kill -9', () => {
  test.each<[Kind, 'deaf' | 'obedient']>([
    ['run', 'obedient'],
    ['run', 'deaf'],
    ['serve', 'deaf'],
    ['demo', 'obedient']
  ])('of %s: its tool and the %s child notice, and nobody is left', async (kind, tool) => {
    const command = await startAtWork(kind, tool)
    pids.push(...watchdogsOf(command.child.pid!))
    expect(pids).toHaveLength(3)
    command.child.kill('SIGKILL')
    await command.ended
    await until(() => !pids.some(isAlive))
  })

  test.each<[string, (cwd: string) => Promise<string>]>([
    [
      'run',
      async () => {
        const { code, out, err } = await runCommand(['run', '--rehearse', '--files', 'plan.jmx'], {
          cwd: folder,
          env
        })
        expect(code).toBe(0)
        return out + err
      }
    ],
    ['--version', async () => (await runCommand(['--version'], { cwd: folder, env })).err],
    [
      'serve',
      async () => {
        const service = start(['serve', '--rehearse', '--data', 'other'])
        await service.shows(/^Address: /m)
        return service.text()
      }
    ]
  ])('of everything at once: the next %s ends the tool and says so', async (_, next) => {
    const command = await startAtWork('run', 'deaf')
    const { pid } = command.child
    killWatchdogs(pid!)
    command.child.kill('SIGKILL')
    await command.ended
    expect(pids.map(isAlive)).toEqual([true, true])
    delete env.JMETER_HOME
    expect(await next(folder)).toContain(
      `ended the tool's processes (group ${pids[0]!}), left behind when process ${pid!} was killed`
    )
    expect(pids.map(isAlive)).toEqual([false, false])
  })

  test('of the action: the tool notices before the post step runs, which then has nothing to do', async () => {
    const step = new Step()
    try {
      useTool('deaf')
      Object.assign(step.env, env)
      step.inputs = { 'base-url': 'local', files: 'plan.jmx' }
      const main = step.start('main')
      const ended = step.result(main)
      await awaitTool()
      pids.push(...watchdogsOf(main.pid!))
      expect(pids).toHaveLength(3)
      main.kill('SIGKILL')
      await ended
      await until(() => !pids.some(isAlive))
      const post = await step.post()
      expect([post.code, post.log]).toEqual([0, ''])
    } finally {
      step.remove()
    }
  })
})

describe('the action, with nobody left who reads what it says', () => {
  test.each(['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'stops its tool on %s and does not crash',
    async (signal) => {
      const step = new Step()
      try {
        useTool('obedient')
        Object.assign(step.env, env)
        step.inputs = { 'base-url': 'local', files: 'plan.jmx' }
        const main = step.start('main')
        const code = new Promise((resolve) => main.once('exit', resolve))
        await awaitTool()
        main.stdout!.destroy()
        main.stderr!.destroy()
        main.kill(signal)
        expect(await code).toBe(1)
        expect(pids.map(isAlive)).toEqual([false, false])
        expect(step.read('output').verdict).toBe('cancelled')
      } finally {
        step.remove()
      }
    }
  )
})
