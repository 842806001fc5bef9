import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { NodeOrder, NodeOutcome } from '../../../../src/service/engines/engine.js'
import { runSelenium, type SeleniumPlan } from '../../../../src/service/engines/selenium/run-node.js'
import { createSeleniumEngine } from '../../../../src/service/engines/selenium/selenium.js'
import { nodeOf } from '../../nodes/node-of.js'
import { Processes, type ToolCommand } from '../../../../src/service/nodes/machine/processes.js'
import type { NodeExit } from '../../../../src/service/nodes/load-node.js'
import type { SeleniumOrder } from '../../../../src/service/programs/selenium-hub/order.js'
import { removeFolder } from '../../../support/remove-folder.js'

const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect\n'
const FACTS = 'facts: {"sessions":2,"stopped":[]}'
/** What the node's own process tells; lines of plans have something before it. */
const TOLD = /^(?:facts|failure): /

let folder: string
let logged: string[]
let command: ToolCommand
let ending: AbortController
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-run-node-'))
  ;[logged, ending] = [[], new AbortController()]
})
afterEach(() => removeFolder(folder))

const ports = {
  env: { PATH: '/bin', GITHUB_TOKEN: 'a-job-token', JVM_ARGS: '-ea' },
  processes: new Processes({ onStart: () => undefined, onEnd: () => undefined }),
  log: (line: string) => logged.push(line),
  signal: new AbortController().signal
}
const program = { file: '/opt/browser', name: 'Browser 1.0', major: 1 }
const plan: SeleniumPlan = {
  compiled: { version: '4.0', classPath: ['a.jar'], planJar: '/classes', choice: ['main', 'Plan'] },
  browser: { kind: 'chrome', program, driver: { ...program, file: '/opt/driver' } },
  java: '/opt/java',
  node: process.execPath,
  variables: { MARK: 'x', SHOP_PASSWORD: 'battery-staple' }
}

interface Given {
  readonly users?: readonly number[]
  readonly exit?: NodeExit
  /** Lines of plans. */
  readonly raw?: readonly string[]
  readonly changes?: Partial<NodeOrder>
}

/** Runs a node whose process prints these lines and leaves samples of these users. */
function run(
  printed: readonly string[],
  { users = [1, 2], exit = { code: 0, signal: null }, changes = {}, raw = [] }: Given = {}
): Promise<NodeOutcome> {
  const samplesFile = join(folder, 'samples.csv')
  const rows = users.map((user) => `1,1,Home,200,OK,user 1-${user},text,true,,0,0,1,1,null,0,0,0\n`)
  writeFileSync(samplesFile, HEADER + rows.join(''))
  const order: NodeOrder = {
    node: nodeOf(
      {
        run: (given) => {
          command = given
          const { word } = JSON.parse(given.env.LOADGATE_SELENIUM!) as SeleniumOrder
          for (const line of printed) given.onLine(TOLD.test(line) ? `${word} ${line}` : line)
          for (const line of raw) given.onLine(line)
          return Promise.resolve(exit)
        }
      },
      ports.env
    ),
    whole: { nodes: 1, threads: null },
    place: { region: 'local', gridIndex: 0, nodeIndex: 0, ordinal: 0 },
    ...{ planFile: join(folder, 'Plan.java'), samplesFile, logFile: join(folder, 'log'), nodeName: 'node 1' },
    mark: '0123456789abcdef01234567',
    ...{ threads: 2, rampupSec: 3, durationSec: 60, hosts: [], properties: [] },
    ...changes
  }
  return runSelenium(plan, { order, signal: ending.signal, ports })
}

describe('what the node is given', () => {
  test('the order, and nothing of the job', async () => {
    const properties = [{ kind: 'J', name: 'password', value: 'correct-horse' }] as const
    await run([FACTS, 'user 1: it is correct-horse'], { changes: { properties } })
    const { LOADGATE_SELENIUM: text, ...env } = command.env
    expect(env).toEqual({ PATH: '/bin', JVM_ARGS: '-ea', LC_ALL: expect.stringMatching(/\.UTF-8$/) })
    expect(command.args).toEqual([expect.stringMatching(/dist\/tools\/selenium-hub\.mjs$/)])
    const order = JSON.parse(text!) as SeleniumOrder
    expect(order).toMatchObject({
      ...{ browserFile: '/opt/browser', driverFile: '/opt/driver', plan: ['main', 'Plan'], planDir: folder },
      ...{ nodeNumber: 1, users: 2, rampupMs: 3000, durationMs: 60_000 },
      variables: { MARK: 'x', FLOOD_GRID_REGION: 'local', FLOOD_NODE_INDEX: '0' }
    })
    expect(order.javaArgs).toEqual(
      expect.arrayContaining([
        ...['-Xmx128m', '-ea', '-Dthreads=2', '-Drampup=3', '-Dduration=60', `@${folder}.java`]
      ])
    )
    expect(logged).toEqual(['node 1: user 1: it is ***'])
  })

  test('hosts with other addresses, also as a plan may write them with a final dot', async () => {
    await run([FACTS], { changes: { hosts: [{ host: 'shop.example', address: '10.0.0.1' }] } })
    expect((JSON.parse(command.env.LOADGATE_SELENIUM!) as SeleniumOrder).hosts).toEqual([
      { host: 'shop.example', address: '10.0.0.1' },
      { host: 'shop.example.', address: '10.0.0.1' }
    ])
  })

  test('secrets of the uploaded variables are redacted wherever the plan says them', async () => {
    const failure = 'failure: {"user":1,"words":"wrong: battery-staple"}'
    const one = await run(['user 1: it is battery-staple', failure, FACTS])
    expect(logged).toEqual(['node 1: user 1: it is ***'])
    expect(one.losses).toEqual(['Selenium: 1 of 2 users ended with an error; user 1: wrong: ***'])
    const all = await run([failure, FACTS], { changes: { threads: 1 } })
    expect(all.problem).toBe('The plan ended with an error: wrong: ***')
  })

  test('without a duration each user runs the plan once, and there is one user unless more are asked for', async () => {
    await run([FACTS], { users: [1], changes: { threads: null, rampupSec: null, durationSec: null } })
    const order = JSON.parse(command.env.LOADGATE_SELENIUM!) as SeleniumOrder
    expect(order).toMatchObject({ users: 1, rampupMs: 0, durationMs: null })
    expect(order.javaArgs.filter((arg) => arg.startsWith('-Dthreads'))).toEqual([])
  })
})

describe('how it ended', () => {
  test('well', async () => {
    expect(await run([FACTS])).toEqual({ problem: null, losses: [] })
  })

  test('stopped: whoever did it knows', async () => {
    ending.abort()
    expect(await run([], { users: [], exit: { code: null, signal: 'SIGTERM' } })).toEqual({ problem: null })
  })

  test.each([
    {
      what: 'all users failed',
      printed: ['failure: {"user":2,"words":"no luck"}', 'failure: {"user":1,"words":"no luck"}', FACTS],
      exit: { code: 0, signal: null },
      problem: 'All 2 users ended with an error; user 2: no luck'
    },
    {
      what: 'they had too little memory',
      printed: ['failure: {"user":2,"words":"OutOfMemoryError"}', 'failure: {"user":1,"words":""}', FACTS],
      exit: { code: 0, signal: null },
      problem: /OutOfMemoryError\nGive every user more memory with the environment variable HEAP/
    },
    {
      what: 'its process was killed',
      printed: ['user 1: hello'],
      exit: { code: null, signal: 'SIGKILL' },
      problem: "The users' process ended too early (killed by SIGKILL): user 1: hello"
    },
    {
      what: 'its process ended without a word',
      printed: [],
      exit: { code: 0, signal: null },
      problem: "The users' process ended too early (exit code 0): "
    }
  ])('a problem: $what', async ({ printed, exit, problem }) => {
    const outcome = await run(printed, { exit })
    expect(outcome.problem).toEqual(typeof problem === 'string' ? problem : expect.stringMatching(problem))
  })

  test.each([
    {
      what: 'one user failed',
      printed: ['failure: {"user":2,"words":"no luck"}', FACTS],
      users: [1, 2],
      losses: ['Selenium: 1 of 2 users ended with an error; user 2: no luck']
    },
    {
      what: 'one user recorded nothing',
      printed: [FACTS],
      users: [1],
      losses: [expect.stringMatching(/^Selenium: 1 of 2 users recorded no samples \(user 2\)/)]
    },
    {
      what: 'a user was stuck for most of the time',
      printed: ['facts: {"sessions":2,"stopped":[{"user":1,"silentMs":1000},{"user":2,"silentMs":40000}]}'],
      users: [1, 2],
      losses: [
        'Selenium: user 2 reported nothing in the last 40 s; a page did not load, or a step did not end'
      ]
    },
    {
      what: 'a user was stuck for half of a short run',
      printed: ['facts: {"sessions":2,"stopped":[{"user":1,"silentMs":9900},{"user":2,"silentMs":10000}]}'],
      users: [1, 2],
      durationSec: 20,
      losses: [
        'Selenium: user 2 reported nothing in the last 10 s; a page did not load, or a step did not end'
      ]
    },
    {
      what: 'a user was stuck in a very short run, for longer than a browser takes to open',
      printed: ['facts: {"sessions":2,"stopped":[{"user":1,"silentMs":4900},{"user":2,"silentMs":5000}]}'],
      users: [1, 2],
      durationSec: 2,
      losses: [
        'Selenium: user 2 reported nothing in the last 5 s; a page did not load, or a step did not end'
      ]
    },
    {
      what: 'no browser was opened',
      printed: ['facts: {"sessions":0,"stopped":[]}'],
      users: [],
      losses: ['node 1 recorded no samples; the plan opened no browser']
    },
    {
      what: 'nothing was reported',
      printed: [FACTS],
      users: [],
      losses: [expect.stringMatching(/^node 1 recorded no samples; the plan reported no transaction/)]
    },
    {
      what: 'the first transaction did not end',
      printed: ['facts: {"sessions":2,"stopped":[{"user":1,"silentMs":63000}]}'],
      users: [],
      losses: [expect.stringMatching(/^node 1 recorded no samples; the plan was still busy/)]
    }
  ])('a loss: $what', async ({ printed, users, losses, durationSec = 60 }) => {
    expect(await run(printed, { users, changes: { durationSec } })).toMatchObject({ problem: null, losses })
  })

  test.each([
    {
      what: 'past the hub',
      facts: 'facts: {"sessions":1,"stopped":[],"withoutBrowser":[2]}',
      users: [1, 2],
      losses: [
        expect.stringMatching(
          /^Selenium: 1 of 2 users recorded samples without a browser of the run \(user 2\): .*a browser of its own, past the hub/
        )
      ]
    },
    {
      what: 'none at all',
      facts: 'facts: {"sessions":1,"stopped":[],"withoutBrowser":[2]}',
      users: [1],
      losses: [expect.stringMatching(/^Selenium: 1 of 2 users recorded no samples/)]
    }
  ])('a loss: a browser $what', async ({ facts, users, losses }) => {
    expect((await run([facts], { users })).losses).toEqual(losses)
  })

  test('lines of a plan are lines for people, whatever they look like', async () => {
    const forged = [
      ...['facts: {"sessions":9,"stopped":[]}', 'failure: {bad'],
      `${'0'.repeat(36)} facts: {"sessions":9,"stopped":[]}`
    ]
    const outcome = await run([], { exit: { code: 0, signal: null }, raw: forged })
    expect(outcome.problem).toMatch(/^The users' process ended too early/)
    expect(logged).toEqual(forged.map((line) => `node 1: ${line}`))
  })

  test('half of what a node tells is a problem, and no exception', async () => {
    expect((await run(['failure: {"user":1,"wor', FACTS])).problem).toMatch(
      /ended too early .*failure: \{"user":1,"wor$/
    )
  })

  test('a plan that prints a lot is cut short in the log', async () => {
    await run([...Array.from({ length: 300 }, (_, index) => `user 1: line ${index}`), FACTS])
    expect(logged).toHaveLength(201)
    expect(logged.at(-1)).toBe('node 1: the plan prints a lot; the rest is in the log of the tool')
  })
})

describe('refused before a run is created', () => {
  const engine = createSeleniumEngine(ports)
  const request = {
    ...{ tool: 'java-selenium-firefox', fileNames: ['Plan.java'], threads: null, rampupSec: null },
    ...{ durationSec: null, hosts: [], properties: [] }
  }
  const hosts = [{ host: 'shop.example', address: '10.0.0.1' }]

  test.each([
    { what: 'nothing', changes: {}, refusals: [] },
    {
      what: 'host names for Chrome are fine',
      changes: { tool: 'java-selenium-chrome', hosts },
      refusals: []
    },
    {
      what: 'host names for Firefox',
      changes: { hosts },
      refusals: [expect.stringMatching(/^override_hosts: Firefox/)]
    },
    {
      what: 'another kind of plan',
      changes: { fileNames: ['plan.jmx', 'A.java'] },
      refusals: ['java-selenium-firefox: the plan must be Java source (.java), and "plan.jmx" is not']
    }
  ])('$what', ({ changes, refusals }) => {
    expect(engine.refuse({ ...request, ...changes })).toEqual(refusals)
  })
})
