import { isAbsolute, join } from 'node:path'
import { messageOf } from '../../contract/text.js'
import type { FindFiles } from '../settings/plan-files.js'

interface RunnerPlace {
  readonly name: string
  readonly path: string | undefined
}

const NO_RIGHT = "is not writable by this user; give the runner's user write access"
const NO_ROOM = "is on a full disk; free up space on the runner's disk"

/** What is wrong with the path by error code, and what to do about it. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'does not exist; check for a step, or a clean-up of the runner, that deletes it',
  EISDIR: 'is a folder, not a file; do not set the variable in the workflow',
  ENOTDIR: 'is not a folder; do not set the variable in the workflow',
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EROFS: 'is on a read-only file system; mount it read-write',
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM
}

/** The toolkit's own messages for some of them, which have no code. */
const TOOLKIT_WORDS: readonly [words: RegExp, code: string][] = [
  [/^Missing file at path/, 'ENOENT'],
  [/^Unable to access summary file/, 'EACCES']
]

/** A failure with the runner's files that says what happened and what to do. */
export class RunnerFileError extends Error {}

/** Without the variable the toolkit would print the value as a command, which runners no longer accept. */
export function assertSet({ name, path }: RunnerPlace): void {
  if (path !== undefined && path !== '') return
  throw new RunnerFileError(
    `the runner has not set ${name}; update the runner, and do not clear the variable in the workflow`
  )
}

export function explainFailure({ name, path = '' }: RunnerPlace, thrown: unknown): RunnerFileError {
  const message = messageOf(thrown)
  const { code } = (thrown ?? {}) as { code?: unknown }
  const known = typeof code === 'string' ? code : TOOLKIT_WORDS.find(([words]) => words.test(message))?.[1]
  const cause = CAUSES[known ?? '']
  const words = cause === undefined ? `${message} (${name})` : `${known}: ${path} (${name}) ${cause}`
  return new RunnerFileError(words, { cause: thrown })
}

/** Globbing as in workflows. Links are followed: the caller checks where they lead. */
export function createFindFiles(workspace: string): FindFiles {
  return async (pattern, excluded) => {
    const root = workspace.replace(/[[?*]/g, '[$&]')
    const rooted = (line: string): string => (isAbsolute(line) ? line : join(root, line))
    const patterns = [rooted(pattern), ...excluded.map((line) => `!${rooted(line)}`)]
    const { create } = await import('@actions/glob')
    const globber = await create(patterns.join('\n'), { matchDirectories: false, implicitDescendants: false })
    return globber.glob()
  }
}
