import { afterAll, afterEach, describe, expect, test } from '@jest/globals'
import { appendFileSync, truncateSync } from 'node:fs'
import http from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { readMessage } from '../../src/service/programs/element/messages.js'
import { followMessages } from '../../src/service/engines/browser/run-script.js'
import { Console } from '../../src/service/engines/gatling/run-simulation.js'
import { runToEnd } from '../../src/service/engines/install/run-to-end.js'
import { keepLines } from '../../src/service/lines.js'
import type { Credentials } from '../../src/service/nodes/kubernetes/credentials.js'
import { execInPod, Openings } from '../../src/service/nodes/kubernetes/exec.js'
import { openCluster } from '../../src/service/nodes/kubernetes/open-cluster.js'
import { NodeError } from '../../src/service/nodes/load-node.js'
import { Processes } from '../../src/service/nodes/machine/processes.js'
import { type ContactParts, PodContact, POD_TIMINGS } from '../../src/service/nodes/pods/work/pod-contact.js'
import { systemClock } from '../../src/contract/clock.js'
import { writeKubeconfig } from '../support/kubernetes/kubeconfig.js'
import { createFolders } from './support.js'
import { writeScript } from './stand-in.js'

const folders = createFolders()
const servers: http.Server[] = []
const never = new AbortController().signal
afterEach(() => servers.splice(0).forEach((server) => server.close()))
afterAll(() => folders.remove())

/** A server that answers everything without end. Returns its address, and how many bytes it could send. */
async function startEndless(status: number) {
  const block = Buffer.alloc(1 << 20, 'x')
  const sent = { bytes: 0 }
  const answer = (write: (bytes: Buffer) => boolean, onDrain: (next: () => void) => void): void => {
    const send = (): void => {
      while (sent.bytes < 2 ** 30 && write(block)) sent.bytes += block.length
      if (sent.bytes < 2 ** 30) onDrain(send)
    }
    send()
  }
  const server = http.createServer((_, response) => {
    response.writeHead(status)
    answer(
      (bytes) => response.write(bytes),
      (next) => response.once('drain', next)
    )
  })
  server.on('upgrade', (_, socket) => {
    socket.on('error', () => undefined)
    socket.write(`HTTP/1.1 ${status} No\r\n\r\n`)
    answer(
      (bytes) => socket.write(bytes),
      (next) => socket.once('drain', next)
    )
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  servers.push(server)
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, sent }
}

describe('a cluster', () => {
  test('that replies without end is cut off', async () => {
    const { url, sent } = await startEndless(200)
    const kubeconfig = writeKubeconfig(folders.create(), { server: url, namespace: 'load' })
    const cluster = await openCluster(
      { context: undefined, namespace: undefined },
      { KUBECONFIG: kubeconfig }
    )
    await expect(cluster.request('GET', '/api')).rejects.toThrow('a reply of more than 128 MB')
    expect(sent.bytes).toBeLessThan(2 ** 29)
  })

  test('that refuses a stream without end is cut off', async () => {
    const { url, sent } = await startEndless(500)
    const access = { headers: {}, agent: new http.Agent() }
    const credentials = { access: async () => access, renew: async () => access } as unknown as Credentials
    const parts = {
      server: url,
      credentials,
      namespace: 'load',
      pod: 'grid-0',
      command: ['true'],
      streams: {}
    }
    const running = execInPod({ ...parts, signal: never, openings: new Openings() })
    await expect(running).rejects.toThrow('HTTP 500')
    expect(sent.bytes).toBeLessThan(2 ** 26)
  })
})

test('a pod that answers a short question without end is a lost node', async () => {
  let asked = 0
  const cluster = {
    exec: async (
      _pod: string,
      _command: unknown,
      streams: { onStdout: (bytes: Uint8Array) => void },
      signal: AbortSignal
    ) => {
      asked++
      for (let sent = 0; sent < 2 ** 26; sent += 2 ** 20) {
        signal.throwIfAborted()
        streams.onStdout(Buffer.alloc(2 ** 20))
      }
      return { code: 0 }
    }
  } as unknown as ContactParts['cluster']
  const contact = new PodContact({
    ...{ cluster, pod: 'pod-1', home: '/loadgate', lost: never, whyLost: async () => undefined },
    ...{ clock: systemClock, timings: POD_TIMINGS, log: () => undefined }
  })
  const failure: unknown = await contact.ask('x', []).catch((thrown: unknown) => thrown)
  expect(failure).toBeInstanceOf(NodeError)
  expect(String(failure)).toContain('printed more than 8 MB where a few lines were expected')
  expect(asked).toBe(1)
})

describe('a tool', () => {
  test('that prints without end is kept up to a limit, with a note', async () => {
    const dir = folders.create()
    const file = writeScript(join(dir, 'tool'), ['yes 0123456789012345678 | head -n 300000; exit 4'])
    const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
    const { code, lines } = await runToEnd({ file, args: [] }, { env: process.env, processes, signal: never })
    expect(code).toBe(4)
    expect(lines.length).toBeLessThan(110_000)
    expect(lines.at(-1)).toBe('… it printed more, which was not kept')
  })

  test('that prints little is kept whole', () => {
    const lines: string[] = []
    const keep = keepLines(lines)
    keep('one')
    keep('two')
    expect(lines).toEqual(['one', 'two'])
  })
})

test('messages of a script without an end are read up to a limit, and are a problem', () => {
  const file = join(folders.create(), 'messages')
  const heard: unknown[] = []
  const messages = followMessages(file, (message) => heard.push(message))
  appendFileSync(file, `${'x'.repeat(3 * 2 ** 20)}\n{"kind":"note","text":"after"}\n`)
  // Holes: a file of a terabyte that takes no space.
  truncateSync(file, 2 ** 40)
  messages.end()
  expect(heard).toEqual([
    expect.objectContaining({ kind: 'problem' }),
    { kind: 'note', text: 'after' },
    { kind: 'problem', text: 'the process that runs the script wrote too many messages' }
  ])
})

test.each([
  'null',
  '7',
  '"end"',
  '[]',
  '{}',
  '{"kind":"constructor"}',
  '{"kind":"note"}',
  '{"kind":"limit","ms":"1"}',
  '{'
])('a line of a script that is no message is a problem: %s', (line) =>
  expect(readMessage(line)).toMatchObject({ kind: 'problem' })
)

test("Gatling's output is shown up to a limit; its assertions and its last words are kept, without secrets", () => {
  const shown: string[] = []
  const redact = (text: string): string => text.replaceAll('s3cret', '***')
  const output = new Console({ mark: 'm', redact, onLine: (line) => shown.push(line) })
  for (let count = 0; count < 100_000; count++) output.push('s3cret')
  for (let count = 0; count < 100; count++) output.push('loadgate m: failed: why')
  output.push('Global: max of response time is less than 1.0 : false (actual : 50.0)')
  output.push('the last s3cret')
  expect(shown.length).toBeLessThan(2010)
  expect(shown.at(-1)).toContain('the rest is not shown')
  expect(output.assertions).toHaveLength(1)
  expect(output.lastLines.at(-1)).toBe('the last ***')
  expect(output.failures).toHaveLength(40)
})
