import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { NodeOrder, NodeOutcome } from '../../../../src/service/engines/engine.js'
import { createK6Engine, findK6 } from '../../../../src/service/engines/k6/k6.js'
import { runOnNode } from '../../../../src/service/engines/k6/run-node.js'
import { programsHere, programsIn } from '../../../../src/service/engines/program-source.js'
import type { NodeExit } from '../../../../src/service/nodes/load-node.js'
import { Processes, type ToolCommand } from '../../../../src/service/nodes/machine/processes.js'
import { type K6Facts, type K6Order, writeFacts } from '../../../../src/service/programs/k6/order.js'
import { nodeOf } from '../../nodes/node-of.js'
import { createFolders } from '../../support.js'
import { LocalImage } from '../image/local-image.js'

const folders = createFolders()
let folder: string
let log: string[]
let command: ToolCommand
beforeEach(() => {
  folder = folders.create()
  log = []
})
afterEach(() => folders.remove())

const portsWith = (env: NodeJS.ProcessEnv) => ({
  env,
  processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
  log: (line: string) => void log.push(line),
  signal: new AbortController().signal
})

function install(name: string, ...lines: readonly string[]): string {
  const file = join(folder, name)
  writeFileSync(file, `#!/bin/sh\n${lines.join('\n')}\n`)
  chmodSync(file, 0o755)
  return file
}

describe('where k6 comes from', () => {
  const find = (env: NodeJS.ProcessEnv) => findK6(programsHere(portsWith(env)))
  const ADVICE = /Install k6 1\.0 or later: the step `uses: grafana\/setup-k6-action@v1`.*go install/

  test('K6, or else k6 on the PATH', async () => {
    const onPath = install('k6', 'echo "k6 v1.8.1 (go1.25, linux/amd64)"')
    const own = install('my k6', 'echo "k6 v2.0.0-rc1+abc (commit/1, go1.26, linux/arm64)"')
    expect(await find({ PATH: folder })).toEqual({ k6: onPath, version: '1.8.1' })
    expect(await find({ PATH: folder, K6: own })).toEqual({ k6: own, version: '2.0.0-rc1+abc' })
  })

  test('missing, or K6 that leads nowhere', async () => {
    await expect(find({ PATH: folder })).rejects.toThrow(ADVICE)
    await expect(find({ PATH: folder, K6: '/nowhere/k6' })).rejects.toThrow(
      'K6 is /nowhere/k6, but there is no program: point it to k6, or unset it'
    )
  })

  test.each([
    { what: 'older', lines: ['echo "k6 v0.57.0 (go1.23)"'], says: /is k6 0\.57\.0, which is too old\. / },
    {
      what: 'another program',
      lines: ['echo "hey 0.1"'],
      says: /does not say which k6 it is \(exit code 0\): hey 0\.1\. /
    },
    {
      what: 'one that fails',
      lines: ['exit 3'],
      says: /does not say which k6 it is \(exit code 3\): no output\. /
    }
  ])('$what', async ({ lines, says }) => {
    install('k6', ...lines)
    await expect(find({ PATH: folder })).rejects.toThrow(says)
    await expect(find({ PATH: folder })).rejects.toThrow(ADVICE)
  })

  test('in an image', async () => {
    const image = new LocalImage(folder)
    await expect(findK6(programsIn(image))).rejects.toThrow(
      'There is no k6 in the image shop/node:1: K6 is not set'
    )
    image.install('usr/bin/k6', 'k6 v1.2.3 (go1.24, linux/amd64)')
    expect(await findK6(programsIn(image))).toEqual({ k6: '/usr/bin/k6', version: '1.2.3' })
    image.install('opt/k6', 'k6 v0.9.0')
    image.env.K6 = '/opt/k6'
    await expect(findK6(programsIn(image))).rejects.toThrow('/opt/k6 in the image shop/node:1 is k6 0.9.0')
  })
})

describe('what is refused before a run is created', () => {
  const refuse = (fileNames: string[], names: string[] = []): string[] =>
    createK6Engine(portsWith({})).refuse({
      ...{ tool: 'k6', fileNames, threads: null, rampupSec: null, durationSec: null, hosts: [] },
      properties: names.map((name) => ({ kind: 'J', name, value: 'x' }))
    })

  test.each(['shop.js', 'shop.ts', 'shop.mjs', 'plan.tar'])('%s is a script', (name) => {
    expect(refuse([name, 'users.csv'], ['host', 'shop.port', 'K6_BROWSER_HEADLESS'])).toEqual([])
  })

  test.each(['plan.jmx', 'types.d.ts', ''])('%s is none', (name) => {
    expect(refuse([name])).toEqual([expect.stringContaining('is not a script of k6')])
  })

  test.each(['K6_OUT', 'k6_no.summary', 'path', 'node-options', 'LD_PRELOAD', 'flood.node.index'])(
    'the parameter %s would decide how k6 itself runs',
    (name) => {
      expect(refuse(['shop.js'], [name])).toEqual([
        expect.stringContaining(`override_parameters: -J${name}: `)
      ])
    }
  )
})

const FACTS: K6Facts = { problem: null, losses: [], doubts: [], lines: [], requests: 3, isIdle: false }

interface Given {
  readonly facts?: Partial<K6Facts>
  /** Of the node's process, instead of the facts. */
  readonly printed?: readonly string[]
  readonly order?: Partial<NodeOrder>
  readonly exit?: NodeExit
  readonly signal?: AbortSignal
}

/** Runs it on a node whose process says these facts. */
function run({
  facts = {},
  printed,
  order: changes = {},
  exit = { code: 0, signal: null },
  signal
}: Given = {}) {
  const mark = '0123456789abcdef'
  const order: NodeOrder = {
    node: nodeOf(
      {
        run: (given) => {
          command = given
          const told = printed ?? writeFacts({ ...FACTS, ...facts }).map((line) => `${mark} ${line}`)
          for (const line of told) given.onLine(line)
          return Promise.resolve(exit)
        }
      },
      { PATH: '/bin', GITHUB_TOKEN: 'a-job-token' }
    ),
    whole: { nodes: 3, threads: 7 },
    place: { region: 'eu', gridIndex: 1, nodeIndex: 2, ordinal: 5 },
    ...{
      planFile: join(folder, 'shop.js'),
      samplesFile: join(folder, 'a.csv'),
      logFile: join(folder, 'a.log')
    },
    ...{ nodeName: 'eu node 3', mark, threads: 2, rampupSec: 5, durationSec: 60, hosts: [], properties: [] },
    ...changes
  }
  const tool = { k6: '/opt/k6', version: '1.8.1', node: process.execPath }
  const work = { order, signal: signal ?? new AbortController().signal, ports: portsWith({}) }
  return runOnNode({ tool, variables: { STAGE: 'test', DB_PASSWORD: 'battery-staple' } }, work)
}

describe('what a node is given', () => {
  test('settings of all nodes, parameters under both names, its place and its part; secrets in no argument', async () => {
    const properties = [
      { kind: 'J', name: 'shop.host', value: 'here' },
      { kind: 'D', name: 'password', value: 'correct-horse', isSecret: true }
    ] as const
    await run({ order: { properties } })
    const { LOADGATE_K6: text = '', ...env } = command.env
    expect(env).toMatchObject({
      ...{ PATH: '/bin', STAGE: 'test', THREADS: '7', RAMPUP: '5s', DURATION: '60s', FLOOD_NODE_INDEX: '2' },
      ...{ 'shop.host': 'here', SHOP_HOST: 'here', password: 'correct-horse', PASSWORD: 'correct-horse' }
    })
    expect(env).not.toHaveProperty('GITHUB_TOKEN')
    expect(JSON.parse(text) as K6Order).toMatchObject({
      ...{ k6: '/opt/k6', vus: 7, rampupSec: 5, durationSec: 60, part: 2, parts: 3, threadPrefix: '6-' }
    })
    expect(text).not.toContain('correct-horse')
    expect(command.args).toEqual([expect.stringMatching(/dist\/tools\/k6\.mjs$/)])
  })

  test('a node that shares nothing has the whole', async () => {
    await run({ order: { whole: { nodes: 1, threads: null }, rampupSec: null, durationSec: null } })
    expect(JSON.parse(command.env.LOADGATE_K6!)).toMatchObject({ part: 0, parts: 1, vus: null })
    expect(command.env).not.toHaveProperty('THREADS')
  })
})

describe('the outcome', () => {
  test('as the node tells it, in lines that begin with the tool’s name', async () => {
    const lines = [
      { text: 'checks rate>0.9', holds: false, joins: { by: 'range', isOneSided: true } as const }
    ]
    expect(await run({ facts: { losses: ['a'], doubts: ['b'], lines } })).toEqual({
      ...{ problem: null, losses: ['a'], doubts: ['b'] },
      lines: [{ text: 'k6: checks rate>0.9', holds: false, joins: { by: 'range', isOneSided: true } }],
      isIdle: false
    })
  })

  test('no request is lost load, but not on a node without a VU, and not beside a problem', async () => {
    const silent = 'eu node 3 recorded no samples: the script sent no HTTP request'
    expect((await run({ facts: { requests: 0 } })).losses).toEqual([silent])
    expect(await run({ facts: { requests: 0, isIdle: true } })).toMatchObject({ losses: [], isIdle: true })
    expect(log).toEqual(['eu node 3: the script has no VU for it, so it stays idle'])
    expect(await run({ facts: { requests: 0, problem: 'no' } })).toMatchObject({ problem: 'no', losses: [] })
  })

  test('hundreds of long thresholds and a problem with odd characters arrive', async () => {
    const lines = Array.from({ length: 300 }, (_, index) => ({
      text: `${index} ${'x'.repeat(1000)}`,
      holds: true
    }))
    const outcome = await run({ facts: { lines, problem: '\u0001'.repeat(9000) } })
    expect(outcome.lines).toHaveLength(300)
    expect(outcome.problem).toBe(`${'\u0001'.repeat(1200)}…`)
    expect(
      Math.max(...writeFacts({ ...FACTS, problem: '\u0001'.repeat(9000) }).map((line) => line.length))
    ).toBeLessThan(8000)
  })

  test.each([
    { what: 'nothing', printed: ['oops'] },
    { what: 'facts without an end', printed: ['0123456789abcdef {"loss":"a"}', 'oops'] },
    {
      what: 'facts that cannot be read',
      printed: ['0123456789abcdef {"los', '0123456789abcdef {"end":{}}', 'oops']
    },
    { what: 'facts with the word of nobody', printed: ['0 {"end":{"requests":3,"isIdle":false}}', 'oops'] }
  ])('$what: the process ended too early', async ({ printed }) => {
    const { problem } = await run({ printed, exit: { code: null, signal: 'SIGKILL' } })
    expect(problem).toMatch(/^The process that runs k6 ended too early \(killed by SIGKILL\): [^]*oops$/)
  })

  test('a stop is no problem', async () => {
    expect(await run({ printed: [], signal: AbortSignal.abort() })).toEqual({ problem: null })
  })

  test('secrets are redacted wherever a script may print them, also where a line was cut', async () => {
    const properties = [{ kind: 'J', name: 'token', value: 'correct-horse-battery' }] as const
    const words = `it is correct-horse-battery and battery-staple, ${'x'.repeat(1140)} correct-horse-battery`
    const facts = { ...FACTS, problem: words, losses: [words], lines: [{ text: words, holds: true }] }
    const told = writeFacts(facts).map((line) => `0123456789abcdef ${line}`)
    const outcome: NodeOutcome = await run({
      printed: [...told, 'say battery-staple'],
      order: { properties }
    })
    expect(JSON.stringify([outcome, log])).not.toMatch(/correct|staple/)
    expect(log).toEqual(['eu node 3: say ***'])
  })
})
