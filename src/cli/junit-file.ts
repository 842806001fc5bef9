import { realpath, stat } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { FolderError, makeFolder, readStart, replaceFile } from '../contract/files.js'
import { messageOf } from '../contract/text.js'
import type { Ports } from '../gate/ports.js'
import { renderJUnit, type JUnitOutcome } from '../report/junit.js'
import { UsageError, type Arguments } from './arguments.js'

export const ABOUT_JUNIT =
  'Write the verdict as JUnit XML for other CI systems: one test case per threshold. Replaces only a file that loadgate wrote.'

/** Writes the outcome to the file that the flag names; without the flag, nothing. */
export type WriteJUnit = (outcome: JUnitOutcome) => Promise<void>

interface JUnitPorts {
  readonly workspace: string
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string
}

const NOT_ENDED = 'The gate was started and has not ended: it was killed, or it is still running.'
/** `ours` is how the file of an earlier gate starts. */
const JUNIT = {
  ...{ flag: '--junit', kind: 'JUnit file', ours: /^\s*<\?xml [^>]*>\s*<testsuites name="loadgate"/ }
}
const SUMMARY = { flag: '--summary', kind: 'summary', ours: /^## \S+ Load gate: / }

/** Has the file say how the work ended, also if it threw. An earlier gate's file, perhaps a green one, is replaced before the start. */
export async function withJUnit(
  args: Arguments,
  { workspace, redact }: JUnitPorts,
  work: (write: WriteJUnit) => Promise<number>
): Promise<number> {
  if (!args.has('junit')) return work(() => Promise.resolve())
  const path = await findPlace(resolve(workspace, args.text('junit')))
  const write: WriteJUnit = (outcome) => writeFileAt(path, renderJUnit(outcome, redact))
  await write({ verdict: 'error', reason: NOT_ENDED })
  return work(write).catch(async (thrown: unknown) => {
    // Perhaps this file is what could not be written.
    await write({ verdict: 'error', reason: messageOf(thrown) }).catch(() => undefined)
    throw thrown
  })
}

export const ABOUT_SUMMARY =
  'Write the summary of the action as Markdown, for a comment or a page of other CI systems. Replaces only a file that loadgate wrote.'

/** For the ports of the gate: the file that the flag names, which is emptied before the start; nothing without the flag. */
export async function openSummary(
  args: Arguments,
  { workspace, redact }: JUnitPorts
): Promise<Partial<Pick<Ports, 'writeSummary'>>> {
  if (!args.has('summary')) return {}
  const path = await findPlace(resolve(workspace, args.text('summary')), SUMMARY)
  await writeFileAt(path, '', SUMMARY)
  return { writeSummary: (markdown) => writeFileAt(path, redact(markdown), SUMMARY) }
}

/** After a mistake that keeps the arguments from being read: the file of an earlier gate must not stay green. */
export async function noteInJUnit(
  typed: readonly string[],
  thrown: unknown,
  { workspace, redact }: JUnitPorts
): Promise<void> {
  const value = findTyped(typed)
  if (value === undefined) return
  const text = renderJUnit({ verdict: 'error', reason: messageOf(thrown) }, redact)
  // The mistake is reported anyway, and has to be corrected first.
  await findPlace(resolve(workspace, value))
    .then((path) => writeFileAt(path, text))
    .catch(() => undefined)
}

/** The flag's value, where it is given once. */
function findTyped(typed: readonly string[]): string | undefined {
  const end = typed.indexOf('--')
  const args = end < 0 ? typed : typed.slice(0, end)
  const flag = '--junit'
  const [first = '', ...more] = args.flatMap((arg, at) => {
    if (arg.startsWith(`${flag}=`)) return [arg.slice(flag.length + 1).trim()]
    return arg === flag ? [(args[at + 1] ?? '').replace(/^-.*/s, '').trim()] : []
  })
  return first === '' || more.length > 0 ? undefined : first
}

/** Where to write: behind a link, what it leads to. Only a new file, an empty one or that of an earlier gate is replaced. */
async function findPlace(path: string, { flag, ours, kind } = JUNIT): Promise<string> {
  const refuse = (what: string): never => {
    throw new UsageError(`${flag}: ${path} ${what}; give ${flag} another file`)
  }
  const facts = await stat(path).catch(() => undefined)
  // Anything else that is wrong with the path shows when it is written.
  if (facts === undefined) return path
  if (facts.isDirectory()) refuse('is a folder')
  if (!facts.isFile()) refuse('is not a regular file')
  const start = await readStart(path, 1000).catch((thrown: unknown) =>
    refuse(`exists and cannot be read (${messageOf(thrown)})`)
  )
  if (start !== undefined && start.length > 0 && !ours.test(Buffer.from(start).toString()))
    refuse(`exists and is not a ${kind} of loadgate, so it is not replaced`)
  return realpath(path)
}

async function writeFileAt(path: string, text: string, { flag } = JUNIT): Promise<void> {
  try {
    makeFolder(dirname(path))
    await replaceFile(path, Buffer.from(text))
  } catch (thrown) {
    // A folder that could not be made says itself what to do.
    const advice = thrown instanceof FolderError ? '' : '; choose another file, or free up space'
    throw new Error(`${flag}: ${path} could not be written: ${messageOf(thrown)}${advice}`, { cause: thrown })
  }
}
