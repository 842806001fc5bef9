import { readdir, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { BaselineDocument } from '../../contract/baseline.js'
import { BaselineDocumentError, encodeBaseline } from '../../analysis/baseline/document/baseline-document.js'
import { NotAFileError, replaceFile } from '../../contract/files.js'
import { readBaselineFile as readDocument } from '../../gate/baseline/baseline-file.js'
import { UsageError } from '../arguments.js'
import { refuse } from '../result-files.js'
import { plain, type Screen } from '../screen.js'

const DOCUMENT = /\.json\.gz$/i

/** The document in a file; undefined if there is no such file. Anybody may have written it. */
export async function readBaselineFile(
  path: string,
  { err }: Pick<Screen, 'err'>
): Promise<BaselineDocument | undefined> {
  const warn = (words: string): void => void err.write(`warning: ${plain(words)}\n`)
  try {
    return await readDocument(path, { nowMs: Date.now(), warn })
  } catch (thrown) {
    if (thrown instanceof NotAFileError) throw new UsageError(thrown.message, { cause: thrown })
    if (!(thrown instanceof BaselineDocumentError)) return refuse(path)(thrown)
    throw new UsageError(
      `${path} cannot be used. ${thrown.problem} Give a file that \`loadgate baseline record\` or a gate wrote.`,
      { cause: thrown }
    )
  }
}

/** The same for a file that must be there, or the only document in a folder. */
export async function findBaselineFile(
  place: string,
  screen: Screen
): Promise<{ path: string; document: BaselineDocument }> {
  const path = await locate(place)
  const document = await readBaselineFile(path, screen)
  if (document === undefined)
    throw new UsageError(`there is no file ${path}; \`loadgate baseline record\` creates a baseline document`)
  return { path, document }
}

async function locate(place: string): Promise<string> {
  const facts = await stat(place).catch(() => undefined)
  if (!facts?.isDirectory()) return place
  const found = (await readdir(place)).filter((name) => DOCUMENT.test(name)).sort()
  const [only, ...others] = found
  if (only === undefined) throw new UsageError(`there is no baseline document (.json.gz) in ${place}`)
  if (others.length > 0)
    throw new UsageError(
      `${place} has ${found.length} documents (${found.slice(0, 5).join(', ')}); name one of them`
    )
  return join(place, only)
}

export async function writeBaselineFile(path: string, document: BaselineDocument): Promise<void> {
  await replaceFile(path, encodeBaseline(document)).catch((thrown: unknown) => {
    const why = WRITE_PROBLEMS[(thrown as NodeJS.ErrnoException).code ?? '']
    if (why === undefined) throw thrown
    throw new UsageError(`${path} cannot be written: ${why.replace('it', `the folder ${dirname(path)}`)}`, {
      cause: thrown
    })
  })
}

const WRITE_PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'it does not exist',
  ENOTDIR: 'it does not exist',
  EACCES: 'it is not writable',
  EPERM: 'it is not writable',
  EROFS: 'it is not writable',
  ENOSPC: 'the disk is full'
}
