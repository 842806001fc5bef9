import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlanToPrepare } from '../../../src/service/engines/engine.js'
import {
  type BuildPlace,
  buildForTools,
  runBuild,
  withinLimit
} from '../../../src/service/engines/plan-build.js'
import type { LoadNode, NodeCommand } from '../../../src/service/nodes/load-node.js'
import { Processes } from '../../../src/service/nodes/machine/processes.js'
import { nodeOf } from '../nodes/node-of.js'
import { createFolders } from '../support.js'

const folders = createFolders()
let plan: PlanToPrepare
let node: LoadNode
let commands: NodeCommand[]
let stop: AbortController
beforeEach(() => {
  const folder = folders.create()
  const uploadDir = join(folder, 'files')
  mkdirSync(uploadDir)
  writeFileSync(join(uploadDir, 'plan.txt'), 'as it was sent')
  stop = new AbortController()
  commands = []
  const machine = nodeOf(new Processes({ onStart: () => undefined, onEnd: () => undefined }), {
    ...{ PATH: process.env.PATH, HOME: '/home/of-the-service', JVM_ARGS: '-Dsecret=1', TOKEN: 'secret' }
  })
  node = {
    ...machine,
    run: (command, signal) => {
      commands.push(command)
      return machine.run(command, signal)
    }
  }
  plan = {
    ...{ tool: 'gatling', fileNames: ['plan.txt'], threads: 1, rampupSec: null, durationSec: null },
    ...{ hosts: [], properties: [], uploadDir, buildDir: join(folder, 'build'), signal: stop.signal },
    nodes: () => Promise.resolve([node])
  }
})
afterEach(() => folders.remove())

/** Builds in the shell, one command per script. */
async function build(...scripts: readonly string[]) {
  const buildOf = await buildForTools(plan, [{ node, tool: { java: 'a' } }], (place) =>
    shell(place, ...scripts)
  )
  return buildOf({ java: 'a' })
}

function shell(place: BuildPlace, ...scripts: readonly string[]) {
  return runBuild(place, {
    commands: scripts.map((script) => ['/bin/sh', '-c', script, 'sh', join(place.folder, 'out', 'product')]),
    ...{ brings: [], folders: [join(place.folder, 'classes')], product: join(place.folder, 'out', 'product') }
  })
}

test('what each command prints is told apart, and which of them failed', async () => {
  expect((await build('echo one; echo two >&2', 'echo three')).built).toEqual({
    ...{ failed: undefined, lines: [['one', 'two'], ['three']] }
  })
})

test.each([
  { scripts: ['echo no; exit 3', 'echo next'], failed: 0, lines: [['no']] },
  { scripts: ['echo yes', 'exit 4'], failed: 1, lines: [['yes'], []] },
  {
    scripts: ['echo yes', 'kill -9 $PPID'],
    failed: 1,
    lines: [['yes'], ['The compiler was killed by SIGKILL']]
  }
])('a command that fails is the last one: $scripts', async ({ scripts, failed, lines }) => {
  expect((await build(...scripts)).built).toEqual({ failed, lines })
})

test('it sees a copy of the files in a folder of its own, and no variable but those of any program', async () => {
  const { folder } = await build(
    'echo changed > plan.txt; pwd; env | sort; cp plan.txt "$1"; echo x > ../classes/x'
  )
  expect(readFileSync(join(plan.uploadDir, 'plan.txt'), 'utf8')).toBe('as it was sent')
  expect(readFileSync(join(folder, 'out', 'product'), 'utf8')).toBe('changed\n')
  const { built } = await build()
  const [words = []] = built.lines
  expect(words[0]).toBe(join(folder, 'files'))
  const temp = join(folder, 'temp')
  expect(
    words.slice(1).filter((line) => !/^(?:PATH|LC_ALL|PWD|_|OLDPWD|SHLVL|LOADGATE_\w+)=/.test(line))
  ).toEqual([`HOME=${temp}`, `TMPDIR=${temp}`])
  // Nothing but what it made stays.
  expect(readdirSync(folder)).toEqual(['out'])
})

test('a plan is built once for each tool, and not again by a service that continues the run', async () => {
  const nodes = ['a', 'b', 'a'].map((java) => ({ node, tool: { java } }))
  const built: string[] = []
  const buildAll = () =>
    buildForTools(plan, nodes, (place, { java }) => {
      built.push(java)
      return shell(place, `echo ${java} | tee "$1"`)
    })
  const first = await buildAll()
  const second = await buildAll()
  expect(built.sort()).toEqual(['a', 'b'])
  expect(commands).toHaveLength(2)
  for (const buildOf of [first, second])
    for (const java of ['a', 'b']) {
      const { built, folder } = buildOf({ java })
      expect(built).toEqual({ failed: undefined, lines: [[java]] })
      expect(readFileSync(join(folder, 'out', 'product'), 'utf8')).toBe(`${java}\n`)
    }
})

test('a build that failed is tried again', async () => {
  const attempt = (fails: boolean) =>
    buildForTools(plan, [{ node, tool: { java: 'a' } }], () =>
      fails ? Promise.reject(new Error('does not compile')) : Promise.resolve('fine')
    )
  await expect(attempt(true)).rejects.toThrow('does not compile')
  expect((await attempt(false))({ java: 'a' }).built).toBe('fine')
})

test('a build that prints without end is read to its end, and little of it is kept', async () => {
  const { built } = await build('yes "$(printf %8000s x)" | head -c 40000000')
  const { lines } = built
  expect(lines[0]!.join('').length).toBeLessThan(17 * 1024 ** 2)
})

test('one that does not end is ended', async () => {
  const place = { node, folder: plan.buildDir, filesDir: plan.uploadDir, signal: stop.signal }
  const waits = (signal: AbortSignal) =>
    node.run(
      {
        ...{ file: '/bin/sleep', args: ['600'], cwd: plan.uploadDir, env: {}, onLine: () => undefined },
        ...{ brings: [], follows: [], collects: [] }
      },
      signal
    )
  await expect(withinLimit(place, waits, 60)).rejects.toThrow(
    /^The plan was not compiled within 0\.001 minutes/
  )
})

test('a run that is stopped ends its compiler', async () => {
  const building = build(`echo $$ > "$1"; sleep 600`)
  building.catch(() => undefined)
  const running = (): boolean =>
    existsSync(plan.buildDir) &&
    readdirSync(plan.buildDir, { recursive: true }).some((file) => String(file).endsWith('product'))
  while (!running()) await new Promise((resolve) => setTimeout(resolve, 20))
  stop.abort(new Error('stopped'))
  await expect(building).rejects.toThrow('stopped')
})
