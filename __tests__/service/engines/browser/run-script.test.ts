import { afterEach, beforeEach, describe, expect, test } from '@jest/globals'
import { mkdtempSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import type { NodeOrder, NodeOutcome } from '../../../../src/service/engines/engine.js'
import { runScript } from '../../../../src/service/engines/browser/run-script.js'
import { nodeOf } from '../../nodes/node-of.js'
import type { LoadNode, NodeExit } from '../../../../src/service/nodes/load-node.js'
import { createTell, type Message, type Tell } from '../../../../src/service/programs/element/messages.js'
import type { RunOrder } from '../../../../src/service/programs/element/run/run-order.js'
import { Processes, type ToolCommand } from '../../../../src/service/nodes/machine/processes.js'
import { removeFolder } from '../../../support/remove-folder.js'

let folder: string
let lines: string[]
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'loadgate-run-'))
  lines = []
})
afterEach(() => removeFolder(folder))

const EXITED: NodeExit = { code: 0, signal: null }

function describeOrder(node: LoadNode, more: Partial<NodeOrder> = {}): NodeOrder {
  return {
    ...{ node, planFile: join(folder, 'plan.ts'), samplesFile: join(folder, 'rows.csv'), nodeName: 'node 1' },
    ...{ logFile: join(folder, 'log'), threads: 2, rampupSec: 4, durationSec: 60, hosts: [], properties: [] },
    whole: { nodes: 1, threads: null },
    place: { region: 'us-east-1', gridIndex: 0, nodeIndex: 1, ordinal: 1 },
    mark: '0123456789abcdef01234567',
    ...more
  }
}

function run(
  node: LoadNode,
  {
    order = {},
    variables = {},
    plan = 'plan.mjs',
    blockedAfterMs = 30_000,
    signal = new AbortController().signal
  }: {
    order?: Partial<NodeOrder>
    variables?: Record<string, string>
    plan?: string
    blockedAfterMs?: number
    signal?: AbortSignal
  } = {}
): Promise<NodeOutcome> {
  const script = { file: join(folder, plan), modules: resolve('.'), browser: '/bin/false', variables }
  const ports = {
    log: (line: string) => void lines.push(line),
    blockedAfterMs
  }
  return runScript(script, describeOrder(node, order), { signal, ports })
}

/** A process that says these things. */
function stub(say: (tell: Tell, command: ToolCommand) => NodeExit): LoadNode {
  return nodeOf(
    {
      run: (command) => {
        const [file = ''] = command.args.slice(-1)
        const { messagesFile } = JSON.parse(readFileSync(file, 'utf8')) as RunOrder
        return Promise.resolve(say(createTell(messagesFile), command))
      }
    },
    { PATH: process.env.PATH, SECRET: 'of the job' }
  )
}

test('hosts have other addresses, also as a script may write them with a final dot', async () => {
  let hosts: RunOrder['hosts'] = []
  const node = stub((tell, { args }) => {
    hosts = (JSON.parse(readFileSync(args.at(-1)!, 'utf8')) as RunOrder).hosts
    tell({ kind: 'end' })
    return EXITED
  })
  await run(node, { order: { hosts: [{ host: 'shop.example', address: '10.0.0.1' }] } })
  expect(hosts.map(({ host, address }) => `${host} ${address}`)).toEqual([
    'shop.example 10.0.0.1',
    'shop.example. 10.0.0.1'
  ])
})

test('its order and its messages are beside the folder of the plan, and its own folder has no name that others know', async () => {
  const nodeFolder = join(folder, 'node-1')
  const seen: string[][] = []
  const temps: string[] = []
  const node = nodeOf({
    run: (command) => {
      const [file = ''] = command.args.slice(-1)
      const { messagesFile, workDir } = JSON.parse(readFileSync(file, 'utf8')) as RunOrder
      seen.push([file, messagesFile], readdirSync(workDir))
      temps.push(workDir)
      createTell(messagesFile)({ kind: 'end' })
      return Promise.resolve(EXITED)
    }
  })
  for (let count = 0; count < 2; count++)
    expect((await run(node, { order: { planFile: join(nodeFolder, 'plan.ts') } })).problem).toBeNull()
  const files = [`${nodeFolder}.order.json`, `${nodeFolder}.messages`]
  expect(seen).toEqual([files, [], files, []])
  expect(new Set(temps).size).toBe(2)
  for (const temp of temps) expect(temp).not.toContain('0123456789abcdef01234567')
  expect(readdirSync(folder)).toEqual([])
})

describe('what a process says', () => {
  test.each<{ name: string; say: Message[]; outcome: NodeOutcome }>([
    { name: 'an end', say: [{ kind: 'end' }], outcome: { problem: null, losses: [] } },
    {
      name: 'a loss',
      say: [{ kind: 'loss', text: 'one user was stuck' }, { kind: 'end' }],
      outcome: { problem: null, losses: ['one user was stuck'] }
    },
    {
      name: 'a problem',
      say: [{ kind: 'problem', text: 'no steps' }],
      outcome: { problem: 'no steps', losses: [] }
    },
    {
      name: 'that a signal stopped it',
      say: [{ kind: 'stopped', signal: 'SIGTERM' }],
      outcome: {
        problem:
          'plan.ts: SIGTERM, which loadgate did not send, stopped its process before the end of the test',
        losses: []
      }
    },
    {
      name: 'nothing',
      say: [],
      outcome: {
        problem: 'plan.ts: its process ended before the end of the test, with exit code 0',
        losses: []
      }
    }
  ])('$name', async ({ say, outcome }) => {
    const node = stub((tell) => {
      for (const message of say) tell(message)
      return EXITED
    })
    expect(await run(node)).toEqual(outcome)
  })

  test('a script that prints the words of an end has not ended', async () => {
    const node = stub((_, { onLine }) => {
      onLine('{"kind":"end"}')
      return { code: null, signal: 'SIGKILL' }
    })
    expect((await run(node)).problem).toMatch(/killed by SIGKILL$/)
    expect(lines).toEqual(['node 1: {"kind":"end"}'])
  })

  test('what was stopped from outside is no problem', async () => {
    const abort = new AbortController()
    abort.abort()
    expect(
      await run(
        stub(() => EXITED),
        { signal: abort.signal }
      )
    ).toEqual({ problem: null })
  })

  test('secrets are redacted, and a flood of lines is cut', async () => {
    const node = stub((tell, { onLine }) => {
      onLine('it is hunter2-and-more')
      for (let i = 0; i < 300; i++) onLine('again')
      tell({ kind: 'problem', text: 'wrong: s3cret-of-the-file' })
      return EXITED
    })
    const properties = [{ kind: 'D' as const, name: 'password', value: 'hunter2-and-more' }]
    const { problem } = await run(node, {
      order: { properties },
      variables: { API_TOKEN: 's3cret-of-the-file' }
    })
    expect(problem).toBe('wrong: ***')
    expect(lines[0]).toBe('node 1: it is ***')
    expect(lines).toHaveLength(201)
    expect(lines.at(-1)).toContain('the rest of what the script prints is in its log')
  })
})

test('a process gets its order, and an environment of what is allowed and what is for the plan', async () => {
  const seen: { env: NodeJS.ProcessEnv; order: unknown }[] = []
  const node = stub((tell, { env, args }) => {
    seen.push({ env, order: JSON.parse(readFileSync(args.at(-1) ?? '', 'utf8')) })
    tell({ kind: 'end' })
    return EXITED
  })
  const properties = [{ kind: 'J' as const, name: 'colour', value: 'red' }]
  await run(node, { order: { properties }, variables: { FROM_FILE: 'x' } })
  const [{ env, order } = { env: {}, order: {} }] = seen
  expect(env).toMatchObject({ threads: '2', rampup: '4', duration: '60', colour: 'red', FROM_FILE: 'x' })
  expect(env).toMatchObject({
    FLOOD_LOAD_TEST: 'true',
    FLOOD_GRID_REGION: 'us-east-1',
    FLOOD_NODE_INDEX: '1'
  })
  expect(env.SECRET).toBeUndefined()
  expect(order).toMatchObject({ mode: 'run', users: 2, rampupMs: 4000, durationMs: 60_000, folder })
})

describe('a real process', () => {
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const declare = (body: string): void =>
    writeFileSync(join(folder, 'plan.mjs'), `export const script = { default: async () => { ${body} } }`)

  test.each([
    { name: 'a line without an end', print: `process.stdout.write('.')` },
    {
      name: 'a line without an end, longer than the longest',
      print: `process.stdout.write('x'.repeat(9000))`
    },
    { name: 'a flood', print: `for (const s of ['a', 'b']) process.stdout.write(s.repeat(3e7))` }
  ])('is heard in spite of $name', async ({ print }) => {
    declare(`${print}; throw new Error('the last words')`)
    expect((await run(nodeOf(processes))).problem).toBe('the last words')
  })

  test('is heard to the end, however much it says', async () => {
    declare(`throw new Error('ü "'.repeat(2000) + ' last')`)
    expect((await run(nodeOf(processes))).problem).toMatch(/ last$/)
  })
})

describe('a script that blocks its process', () => {
  test('is ended, and that is a problem', async () => {
    writeFileSync(join(folder, 'plan.mjs'), 'export const script = { default: () => { for (;;); } }')
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const outcome = await run(nodeOf(processes), { blockedAfterMs: 2000 })
    expect(outcome.problem).toBe(
      'the script blocked its process for 2 s; does it have an endless loop that never waits?'
    )
  })
})
