import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type Cluster,
  ClusterError,
  type ExecStreams
} from '../../../src/service/nodes/kubernetes/cluster.js'
import { SUPERVISOR } from '../../../src/service/nodes/pods/work/supervisor.js'

/** What may happen to one exec: it is cut after so many bytes in one direction. */
export interface Cut {
  readonly afterBytes: number
  readonly of: 'stdin' | 'stdout' | 'stderr'
}

export interface LocalPods {
  readonly cluster: Cluster
  /** The folder that is a pod's `/loadgate`. */
  homeOf(pod: string): string
  /** How many streams were cut. */
  readonly cuts: number
  /** Kills a pod with everything in it. */
  kill(pod: string): void
  close(): Promise<void>
}

/**
 * Pods that are folders and processes of this machine: exec runs the same commands in the same shell. `cutOf` decides what happens to
 * each exec, by its number; a cut looks as in a cluster: the client gets an error, the command sees the end of its standard input.
 */
export async function startLocalPods(
  root: string,
  pods: readonly string[],
  options: { shell?: string; cutOf?: (exec: number) => Cut | undefined } = {}
): Promise<LocalPods> {
  const shell = options.shell ?? 'sh'
  const homeOf = (pod: string): string => join(root, pod, 'loadgate')
  const supervisors = new Map<string, ChildProcess>()
  const children = new Set<ChildProcess>()
  let execs = 0
  let cuts = 0
  for (const pod of pods) {
    mkdirSync(homeOf(pod), { recursive: true })
    supervisors.set(
      pod,
      spawn(shell, ['-c', SUPERVISOR, 'sh', homeOf(pod)], {
        ...{ stdio: 'ignore', detached: true },
        // The test's own, which it may have changed.
        env: process.env
      })
    )
  }
  while (!pods.every((pod) => existsSync(join(homeOf(pod), 'pid')))) await sleep(5)
  const kill = (pod: string): void => {
    endGroup(supervisors.get(pod))
    supervisors.delete(pod)
  }
  const cluster: Cluster = {
    address: { kubeconfig: undefined, context: 'local', namespace: 'local' },
    name: 'folders of this machine',
    request: () => Promise.reject(new ClusterError('There is no API here.', 404)),
    exec: (pod, command, streams, signal) => {
      if (!supervisors.has(pod)) return Promise.reject(new ClusterError(`pods "${pod}" not found`, 404))
      const child = spawn(shell, command.slice(1), { stdio: 'pipe', detached: true })
      children.add(child)
      child.once('close', () => children.delete(child))
      return talk(child, streams, { signal, cut: options.cutOf?.(execs++), onCut: () => cuts++ })
    }
  }
  return {
    cluster,
    homeOf,
    kill,
    get cuts() {
      return cuts
    },
    close: async () => {
      for (const child of [...supervisors.values(), ...children]) endGroup(child)
      await Promise.all([...children].map((child) => new Promise((done) => child.once('close', done))))
    }
  }
}

function endGroup(child: ChildProcess | undefined): void {
  if (child?.pid === undefined) return
  try {
    process.kill(-child.pid, 'SIGKILL')
  } catch {
    // It has exited.
  }
}

async function talk(
  child: ReturnType<typeof spawn>,
  streams: ExecStreams,
  { signal, cut, onCut }: { signal: AbortSignal; cut: Cut | undefined; onCut: () => void }
): Promise<{ code: number }> {
  const { stdin, stdout, stderr } = child
  if (stdin === null || stdout === null || stderr === null) throw new Error('No pipes.')
  stdin.on('error', () => undefined)
  streams.onOpen?.()
  const counts = { stdin: 0, stdout: 0, stderr: 0 }
  let isOver = false
  return await new Promise<{ code: number }>((resolve, reject) => {
    const end = (error: Error): void => {
      isOver = true
      stdin.end()
      stdout.destroy()
      stderr.destroy()
      reject(error)
    }
    const abort = (): void => end(signal.reason as Error)
    signal.addEventListener('abort', abort, { once: true })
    if (signal.aborted) abort()
    /** What of these bytes gets through. */
    const pass = (of: Cut['of'], bytes: Uint8Array): Uint8Array => {
      const before = counts[of]
      counts[of] += bytes.length
      if (cut?.of !== of || counts[of] < cut.afterBytes) return bytes
      return bytes.subarray(0, Math.max(0, cut.afterBytes - before))
    }
    const isCut = (of: Cut['of']): boolean => cut?.of === of && counts[of] >= cut.afterBytes
    const cutNow = (): void => {
      onCut()
      end(new ClusterError('The stream was cut.', undefined))
    }
    const read = async (of: 'stdout' | 'stderr', take: ExecStreams['onStdout']): Promise<void> => {
      for await (const chunk of of === 'stdout' ? stdout : stderr) {
        if (isOver) return
        await take?.(pass(of, chunk as Buffer))
        if (isCut(of)) {
          cutNow()
          return
        }
      }
    }
    const write = async (): Promise<void> => {
      if (stdin.writableEnded) return
      if (streams.stdin === undefined) stdin.end()
      if (typeof streams.stdin !== 'object') return
      for await (const bytes of streams.stdin) {
        if (isOver) return
        if (!stdin.write(pass('stdin', bytes)))
          await Promise.race([once(stdin, 'drain'), once(child, 'exit')])
        if (isCut('stdin')) {
          cutNow()
          return
        }
      }
      // As on clusters before 1.30, the standard input is not closed.
    }
    const ignore = (): void => undefined
    write().catch(end)
    const outputs = [read('stdout', streams.onStdout), read('stderr', streams.onStderr)]
    for (const output of outputs) output.catch((error: unknown) => (isOver ? ignore() : end(error as Error)))
    child.once('exit', (code) => {
      void Promise.allSettled(outputs).then(() => resolve({ code: code ?? 137 }))
    })
    child.once('close', () => signal.removeEventListener('abort', abort))
  })
}

function once(emitter: { once(event: string, act: () => void): unknown }, event: string): Promise<void> {
  return new Promise((resolve) => emitter.once(event, resolve))
}
