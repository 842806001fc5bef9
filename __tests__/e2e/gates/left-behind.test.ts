import { describe, expect, test } from '@jest/globals'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runEndlessly, writeJMeter, writeScript } from '../../service/stand-in.js'
import { Step } from '../../support/step/step.js'
import { killWatchdogs, watchdogsOf } from '../../support/watchdogs.js'
import { CLI, NODE, follow, isAlive, killAll, runCommand, startCommand, until } from '../cli-command.js'
import type { Command, Ended } from '../cli-command.js'
import { removeFolder } from '../../support/remove-folder.js'

const TOKEN = 'a-token-for-this-test'
const GRIDS =
  '[{ region: us-east-1, instance_quantity: 1, instance_type: small, infrastructure: demand, stop_after: 9 }]'

type Kind = 'run' | 'serve' | 'demo'

/** A folder with a plan, the commands that were started in it, and their tools. */
class Scene {
  readonly folder = mkdtempSync(join(tmpdir(), 'loadgate-left-'))
  readonly env: Record<string, string> = { XDG_STATE_HOME: join(this.folder, 'state') }
  readonly started: Command[] = []
  /** The tool's, its child's, and what else must not be left. */
  pids: number[] = []
  readonly #pidFile = join(this.folder, 'pids')

  constructor() {
    writeFileSync(join(this.folder, 'plan.jmx'), '<jmeterTestPlan/>')
  }

  start(args: readonly string[]): Command {
    const command = startCommand(args, { cwd: this.folder, env: this.env })
    this.started.push(command)
    return command
  }

  run(args: readonly string[]): Promise<Ended> {
    return runCommand(args, { cwd: this.folder, env: this.env })
  }

  useTool(kind: 'deaf' | 'obedient'): void {
    this.env.JMETER_HOME = writeJMeter(join(this.folder, 'jmeter'), runEndlessly(this.#pidFile, kind))
  }

  async awaitTool(): Promise<void> {
    await until(() => existsSync(this.#pidFile))
    this.pids = readFileSync(this.#pidFile, 'utf8').trim().split(' ').map(Number)
    expect(this.pids.map(isAlive)).toEqual([true, true])
  }

  /** A command of the kind with a tool at work. */
  async startAtWork(kind: Kind, tool: 'deaf' | 'obedient' = 'obedient'): Promise<Command> {
    const { folder, env } = this
    this.useTool(tool)
    if (kind === 'run') {
      const gate = this.start(['run', '--files', 'plan.jmx', '--output', 'out'])
      await this.awaitTool()
      return gate
    }
    if (kind === 'demo') {
      // The demo wants to see a Java before it starts a tool.
      env.JAVA_HOME = join(folder, 'java')
      writeScript(join(env.JAVA_HOME, 'bin', 'java'), ['exit 0'])
      const demo = this.start(['demo'])
      await this.awaitTool()
      return demo
    }
    env.LOADGATE_TOKEN = TOKEN
    const service = this.start(['serve', '--data', 'data'])
    const [, url] = await service.shows(/^Address: (\S+)$/m)
    const gate = ['run', '--base-url', url!, '--files', 'plan.jmx', '--grids', GRIDS, '--wait', 'false']
    expect((await this.run(gate)).code).toBe(0)
    await this.awaitTool()
    return service
  }

  async close(): Promise<void> {
    for (const { child } of this.started) child.kill('SIGKILL')
    await Promise.all(this.started.map(({ ended }) => ended))
    killAll(this.pids)
    removeFolder(this.folder)
  }
}

/** The tests run at the same time, each on a scene of its own: they wait more than they work. */
const onScene = (run: (scene: Scene) => Promise<void>) => async (): Promise<void> => {
  const scene = new Scene()
  try {
    await run(scene)
  } finally {
    await scene.close()
  }
}
const testOnScene = (name: string, run: (scene: Scene) => Promise<void>): void =>
  test.concurrent(name, onScene(run))

describe('a terminal or a service manager that ends a command', () => {
  test.concurrent.each<[NodeJS.Signals, Kind, number]>([
    ['SIGHUP', 'run', 130],
    ['SIGQUIT', 'run', 130],
    ['SIGHUP', 'serve', 0],
    ['SIGQUIT', 'serve', 0],
    ['SIGTERM', 'serve', 0],
    ['SIGHUP', 'demo', 130]
  ])('by %s leaves no tool of %s', (signal, kind, code) =>
    onScene(async (scene) => {
      const command = await scene.startAtWork(kind)
      scene.pids.push(...watchdogsOf(command.child.pid!))
      expect(scene.pids).toHaveLength(3)
      command.child.kill(signal)
      expect((await command.ended).code).toBe(code)
      await until(() => !scene.pids.some(isAlive))
    })()
  )

  testOnScene('SIGHUP twice, as a terminal sends it, still ends in order', async (scene) => {
    const command = await scene.startAtWork('run', 'deaf')
    command.child.kill('SIGHUP')
    command.child.kill('SIGHUP')
    const { code, out } = await command.ended
    expect([code, out]).toEqual([130, expect.stringMatching(/^CANCELLED: .*SIGHUP/m)])
    expect(scene.pids.map(isAlive)).toEqual([false, false])
  })

  testOnScene('with nobody left who reads what it says', async (scene) => {
    const command = await scene.startAtWork('run')
    command.child.stdout!.destroy()
    command.child.stderr!.destroy()
    command.child.kill('SIGHUP')
    expect((await command.ended).code).toBe(130)
    expect(scene.pids.map(isAlive)).toEqual([false, false])
  })

  const hasScript = process.platform === 'linux' && spawnSync('script', ['--version']).status === 0
  const testOnTerminal = hasScript ? test.concurrent : test.skip

  testOnTerminal(
    `a terminal that vanishes, to which nothing can be written any more${hasScript ? '' : ' (skipped: there is no script(1) to make one)'}`,
    onScene(async (scene) => {
      const { folder, env } = scene
      scene.useTool('obedient')
      const command = `'${NODE}' '${CLI}' run --files plan.jmx --output out`
      const child = spawn('script', ['-qec', command, '/dev/null'], {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: process.env.HOME, SHELL: '/bin/sh', ...env }
      })
      scene.started.push(follow(child))
      await scene.awaitTool()
      const parent = spawnSync('ps', ['-o', 'ppid=', '-p', String(scene.pids[0])]).stdout.toString()
      scene.pids.push(Number(parent))
      child.kill('SIGKILL')
      await until(() => !scene.pids.some(isAlive))
      const verdict = JSON.parse(readFileSync(join(folder, 'out', 'verdict.json'), 'utf8')) as object
      expect(verdict).toMatchObject({ verdict: 'cancelled' })
    })
  )
})

describe('kill -9', () => {
  test.concurrent.each<[Kind, 'deaf' | 'obedient']>([
    ['run', 'obedient'],
    ['run', 'deaf'],
    ['serve', 'deaf'],
    ['demo', 'obedient']
  ])('of %s: its tool and the %s child notice, and nobody is left', (kind, tool) =>
    onScene(async (scene) => {
      const command = await scene.startAtWork(kind, tool)
      scene.pids.push(...watchdogsOf(command.child.pid!))
      expect(scene.pids).toHaveLength(3)
      command.child.kill('SIGKILL')
      await command.ended
      await until(() => !scene.pids.some(isAlive))
    })()
  )

  test.concurrent.each<[string, (scene: Scene) => Promise<string>]>([
    [
      'run',
      async (scene) => {
        const { code, out, err } = await scene.run(['run', '--rehearse', '--files', 'plan.jmx'])
        expect(code).toBe(0)
        return out + err
      }
    ],
    ['--version', async (scene) => (await scene.run(['--version'])).err],
    [
      'serve',
      async (scene) => {
        const service = scene.start(['serve', '--rehearse', '--data', 'other'])
        await service.shows(/^Address: /m)
        return service.text()
      }
    ]
  ])('of everything at once: the next %s ends the tool and says so', (_, next) =>
    onScene(async (scene) => {
      const command = await scene.startAtWork('run', 'deaf')
      const { pids } = scene
      const { pid } = command.child
      killWatchdogs(pid!)
      command.child.kill('SIGKILL')
      await command.ended
      expect(pids.map(isAlive)).toEqual([true, true])
      delete scene.env.JMETER_HOME
      expect(await next(scene)).toContain(
        `ended the tool's processes (group ${pids[0]!}), left behind when process ${pid!} was killed`
      )
      expect(pids.map(isAlive)).toEqual([false, false])
    })()
  )

  testOnScene(
    'of the action: the tool notices before the post step runs, which then has nothing to do',
    async (scene) => {
      const step = new Step()
      try {
        scene.useTool('deaf')
        Object.assign(step.env, scene.env)
        step.inputs = { 'base-url': 'local', files: 'plan.jmx' }
        const main = step.start('main')
        const ended = step.result(main)
        await scene.awaitTool()
        scene.pids.push(...watchdogsOf(main.pid!))
        expect(scene.pids).toHaveLength(3)
        main.kill('SIGKILL')
        await ended
        await until(() => !scene.pids.some(isAlive))
        const post = await step.post()
        expect([post.code, post.log]).toEqual([0, ''])
      } finally {
        step.remove()
      }
    }
  )
})

describe('the action, with nobody left who reads what it says', () => {
  test.concurrent.each(['SIGTERM', 'SIGHUP', 'SIGQUIT'] as const)(
    'stops its tool on %s and does not crash',
    (signal) =>
      onScene(async (scene) => {
        const step = new Step()
        try {
          scene.useTool('obedient')
          Object.assign(step.env, scene.env)
          step.inputs = { 'base-url': 'local', files: 'plan.jmx' }
          const main = step.start('main')
          const code = new Promise((resolve) => main.once('exit', resolve))
          await scene.awaitTool()
          main.stdout!.destroy()
          main.stderr!.destroy()
          main.kill(signal)
          expect(await code).toBe(1)
          expect(scene.pids.map(isAlive)).toEqual([false, false])
          expect(step.read('output').verdict).toBe('cancelled')
        } finally {
          step.remove()
        }
      })()
  )
})
