import { messageOf, ToolError } from '../../errors.js'
import { toolEnvironment } from '../tool-environment.js'
import type { InstallPorts } from './install-ports.js'

/** A short command whose output matters, such as one that prints a version. */
export interface ShortCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Instead of what a tool gets. */
  readonly env?: NodeJS.ProcessEnv
  /** Called for each line as it comes. */
  readonly onLine?: (line: string) => void
}

/** A program that prints its version does so within a second or two. */
export const VERSION_LIMIT_MS = 20_000

/** Runs a command and returns what it printed; throws if it cannot be started, not if it fails. */
export async function runToEnd(
  command: ShortCommand,
  ports: Pick<InstallPorts, 'env' | 'processes' | 'signal'>
): Promise<{ code: number | null; lines: string[] }> {
  const lines: string[] = []
  const onLine = (line: string): void => {
    lines.push(line)
    command.onLine?.(line)
  }
  const { file, args, cwd = process.cwd(), env = toolEnvironment(ports.env) } = command
  try {
    const { code } = await ports.processes.run({ file, args, cwd, env, onLine }, ports.signal)
    return { code, lines }
  } catch (thrown) {
    if (ports.signal.aborted) throw thrown
    throw new ToolError(`${file} cannot be started: ${messageOf(thrown)}`, { cause: thrown })
  }
}

/** The same with a limit, after which the command is ended: it may be another program than was thought, and wait for ever. */
export async function runWithin(
  limitMs: number,
  command: ShortCommand,
  ports: Pick<InstallPorts, 'env' | 'processes' | 'signal'>
): Promise<{ code: number | null; lines: string[]; isLate: boolean }> {
  const limit = AbortSignal.timeout(limitMs)
  const signal = AbortSignal.any([ports.signal, limit])
  const ended = await runToEnd(command, { ...ports, signal })
  ports.signal.throwIfAborted()
  return { ...ended, isLate: limit.aborted }
}
