import { dirname, resolve } from 'node:path'
import { makeFolder } from '../files/make-folder.js'
import { replaceFile } from '../files/replace-file.js'
import { messageOf } from '../gate/errors.js'
import { renderJUnit } from '../report/junit.js'
import type { JUnitOutcome } from '../report/junit.js'
import type { Arguments, Flag } from './arguments.js'

export const JUNIT_FLAG: Flag = {
  name: 'junit',
  value: 'file',
  about: 'Write the verdict as JUnit XML for other CI systems: one test case per threshold.'
}

/** Writes the verdict where the flag says; without the flag, nowhere. */
export type WriteJUnit = (outcome: JUnitOutcome) => Promise<void>

export interface JUnitPorts {
  readonly workspace: string
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string
}

const NOT_ENDED = 'The gate was started and has not ended: it was killed, or it is still running.'

/**
 * Does the work and has the file say how it ended, also if it threw. CI systems keep files from build to build: the file of an earlier
 * gate, perhaps a green one, is replaced before anything starts, which also shows whether it can be written.
 */
export async function withJUnit(
  args: Arguments,
  { workspace, redact }: JUnitPorts,
  work: (write: WriteJUnit) => Promise<number>
): Promise<number> {
  if (!args.has(JUNIT_FLAG.name)) return work(() => Promise.resolve())
  const path = resolve(workspace, args.text(JUNIT_FLAG.name))
  const write: WriteJUnit = (outcome) => writeFileAt(path, renderJUnit(outcome, { redact }))
  await write({ verdict: 'error', reason: NOT_ENDED })
  return work(write).catch(async (thrown: unknown) => {
    // A file that could not be written is what was thrown, perhaps.
    await write({ verdict: 'error', reason: messageOf(thrown) }).catch(() => undefined)
    throw thrown
  })
}

async function writeFileAt(path: string, text: string): Promise<void> {
  try {
    makeFolder(dirname(path))
    await replaceFile(path, Buffer.from(text))
  } catch (thrown) {
    throw new Error(
      `--junit: ${path} could not be written: ${messageOf(thrown)}; choose another file, or free up space`,
      { cause: thrown }
    )
  }
}
