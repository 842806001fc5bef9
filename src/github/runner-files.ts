import { messageOf } from '../gate/errors.js'

/** A place that the runner names in a variable. */
export interface RunnerPlace {
  readonly name: string
  readonly path: string | undefined
}

const NO_RIGHT = "cannot be written by this user; give the runner's user the right to write there"
const NO_ROOM = "has no room left on its disk; make room on the runner's disk"

/** What is wrong with the place by the system's code, and what to do about it. */
const CAUSES: Readonly<Record<string, string>> = {
  ENOENT: 'is not there; look for a step, or a clean-up of the runner, that deletes it',
  EISDIR: 'is a folder, not a file; do not set the variable in the workflow',
  ENOTDIR: 'is not a folder; do not set the variable in the workflow',
  EACCES: NO_RIGHT,
  EPERM: NO_RIGHT,
  EROFS: 'is on a file system that can only be read; mount it so that it can be written',
  ENOSPC: NO_ROOM,
  EDQUOT: NO_ROOM
}

/** The toolkit's own words for some of them, which have no code. */
const TOOLKIT_WORDS: readonly [words: RegExp, code: string][] = [
  [/^Missing file at path/, 'ENOENT'],
  [/^Unable to access summary file/, 'EACCES']
]

/** An error of the runner's files that says what happened and what to do. */
export class RunnerFileError extends Error {
  override name = 'RunnerFileError'
}

/** Without the variable the toolkit would print the value as a command, which runners no longer take. */
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
