import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeOrder, NodeOutcome } from '../../../../src/service/engines/engine.js'
import { runSimulation, type Simulation } from '../../../../src/service/engines/gatling/run-simulation.js'
import { nodeOf } from '../../nodes/node-of.js'
import { Processes, type ToolCommand } from '../../../../src/service/nodes/machine/processes.js'
import type { NodeExit } from '../../../../src/service/nodes/load-node.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
let folder: string
let commands: ToolCommand[]
let log: string[]
let plan: Simulation
beforeEach(() => {
  folder = folders.create()
  mkdirSync(join(folder, 'work'))
  commands = []
  log = []
  plan = {
    java: '/usr/bin/java',
    version: '3.15.1',
    classPath: ['/helper.jar', '/gatling.jar'],
    jars: ['lib.jar'],
    simulation: 'shop.Plan',
    subPaths: [],
    variables: {},
    doubts: []
  }
})
afterEach(() => folders.remove())

const ROW = 'timeStamp,elapsed\n1,2\n'

interface Stage {
  readonly order?: Partial<NodeOrder>
  readonly env?: NodeJS.ProcessEnv
  readonly lines?: readonly string[]
  readonly samples?: string
  readonly exit?: NodeExit
  readonly signal?: AbortSignal
}

/** Runs it on a node that does as told. */
function run(stage: Stage = {}): Promise<NodeOutcome> {
  const samplesFile = join(folder, 'node.csv')
  const order: NodeOrder = {
    node: nodeOf(
      {
        run: (command) => {
          commands.push(command)
          writeFileSync(samplesFile, stage.samples ?? ROW)
          const mark = command.args[command.args.indexOf('loadgate.gatling.RunPlan') + 4]
          for (const line of stage.lines ?? ['loadgate <mark>: end of run'])
            command.onLine(line.replace('<mark>', mark ?? ''))
          return Promise.resolve(stage.exit ?? { code: 0, signal: null })
        }
      },
      stage.env ?? {}
    ),
    whole: { nodes: 1, threads: null },
    place: { region: 'eu', gridIndex: 1, nodeIndex: 2, ordinal: 5 },
    planFile: join(folder, 'work', 'Plan.java'),
    samplesFile,
    logFile: join(folder, 'node.log'),
    nodeName: 'eu node 3',
    mark: '0123456789abcdef01234567',
    threads: 7,
    rampupSec: 0,
    durationSec: null,
    hosts: [],
    properties: [],
    ...stage.order
  }
  const signal = stage.signal ?? new AbortController().signal
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const ports = { env: stage.env ?? {}, processes, log: (line: string) => log.push(line), signal }
  return runSimulation(plan, { order, signal, ports })
}

const propertyOf = (name: string): string | undefined =>
  commands[0]?.args.findLast((arg) => arg.startsWith(`-D${name}=`))?.slice(name.length + 3)

describe('the command', () => {
  test('settings and overrides are system properties, -J like -D', async () => {
    await run({
      order: {
        properties: [
          { kind: 'J', name: 'users', value: 'by j' },
          { kind: 'D', name: 'rampup', value: '9' }
        ]
      }
    })
    expect(['threads', 'rampup', 'duration', 'users'].map(propertyOf)).toEqual(['7', '9', undefined, 'by j'])
  })

  test('nothing is sent to Gatling’s makers, and what a caller sets cannot change that or hide the log', async () => {
    const names = ['gatling.data.enableAnalytics', 'logback.configurationFile', 'loadgate.log']
    await run({ order: { properties: names.map((name) => ({ kind: 'D', name, value: 'true' })) } })
    expect(names.map(propertyOf)).toEqual(['false', 'loadgate/logback.xml', join(folder, 'node.log')])
    expect(propertyOf('gatling.http.warmUpUrl')).toBe('')
  })

  test('the plan’s folder is the last of the class path and the working directory; hosts come last', async () => {
    await run({ order: { hosts: [{ host: 'shop.example', address: '127.0.0.1' }] } })
    const { args, cwd } = commands[0]!
    const work = join(folder, 'work')
    expect(cwd).toBe(work)
    expect(args[args.indexOf('-cp') + 1]).toBe(`/helper.jar:/gatling.jar:${join(work, 'lib.jar')}:${work}`)
    expect(args.slice(args.indexOf('loadgate.gatling.RunPlan'))).toEqual([
      'loadgate.gatling.RunPlan',
      'shop.Plan',
      join(work, 'gatling-results'),
      join(folder, 'node.csv'),
      expect.stringMatching(/^[0-9a-f]{24}$/),
      'shop.example/127.0.0.1',
      'shop.example./127.0.0.1'
    ])
  })

  test('HEAP and JVM_ARGS are the machine’s', async () => {
    await run({ env: { HEAP: '-Xmx4g', JVM_ARGS: ' -Da=b  -Dc=d ' } })
    expect(commands[0]!.args).toEqual(expect.arrayContaining(['-Xmx4g', '-Da=b', '-Dc=d']))
    expect(commands[0]!.args).not.toContain('')
    commands = []
    await run()
    expect(commands[0]!.args).toContain('-Xmx1g')
  })

  test('the environment has the uploaded variables and the node’s place, and nothing of the job', async () => {
    plan = { ...plan, variables: { STAGE: 'test' } }
    await run({ env: { PATH: '/bin', GITHUB_TOKEN: 'secret' } })
    expect(commands[0]!.env).toMatchObject({
      PATH: '/bin',
      STAGE: 'test',
      FLOOD_GRID_REGION: 'eu',
      FLOOD_GRID_INDEX: '1',
      FLOOD_NODE_INDEX: '2'
    })
    expect(commands[0]!.env).not.toHaveProperty('GITHUB_TOKEN')
  })

  test('files are linked into the folders where the plan looks for them', async () => {
    writeFileSync(join(folder, 'work', 'users.csv'), 'user\n')
    plan = { ...plan, subPaths: ['data/in/users.csv'] }
    await run()
    expect(readFileSync(join(folder, 'work', 'data', 'in', 'users.csv'), 'utf8')).toBe('user\n')
    // A repeat in the same folder finds the link.
    await run()
  })
})

describe('the outcome', () => {
  test('all well', async () => {
    expect(await run()).toEqual({ problem: null, losses: [], doubts: [], lines: [] })
  })

  test('a stop is no problem', async () => {
    const controller = new AbortController()
    controller.abort()
    expect(await run({ signal: controller.signal, exit: { code: 143, signal: null }, lines: [] })).toEqual({
      problem: null
    })
  })

  test('no rows are lost load, and errors in the log a doubt', async () => {
    writeFileSync(join(folder, 'node.log'), '2026-01-01 12:00:00.001 ERROR a: odd\n')
    plan = { ...plan, doubts: ['a template is old'] }
    expect(await run({ samples: 'timeStamp,elapsed\n' })).toEqual({
      problem: null,
      losses: ['eu node 3 recorded no samples: the simulation sent no request'],
      doubts: ['a template is old', 'Gatling logged 1 error, the first: a: odd'],
      lines: []
    })
  })

  test('steps that were not executed are lost load', async () => {
    const error = "2026-01-01 12:00:00.001 ERROR i.g.c.action.If: 'if-3' failed to execute: odd\n"
    writeFileSync(join(folder, 'node.log'), error.repeat(2))
    expect(await run()).toEqual({
      problem: null,
      losses: [
        "Gatling could not execute parts of the plan: it logged 2 errors, the first: i.g.c.action.If: 'if-3' failed to execute: odd"
      ],
      doubts: [],
      lines: []
    })
  })

  test('the end of a run cannot be printed by what does not know its word, the mark of its order', async () => {
    const forged = await run({ lines: ['loadgate: end of run', 'loadgate 0: end of run'] })
    expect(forged.problem).toMatch(/did not run the plan to its end/)
    await run({ order: { mark: 'another' } })
    expect(commands.map(({ args }) => args.at(-1))).toEqual(['0123456789abcdef01234567', 'another'])
  })

  test('secrets are redacted wherever the plan may print them', async () => {
    plan = { ...plan, variables: { DB_PASSWORD: 'from-the-file' } }
    const properties = [{ kind: 'D', name: 'api.token', value: 'from-the-call' }] as const
    writeFileSync(join(folder, 'node.log'), '2026-01-01 12:00:00.001 ERROR a: from-the-call\n')
    const lines = [
      'from-the-file',
      'loadgate <mark>: failed: E: from-the-call',
      'loadgate <mark>: end of run'
    ]
    const failed = await run({ order: { properties }, lines, exit: { code: 1, signal: null } })
    const fine = await run({ order: { properties } })
    expect(log).toEqual(['eu node 3: ***'])
    expect(failed.problem).toBe('Gatling 3.15.1 could not run the plan (exit code 1):\nE: ***')
    expect(fine.doubts).toEqual(['Gatling logged 1 error, the first: a: ***'])
  })
})
