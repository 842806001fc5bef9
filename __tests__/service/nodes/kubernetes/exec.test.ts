import { afterEach, describe, expect, test } from '@jest/globals'
import { randomBytes } from 'node:crypto'
import http from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { ClusterError, type ExecStreams } from '../../../../src/service/nodes/kubernetes/cluster.js'
import type { Credentials } from '../../../../src/service/nodes/kubernetes/credentials.js'
import { execInPod, Openings, type ExecParts } from '../../../../src/service/nodes/kubernetes/exec.js'
import {
  makeStatus,
  startStandInCluster,
  type StandInCluster,
  type StandInOptions
} from '../../../support/kubernetes/stand-in-cluster.js'
import type { StandInExec } from '../../../support/kubernetes/stand-in-exec.js'

const MIB = 1024 * 1024
const FOREVER = new AbortController().signal

let standIn: StandInCluster
afterEach(() => standIn.close())

async function run(
  options: StandInOptions,
  streams: ExecStreams = {},
  more: Partial<ExecParts> = {}
): Promise<{ code: number }> {
  standIn = await startStandInCluster(options)
  const agent = new http.Agent()
  const access = { headers: { Authorization: 'Bearer secret-token' }, agent }
  const credentials = { access: async () => access, renew: async () => access } as unknown as Credentials
  return execInPod({
    server: standIn.url,
    credentials,
    namespace: 'load',
    pod: 'grid-0',
    command: ['sh', '-c', 'echo "a b" & c=d'],
    streams,
    signal: FOREVER,
    openings: new Openings(),
    ...more
  })
}

async function* parts(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}

/** Waits until a number does not change any more. */
async function settled(read: () => number): Promise<number> {
  for (let last = -1; last !== read();) {
    last = read()
    await sleep(100)
  }
  return read()
}

async function failureOf(work: Promise<unknown>): Promise<Error> {
  const error: unknown = await work.then(() => undefined).catch((thrown: unknown) => thrown)
  expect(error).toBeInstanceOf(Error)
  return error as Error
}

describe('a command in a pod', () => {
  test('is asked for as it is, in the container of our pods', async () => {
    let openings = 0
    await run({ onExec: (exec) => exec.exit(0) }, { stdin: 'hold', onOpen: () => openings++ })
    expect(openings).toBe(1)
    const [request] = standIn.requests
    expect(request!.path).toBe('/api/v1/namespaces/load/pods/grid-0/exec')
    expect(request!.query.getAll('command')).toEqual(['sh', '-c', 'echo "a b" & c=d'])
    expect(Object.fromEntries(request!.query)).toMatchObject({
      container: 'node',
      stdin: 'true',
      stdout: 'true',
      stderr: 'true'
    })
    expect(request!.headers.authorization).toBe('Bearer secret-token')
  })

  test.each(['v5.channel.k8s.io', 'v4.channel.k8s.io'])(
    'gets and gives exact bytes by %s',
    async (protocol) => {
      const sent = randomBytes(3 * MIB + 17)
      const out: Uint8Array[] = []
      const words: Uint8Array[] = []
      const echo = async (exec: StandInExec): Promise<void> => {
        let left = sent.length
        for await (const bytes of exec.stdin()) {
          await exec.stdout(bytes)
          left -= bytes.length
          // As `head -c SIZE` does: 4 cannot close the input.
          if (left === 0 && protocol.startsWith('v4')) break
        }
        await exec.stderr(`read ${sent.length - left}`)
        await exec.exit(3)
      }
      const exit = await run(
        { protocols: [protocol], onExec: echo },
        {
          stdin: parts(sent, 100_000),
          onStdout: (bytes) => void out.push(Buffer.from(bytes)),
          onStderr: async (bytes) => void words.push(Buffer.from(bytes))
        }
      )
      expect(exit).toEqual({ code: 3 })
      expect(standIn.execs[0]!.protocol).toBe(protocol)
      expect(Buffer.concat(out).equals(sent)).toBe(true)
      expect(Buffer.concat(words).toString()).toBe(`read ${sent.length}`)
    }
  )

  test('gives everything that came before its exit code, however slow the receiver is', async () => {
    let received = ''
    const exit = await run(
      {
        onExec: async (exec) => {
          for (const word of ['a', 'b', 'c', 'd']) void exec.stdout(word)
          await exec.exit(9)
        }
      },
      {
        onStdout: async (bytes) => {
          await sleep(5)
          received += Buffer.from(bytes).toString()
        }
      }
    )
    expect([exit.code, received]).toEqual([9, 'abcd'])
  })

  test.each<[string, StandInOptions, number | undefined, RegExp]>([
    [
      'that may not be run',
      {
        refuseExec: () => ({ status: 403, body: makeStatus(403, 'Forbidden', 'pods "grid-0" is forbidden') })
      },
      403,
      /^Running a command in the pod grid-0 was answered with HTTP 403: pods "grid-0" is forbidden$/
    ],
    [
      'in a pod that is gone',
      { refuseExec: () => ({ status: 404, body: makeStatus(404, 'NotFound', 'pods "grid-0" not found') }) },
      404,
      /pods "grid-0" not found/
    ],
    [
      'in a container that is gone',
      { refuseExec: () => ({ status: 500, body: 'container not found ("node")' }) },
      500,
      /HTTP 500: container not found \("node"\)/
    ],
    [
      'that cannot be started',
      { onExec: (exec) => exec.fail(makeStatus(500, 'InternalError', 'exec: "nosuch": not found')) },
      500,
      /the pod grid-0 could not be run to its end: exec: "nosuch": not found/
    ],
    [
      'whose exit code is not told',
      { onExec: (exec) => exec.fail({ status: 'Failure', reason: 'NonZeroExitCode' }) },
      undefined,
      /could not be run to its end: NonZeroExitCode/
    ],
    [
      'whose status is not JSON',
      { onExec: (exec) => exec.fail('lost contact') },
      undefined,
      /to its end: lost contact/
    ],
    [
      'whose stream is cut',
      { onExec: (exec) => exec.cut() },
      undefined,
      /stream from the pod grid-0 was cut before the command ended \(WebSocket close code 1006\)/
    ],
    [
      'of a server that knows neither protocol',
      { protocols: [] },
      undefined,
      /cannot be reached: .*subprotocol/
    ]
  ])('%s is a ClusterError in the cluster’s words', async (_, options, status, words) => {
    const error = await failureOf(run(options))
    expect(error).toBeInstanceOf(ClusterError)
    expect((error as ClusterError).status).toBe(status)
    expect(error.message).toMatch(words)
  })

  test('whose receiver fails ends with that error', async () => {
    const fails = (onStdout: ExecStreams['onStdout']): Promise<Error> =>
      failureOf(run({ onExec: (exec) => exec.stdout('x') }, { onStdout: onStdout! }))
    expect((await fails(() => Promise.reject(new Error('disk full')))).message).toBe('disk full')
    await standIn.close()
    const throws = (): void => {
      throw new Error('disk full')
    }
    expect((await fails(throws)).message).toBe('disk full')
  })

  test('whose input fails ends with that error', async () => {
    // eslint-disable-next-line require-yield
    async function* broken(): AsyncGenerator<Buffer> {
      throw new Error('file gone')
    }
    expect((await failureOf(run({}, { stdin: broken() }))).message).toBe('file gone')
  })

  test('whose server forgets to close has ended all the same', async () => {
    const limits = { openMs: 30_000, closeMs: 20 }
    const onExec = (exec: StandInExec): Promise<void> => exec.sendStatus({ status: 'Success' })
    expect(await run({ onExec }, {}, { limits })).toEqual({ code: 0 })
  })

  test('whose outputs follow its status, more slowly than a server may take to close, has all of them', async () => {
    const limits = { openMs: 30_000, closeMs: 400 }
    const words = Array.from({ length: 12 }, (_, index) => `${index};`)
    const onExec = async (exec: StandInExec): Promise<void> => {
      await exec.sendStatus({ status: 'Success' })
      for (const word of words) await exec.stdout(word)
    }
    let said = ''
    const onStdout = async (bytes: Uint8Array): Promise<void> => {
      said += Buffer.from(bytes).toString()
      await sleep(said.length > 10 ? 50 : 500)
    }
    expect(await run({ onExec }, { onStdout }, { limits })).toEqual({ code: 0 })
    expect(said).toBe(words.join(''))
  })
})

describe('an abort', () => {
  test('closes the connection and gives its reason', async () => {
    const stopper = new AbortController()
    const onExec = (): void => stopper.abort(new Error('enough'))
    await expect(run({ onExec }, { stdin: 'hold' }, { signal: stopper.signal })).rejects.toThrow('enough')
    await standIn.execs[0]!.closed
  })

  test('while the connection is being opened gives its reason', async () => {
    const stopper = new AbortController()
    const refuseExec = (): undefined => {
      stopper.abort(new Error('enough'))
      return undefined
    }
    await expect(run({ refuseExec }, {}, { signal: stopper.signal })).rejects.toThrow('enough')
  })

  test('waits for the receiver that is writing, and calls none after it', async () => {
    const stopper = new AbortController()
    const said: string[] = []
    const onExec = async (exec: StandInExec): Promise<void> => {
      for (const word of ['a', 'b', 'c']) await exec.stdout(word)
    }
    const onStdout = async (bytes: Uint8Array): Promise<void> => {
      said.push(`${Buffer.from(bytes).toString()} begins`)
      stopper.abort(new Error('enough'))
      await sleep(30)
      said.push('written')
    }
    await expect(run({ onExec }, { onStdout }, { signal: stopper.signal })).rejects.toThrow('enough')
    expect(said).toEqual(['a begins', 'written'])
  })
})

describe('backpressure', () => {
  test('stops the sender while the receiver is busy, and then loses nothing', async () => {
    const chunk = Buffer.alloc(64 * 1024, 1)
    const count = 512
    let sent = 0
    let received = 0
    let release!: () => void
    const gate = new Promise<void>((resolve) => (release = resolve))
    const work = run(
      {
        onExec: async (exec) => {
          for (; sent < count; sent++) await exec.stdout(chunk)
          await exec.exit(0)
        }
      },
      {
        onStdout: async (bytes) => {
          received += bytes.length
          await gate
        }
      }
    )
    await settled(() => sent + received)
    expect(received).toBe(chunk.length)
    expect(sent).toBeLessThan(count / 2)
    release()
    expect(await work).toEqual({ code: 0 })
    expect(received).toBe(count * chunk.length)
  })

  test('reads the input no faster than it is sent', async () => {
    const total = 32 * MIB
    let pulled = 0
    let started!: (exec: StandInExec) => void
    const opened = new Promise<StandInExec>((resolve) => (started = resolve))
    async function* zeros(): AsyncGenerator<Buffer> {
      for (; pulled < total; pulled += MIB) yield Buffer.alloc(MIB)
    }
    const work = run(
      {
        onExec: (exec) => {
          exec.pause()
          started(exec)
        }
      },
      { stdin: zeros() }
    )
    const exec = await opened
    expect(await settled(() => pulled)).toBeLessThan(total / 2)
    exec.resume()
    let arrived = 0
    for await (const bytes of exec.stdin()) arrived += bytes.length
    await exec.exit(0)
    expect(await work).toEqual({ code: 0 })
    expect(arrived).toBe(total)
  })
})
