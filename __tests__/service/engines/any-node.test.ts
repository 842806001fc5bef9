import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { runScript } from '../../../src/service/engines/browser/run-script.js'
import type { NodeOrder, NodeOutcome } from '../../../src/service/engines/engine.js'
import { runSimulation } from '../../../src/service/engines/gatling/run-simulation.js'
import { createJMeterEngine } from '../../../src/service/engines/jmeter/jmeter.js'
import { runSelenium } from '../../../src/service/engines/selenium/run-node.js'
import type { LoadNode, NodeCommand } from '../../../src/service/nodes/load-node.js'
import { Processes } from '../../../src/service/nodes/machine/processes.js'
import { createFolders, PLAN } from '../support.js'
import { JAVA_17, LocalImage } from './image/local-image.js'

const folders = createFolders()
const { signal } = new AbortController()
let folder: string
let seen: { command: NodeCommand; text: string } | undefined
let order: NodeOrder
/** Nothing that a node runs is started here. */
class NoProcesses extends Processes {
  override run(): never {
    throw new Error('a process was started on this machine')
  }
}

const ports = {
  env: { PATH: '/bin', HEAP: '-Xmx7g', JVM_ARGS: '-Dof=this-machine' },
  processes: new NoProcesses({ onStart: () => undefined, onEnd: () => undefined }),
  log: () => undefined,
  signal
}

/** A file of this machine. */
function file(path: string, text = ''): string {
  const whole = join(folder, path)
  mkdirSync(dirname(whole), { recursive: true })
  writeFileSync(whole, text)
  return whole
}

beforeEach(() => {
  folder = folders.create()
  seen = undefined
  order = {
    node: podOf(new LocalImage(folders.create())),
    whole: { nodes: 1, threads: null },
    place: { region: 'eu', gridIndex: 0, nodeIndex: 0, ordinal: 0 },
    planFile: file('work/plan.jmx', PLAN),
    samplesFile: join(folder, 'rows.csv'),
    logFile: join(folder, 'node.log'),
    nodeName: 'eu node 1',
    mark: '0123456789abcdef01234567',
    ...{ threads: 3, rampupSec: 0, durationSec: 5 },
    hosts: [{ host: 'shop.example', address: '127.0.0.1' }],
    properties: []
  }
})
afterEach(() => folders.remove())

/** A node with other paths than this machine; it keeps the command, with the order file that this may have. */
function podOf(image: LocalImage): LoadNode {
  const found = new Map<object, Promise<unknown>>()
  return {
    env: { LANG: 'C.UTF-8', HOME: '/pods-home', TMPDIR: '/pods-temp' },
    memoryBytes: 1024 ** 3,
    pathOf: (path) => `/pod${path}`,
    find: <T>(search: { inImage: (image: LocalImage) => Promise<T> }) => {
      if (!found.has(search)) found.set(search, search.inImage(image))
      return found.get(search) as Promise<T>
    },
    run: (command) => {
      const { file, args, cwd, env } = command
      const orders = args.filter((arg) => arg.endsWith('order.json'))
      const texts = orders.map((path) => readFileSync(path.replace(/^\/pod/, ''), 'utf8'))
      seen = { command, text: [file, ...args, cwd, JSON.stringify(env), ...texts].join('\n') }
      for (const path of command.brings) expect([path, existsSync(path)]).toEqual([path, true])
      return Promise.resolve({ code: 0, signal: null })
    }
  }
}

async function runJMeter(): Promise<NodeOutcome> {
  const image = new LocalImage(folders.create())
  image.install('usr/bin/java', JAVA_17, '_____ 5.6.3')
  image.write('opt/jmeter/bin/ApacheJMeter.jar')
  order = { ...order, node: podOf(image) }
  const plan = await createJMeterEngine(ports).prepare({
    ...{ tool: 'jmeter', fileNames: ['plan.jmx'], threads: 3, rampupSec: 0, durationSec: 5, hosts: [] },
    ...{ properties: [], uploadDir: join(folder, 'upload'), buildDir: join(folder, 'build'), signal },
    nodes: () => Promise.resolve([order.node, order.node])
  })
  expect(plan.version).toBe('5.6.3')
  return plan.runNode(order, signal)
}

function runGatling(): Promise<NodeOutcome> {
  const classPath = [
    file('helper.jar'),
    { inImage: '/opt/gatling/lib/*' },
    dirname(file('classes/Plan.class'))
  ]
  const plan = {
    ...{
      java: '/usr/bin/java',
      jvm: {},
      version: '3.15.1',
      classPath,
      jars: ['lib.jar'],
      simulation: 'Plan'
    },
    ...{ subPaths: [], variables: {}, doubts: [] }
  }
  return runSimulation(plan, { order, signal, ports })
}

function runSeleniumPlan(): Promise<NodeOutcome> {
  const program = { file: '/opt/browser', name: 'Browser 1.0', major: 1 }
  const compiled = {
    version: '4.0',
    classPath: [file('selenium.jar')],
    planJar: file('build/out/plan.jar'),
    choice: ['main', 'Plan'] as const
  }
  const plan = {
    ...{ compiled, java: '/usr/bin/java', node: '/usr/bin/node', jvm: {}, variables: {} },
    browser: { kind: 'chrome', program, driver: program } as const
  }
  return runSelenium(plan, { order, signal, ports })
}

function runBrowserScript(): Promise<NodeOutcome> {
  file('modules/node_modules/playwright-core/index.js')
  const script = {
    ...{ file: file('build/plan.mjs'), modules: join(folder, 'modules'), variables: {} },
    ...{ browser: '/usr/bin/chromium', node: '/usr/bin/node', tempDir: '/tmp' }
  }
  return runScript(script, order, { signal, ports })
}

describe.each([
  { tool: 'jmeter', run: runJMeter, program: '/usr/bin/java', heap: '-Xmx614m' },
  { tool: 'gatling', run: runGatling, program: '/usr/bin/java', heap: '-Xmx614m' },
  { tool: 'java-selenium', run: runSeleniumPlan, program: '/usr/bin/node', heap: '-Xmx128m' },
  { tool: 'service-chrome', run: runBrowserScript, program: '/usr/bin/node', heap: '' }
])('$tool on a node that is not this machine', ({ run, program, heap }) => {
  const paths = (text: string, before: string): string[] =>
    [...text.matchAll(new RegExp(`${before}(/[^\\s"':;,=\\\\]+)`, 'g'))].map(([, path = '']) => path)

  test('gets no path of this machine, and nothing of its environment', async () => {
    await run()
    const { command, text } = seen!
    expect(command.file).toBe(program)
    expect(text).toContain(heap)
    const local = [folder, resolve('.'), process.execPath].map((path) => path.replaceAll('.', '\\.'))
    expect(text.match(new RegExp(`(?<!/pod)(?:${local.join('|')})[^\\s"]*`, 'g'))).toBeNull()
    expect(text).not.toMatch(/this-machine|-Xmx7g/)
    expect(command.env).toMatchObject({ LANG: 'C.UTF-8' })
  })

  test('has every file that it reads, and every file that it writes comes back', async () => {
    await run()
    const { command, text } = seen!
    const there = [...command.brings, ...command.follows, ...command.collects]
    const named = new Set(paths(text, '/pod'))
    expect(named.size).toBeGreaterThan(3)
    const isThere = (path: string): boolean =>
      there.some((known) => path === known || path.startsWith(`${known}/`) || known.startsWith(`${path}/`))
    expect([...named].filter((path) => !isThere(path))).toEqual([])
    expect(command.brings).toContain(join(folder, 'work'))
    expect(command.follows).toContain(order.samplesFile)
    expect(command.collects).toEqual([order.logFile])
  })

  test('is given the same command when its work is taken up', async () => {
    await run()
    const first = seen!
    await run()
    expect(seen!.text).toBe(first.text)
    expect(seen!.command.follows).toEqual(first.command.follows)
  })
})

test.each([
  ['jmeter', runJMeter, true],
  ['gatling', runGatling, true],
  // Each user has a folder of its own.
  ['java-selenium', runSeleniumPlan, false]
])('the JVM of %s has the home of the node, and its folder for temporary files', async (_, run, isOfNode) => {
  await run()
  expect(seen!.text).toContain('-Duser.home=/pods-home')
  expect(seen!.text.includes('-Djava.io.tmpdir=/pods-temp')).toBe(isOfNode)
})

test('messages of service-chrome are followed, beside the folder of the plan', async () => {
  await runBrowserScript()
  expect(seen!.command.follows).toEqual([`${join(folder, 'work')}.messages`, order.samplesFile])
})
