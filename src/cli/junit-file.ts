import { fstatSync, type Stats } from 'node:fs'
import { lstat, realpath, stat } from 'node:fs/promises'
import { dirname, relative, resolve, sep } from 'node:path'
import { FolderError, makeFolder, readStart, replaceFile } from '../contract/files.js'
import { messageOf } from '../contract/text.js'
import { renderJUnit, type JUnitOutcome } from '../report/junit.js'
import { UsageError, type Arguments, type Flag } from './arguments.js'
import { OF_A_RUN } from './output-folder.js'
import { RESULT_FILE } from './result-files.js'

export const JUNIT_FLAG: Flag = {
  name: 'junit',
  value: 'file',
  about:
    'Write the verdict as JUnit XML for other CI systems: one test case per threshold. Replaces nothing but a file that loadgate wrote for it.'
}

/** The file that the flag names; without the flag, nothing is written, and nothing refused. */
export interface JUnitFile {
  write(outcome: JUnitOutcome): Promise<void>
  /** Throws if it is one of the files that a run would send. */
  checkNotAmong(inputs: readonly string[]): void
}

export interface JUnitPorts {
  readonly workspace: string
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string
}

const NOT_ENDED = 'The gate was started and has not ended: it was killed, or it is still running.'
/** How the file of an earlier gate starts. */
const OURS = /^\s*<\?xml [^>]*>\s*<testsuites name="loadgate"/
const ADVICE = 'give --junit another file'
const NO_FILE: JUnitFile = { write: () => Promise.resolve(), checkNotAmong: () => undefined }

/**
 * Does the work and has the file say how it ended, also if it threw. CI systems keep files from build to build: the file of an earlier
 * gate, perhaps a green one, is replaced before anything starts, which also shows whether it can be written.
 */
export async function withJUnit(
  args: Arguments,
  { workspace, redact }: JUnitPorts,
  work: (file: JUnitFile) => Promise<number>
): Promise<number> {
  if (!args.has(JUNIT_FLAG.name)) return work(NO_FILE)
  const named = resolve(workspace, args.text(JUNIT_FLAG.name))
  checkOthers(named, args, workspace)
  const path = await findPlace(named)
  const write: JUnitFile['write'] = (outcome) => writeFileAt(path, renderJUnit(outcome, { redact }))
  await write({ verdict: 'error', reason: NOT_ENDED })
  const checkNotAmong = (inputs: readonly string[]): void => {
    if (inputs.includes(named) || inputs.includes(path))
      throw new UsageError(`--junit: ${named} is also one of the files of the run; ${ADVICE}`)
  }
  return work({ write, checkNotAmong }).catch(async (thrown: unknown) => {
    // A file that could not be written is what was thrown, perhaps.
    await write({ verdict: 'error', reason: messageOf(thrown) }).catch(() => undefined)
    throw thrown
  })
}

/** After a mistake that keeps the arguments from being read: the file of an earlier gate must not stay green. */
export async function noteInJUnit(
  typed: readonly string[],
  thrown: unknown,
  { workspace, redact }: JUnitPorts
): Promise<void> {
  const value = findTyped(typed)
  if (value === undefined) return
  const text = renderJUnit({ verdict: 'error', reason: messageOf(thrown) }, { redact })
  // What was typed is told anyway, and is the first thing to be corrected.
  await findPlace(resolve(workspace, value))
    .then((path) => writeFileAt(path, text))
    .catch(() => undefined)
}

/** The flag's value, where it is given once. */
function findTyped(typed: readonly string[]): string | undefined {
  const end = typed.indexOf('--')
  const args = end < 0 ? typed : typed.slice(0, end)
  const flag = `--${JUNIT_FLAG.name}`
  const [first = '', ...more] = args.flatMap((arg, at) => {
    if (arg.startsWith(`${flag}=`)) return [arg.slice(flag.length + 1).trim()]
    return arg === flag ? [(args[at + 1] ?? '').replace(/^-.*/s, '').trim()] : []
  })
  return first === '' || more.length > 0 ? undefined : first
}

/** What else was typed may be a file that is read, even one that does not exist yet, or the folder of the run. */
function checkOthers(path: string, args: Arguments, workspace: string): void {
  const given = [
    ...args.words.map((word) => ({ name: 'an argument', value: word })),
    ...args.flags
      .filter((name) => name !== JUNIT_FLAG.name)
      .flatMap((name) =>
        args
          .text(name)
          .split('\n')
          .map((line) => ({ name: `--${name}`, value: line.trim() }))
      )
  ]
  const same = given.find(({ value }) => value !== '' && resolve(workspace, value) === path)
  if (same !== undefined) throw new UsageError(`--junit: ${path} is also given as ${same.name}; ${ADVICE}`)
  if (RESULT_FILE.test(path))
    throw new UsageError(
      `--junit: ${path} would look like a CSV of results; choose a name that ends with .xml`
    )
  if (!args.has('output')) return
  const [first = ''] = relative(resolve(workspace, args.text('output')), path).split(sep)
  if (OF_A_RUN.includes(first))
    throw new UsageError(
      `--junit: ${path} is where the run's own ${first} goes; ${ADVICE}, such as one beside it`
    )
}

/** Where to write: behind a link, what it leads to. Only a new file, an empty one or that of an earlier gate is replaced. */
async function findPlace(path: string): Promise<string> {
  const refuse = (what: string): never => {
    throw new UsageError(`--junit: ${path} ${what}; ${ADVICE}`)
  }
  const facts = await stat(path).catch(() => undefined)
  if (facts === undefined) {
    const isLink = await lstat(path).then(
      (found) => found.isSymbolicLink(),
      () => false
    )
    // Anything else that is wrong with the path shows when it is written.
    return isLink ? refuse('is a link that leads nowhere') : path
  }
  if (facts.isDirectory()) refuse('is a folder')
  if (!facts.isFile()) refuse('is not a regular file')
  if (isOutput(facts)) refuse('is where the output of this command goes')
  const start = await readStart(path, 1000).catch((thrown: unknown) =>
    refuse(`exists and cannot be read (${messageOf(thrown)})`)
  )
  if (start !== undefined && start.length > 0 && !OURS.test(Buffer.from(start).toString()))
    refuse('exists and is not a JUnit file of loadgate, so it is not replaced')
  return realpath(path)
}

/** Replaced, it would be written to and never be seen. */
function isOutput({ ino, dev }: Stats): boolean {
  return [1, 2].some((stream) => {
    try {
      const open = fstatSync(stream)
      return open.ino === ino && open.dev === dev
    } catch {
      return false
    }
  })
}

async function writeFileAt(path: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(path))
    await replaceFile(path, Buffer.from(text))
  } catch (thrown) {
    // A folder that could not be made says itself what to do.
    const advice = thrown instanceof FolderError ? '' : '; choose another file, or free up space'
    throw new Error(`--junit: ${path} could not be written: ${messageOf(thrown)}${advice}`, { cause: thrown })
  }
}
