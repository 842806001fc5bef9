import { readFileSync, constants } from 'node:fs'
import { dirname, join, delimiter, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { access, stat } from 'node:fs/promises'
import { ToolError } from '../../errors.js'
import { messageOf } from '../../../contract/text.js'
import { keepLines } from '../../lines.js'
import { toolEnvironment } from '../tool-environment.js'
import type { Processes } from '../../nodes/machine/processes.js'

/** A short command whose output matters, such as one that prints a version. */
interface ShortCommand {
  readonly file: string
  readonly args: readonly string[]
  readonly cwd?: string
  /** Instead of what a tool gets. */
  readonly env?: NodeJS.ProcessEnv
  readonly onLine?: (line: string) => void
}

/** Runs a command and returns what it printed; throws if it cannot be started, not if it fails. */
export async function runToEnd(
  command: ShortCommand,
  ports: Pick<InstallPorts, 'env' | 'processes' | 'signal'>
): Promise<{ code: number | null; lines: string[] }> {
  const lines: string[] = []
  const keep = keepLines(lines)
  const onLine = (line: string): void => {
    keep(line)
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

export interface InstallPorts {
  readonly env: NodeJS.ProcessEnv
  readonly processes: Processes
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  /** Shows a line in place of the one before, if there is a terminal; without a line, nothing. */
  readonly progress?: ((line: string | undefined) => void) | undefined
  readonly progressEveryMs?: number
}

const PACKAGE = 'loadgate'

/** The absolute path of a file shipped with this package: `src/` and `dist/` differ in depth, so package.json marks the root. */
export function packageFile(path: string): string {
  let folder = dirname(fileURLToPath(import.meta.url))
  while (nameOf(folder) !== PACKAGE) {
    if (folder === dirname(folder))
      throw new Error(`There is no package.json of ${PACKAGE} above ${import.meta.url}`)
    folder = dirname(folder)
  }
  return join(folder, path)
}

function nameOf(folder: string): unknown {
  try {
    return (JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')) as { name?: unknown }).name
  } catch {
    return undefined
  }
}

/** The program of this name that the system would start, as an absolute path. */
export async function findOnPath(name: string, env: NodeJS.ProcessEnv): Promise<string | undefined> {
  for (const dir of (env.PATH ?? '').split(delimiter)) {
    const file = resolve(dir, name)
    if (dir !== '' && (await isExecutable(file))) return file
  }
  return undefined
}

/** A folder can be "executable" too. */
export async function isExecutable(file: string): Promise<boolean> {
  try {
    await access(file, constants.X_OK)
    return (await stat(file)).isFile()
  } catch {
    return false
  }
}
