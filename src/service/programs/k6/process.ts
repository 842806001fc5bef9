import { spawn } from 'node:child_process'
import type { Readable } from 'node:stream'

/** For the last output in the pipes: a process that k6 has started and left behind may hold them open forever. */
const LAST_WORDS_MS = 3000

interface K6Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface K6Process {
  readonly pid: number | undefined
  readonly stdout: Readable
  readonly stderr: Readable
  readonly ended: Promise<K6Exit>
  readonly kill: (signal: NodeJS.Signals) => void
}

interface Start {
  readonly env: NodeJS.ProcessEnv
  readonly cwd: string
  /**
   * In a process group of its own, of which nothing is left after its end. A node needs none: whatever runs there is in its group, which
   * the service measures, stops, and ends when the node's program has ended.
   */
  readonly isGroup?: boolean | undefined
}

/** Starts k6, which may be a script that starts it. */
export function startK6(
  file: string,
  args: readonly string[],
  { env, cwd, isGroup = false }: Start
): K6Process {
  const k6 = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe'], env, cwd, detached: isGroup })
  const { pid, stdout, stderr } = k6
  const kill = (signal: NodeJS.Signals): void => {
    try {
      if (isGroup && pid !== undefined) process.kill(-pid, signal)
      else k6.kill(signal)
    } catch {
      // It has ended.
    }
  }
  const ended = new Promise<K6Exit>((resolve, reject) => {
    k6.on('error', (error) => reject(new Error(`k6 cannot be started: ${error.message}`)))
    k6.on('exit', (code, signal) => {
      if (isGroup) kill('SIGKILL')
      const limit = setTimeout(() => [stdout, stderr].forEach((pipe) => pipe.destroy()), LAST_WORDS_MS)
      k6.on('close', () => {
        clearTimeout(limit)
        resolve({ code, signal })
      })
    })
  })
  return { pid, stdout, stderr, ended, kill }
}
