import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { spawnSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createBrowserEngine } from '../../src/service/engines/browser/browser.js'
import type { Engine, PreparedPlan } from '../../src/service/engines/engine.js'
import { createGatlingEngine } from '../../src/service/engines/gatling/gatling.js'
import type { InstallPorts } from '../../src/service/engines/install/run-to-end.js'
import { createK6Engine } from '../../src/service/engines/k6/k6.js'
import { createSeleniumEngine } from '../../src/service/engines/selenium/selenium.js'
import type { LoadNode } from '../../src/service/nodes/load-node.js'
import { Processes, type ToolCommand } from '../../src/service/nodes/machine/processes.js'
import { nodeOf } from '../service/nodes/node-of.js'
import { type PodFixture, startPod } from '../service/nodes/pods/pod-fixture.js'
import { removeFolder } from '../support/remove-folder.js'
import { macroPlan, makeMacroJar, makePluginJar, ownFindPlan, trap } from '../support/tools/hostile-plans.js'
import { javaPlan as gatlingPlan, KOTLIN_PLAN } from './gatling-plans.js'
import { HOME, javaPlan as seleniumPlan } from './selenium-plans.js'

const has = (name: string): boolean => spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
const isSkipped =
  !['javac', 'chromedriver', 'k6'].every(has) && process.env.LOADGATE_REQUIRE_TOOLS === undefined
const RUN_MS = 4 * 60_000

/** What this machine started. */
class Recorded extends Processes {
  readonly commands: ToolCommand[] = []

  constructor() {
    super({ onStart: () => undefined, onEnd: () => undefined })
  }

  override run(command: ToolCommand, signal: AbortSignal) {
    this.commands.push(command)
    return super.run(command, signal)
  }
}

const { signal } = new AbortController()
let folder: string
let marker: string
let processes: Recorded
let ports: InstallPorts
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-build-'))
  marker = join(folder, 'marker')
  processes = new Recorded()
  const env = { ...process.env, GITHUB_TOKEN: 'a-secret', HEAP: '-Xmx64m' }
  ports = { env, processes, log: () => undefined, signal }
})
afterEach(() => removeFolder(folder))

type Files = Readonly<Record<string, string | { readonly copyOf: string }>>

function prepare(
  create: (ports: InstallPorts) => Engine,
  { tool, files, node }: { tool: string; files: Files; node: LoadNode }
): Promise<PreparedPlan> {
  const uploadDir = join(folder, 'files')
  mkdirSync(uploadDir)
  for (const [name, content] of Object.entries(files))
    if (typeof content === 'string') writeFileSync(join(uploadDir, name), content)
    else copyFileSync(content.copyOf, join(uploadDir, name))
  return create(ports).prepare({
    ...{ tool, fileNames: Object.keys(files), threads: 1, rampupSec: null, durationSec: null },
    ...{ hosts: [], properties: [], uploadDir, buildDir: join(folder, 'build'), signal },
    nodes: () => Promise.resolve([node])
  })
}

const ELEMENT_SCRIPT = `import { step } from '@flood/element'
export default () => { step('Home', async () => undefined) }
`
const K6_SCRIPT = 'export default function () {}\n'
const GATLING_PLAN = gatlingPlan('http("home").get("/")')

;(isSkipped ? describe.skip : describe)('a plan for nodes that are not this machine', () => {
  let pod: PodFixture
  beforeEach(async () => {
    pod = await startPod()
  })
  afterEach(() => pod.close())

  test.each([
    { tool: 'gatling', create: createGatlingEngine, files: { 'Plan.java': GATLING_PLAN }, makes: 'plan.jar' },
    {
      tool: 'gatling',
      create: createGatlingEngine,
      files: { 'Plan.kt': KOTLIN_PLAN.replace('name()', '"home"') },
      makes: 'plan.jar'
    },
    {
      ...{ tool: 'java-selenium-chrome', create: createSeleniumEngine },
      ...{ files: { 'Plan.java': seleniumPlan(HOME) }, makes: 'selenium-4' }
    },
    {
      ...{ tool: 'service-chrome', create: createBrowserEngine },
      ...{ files: { 'plan.ts': ELEMENT_SCRIPT }, makes: 'plan.mjs' }
    },
    { tool: 'k6', create: createK6Engine, files: { 'plan.js': K6_SCRIPT }, makes: undefined }
  ])(
    '$tool: nothing that knows the plan is started here',
    async ({ tool, create, files, makes }) => {
      const ran: string[] = []
      const node = pod.node()
      const watched: LoadNode = {
        ...node,
        run: (command, signal) => {
          ran.push(...command.collects)
          return node.run(command, signal)
        }
      }
      await prepare(create, { tool, files, node: watched })
      const knowing = processes.commands.filter((command) => JSON.stringify(command).includes(folder))
      expect(knowing.map(({ file, args }) => [file, ...args].join(' '))).toEqual([])
      // What the node made is here, for the other nodes of the grid.
      expect(ran).toEqual(makes === undefined ? [] : [expect.stringContaining(makes)])
      expect(ran.filter((file) => !existsSync(file))).toEqual([])
    },
    RUN_MS
  )

  test(
    'a plan that does not compile there fails in the words of its compiler, with the names of its files',
    async () => {
      const files = { 'Plan.java': GATLING_PLAN.replace('extends', 'extendz') }
      await expect(
        prepare(createGatlingEngine, { tool: 'gatling', files, node: pod.node() })
      ).rejects.toThrow(/^Plan\.java could not be compiled \(javac\):\nPlan\.java:\d+: error: '\{' expected/)
    },
    RUN_MS
  )
})
;(isSkipped ? describe.skip : describe)('a plan for this machine', () => {
  const compile = (files: Files) =>
    prepare(createSeleniumEngine, {
      ...{ tool: 'java-selenium-chrome', files, node: nodeOf(processes, ports.env) }
    })

  test(
    'replaces no class of the tool',
    async () => {
      await expect(
        compile({ 'Plan.java': seleniumPlan(HOME), 'FindPlan.java': ownFindPlan(marker) })
      ).rejects.toThrow(
        "The plan's classes cannot be loaded: loadgate.selenium.FindPlan is in a package of the tool's own: put it into another one"
      )
      expect(existsSync(marker)).toBe(false)
    },
    RUN_MS
  )

  test(
    'starts no plugin and no annotation processor of javac',
    async () => {
      const jar = makePluginJar(folder, marker)
      await compile({ 'Plan.java': seleniumPlan(HOME), 'plugin.jar': { copyOf: jar } })
      expect(existsSync(marker)).toBe(false)
    },
    RUN_MS
  )

  test(
    'sees nothing of the environment while its classes are read',
    async () => {
      await compile({ 'Plan.java': `${seleniumPlan(HOME)}${trap(marker)}` })
      const names = [...readFileSync(marker, 'utf8').matchAll(/(?:^\{|, )(\w+)=/g)].map(([, name]) => name)
      const known = /^(?:PATH|LANG|LANGUAGE|LC_\w+|HOME|TMPDIR|PWD|OLDPWD|SHLVL|_|LOADGATE_\w+)$/
      expect(names).toContain('PATH')
      expect(names.filter((name = '') => !known.test(name))).toEqual([])
      expect(readFileSync(marker, 'utf8')).not.toContain(`HOME=${process.env.HOME},`)
    },
    RUN_MS
  )

  test(
    'a macro of Scala runs in a folder of its own, and the uploaded files stay as they are',
    async () => {
      const jar = await makeMacroJar(folder, 'Plan.scala')
      const source = macroPlan('Plan.scala')
      const files = { 'Plan.scala': source, 'macros.jar': { copyOf: jar } }
      await prepare(createGatlingEngine, { tool: 'gatling', files, node: nodeOf(processes, ports.env) })
      expect(readFileSync(join(folder, 'files', 'Plan.scala'), 'utf8')).toBe(source)
    },
    RUN_MS
  )
})
