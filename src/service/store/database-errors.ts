import { FolderError } from '../../contract/files.js'
import { RequestError } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import { databaseFile } from './data-folder.js'

// What SQLite calls what happened (https://www.sqlite.org/rescode.html).
const BUSY = 5
const LOCKED = 6
const READ_ONLY = 8
const INPUT_OUTPUT = 10
const CORRUPT = 11
const FULL = 13
const CANNOT_OPEN = 14
const NOT_A_DATABASE = 26
/** Not SQLite's: the system's limit of open files. */
const TOO_MANY = 1000

function codeOf(thrown: unknown): number | undefined {
  const { errcode } = thrown as { errcode?: unknown }
  // The bits above say more, and differ between versions.
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

export function isBusy(thrown: unknown): boolean {
  return codeOf(thrown) === BUSY
}

/** The error for somebody whose request could not be written. */
export function refuseWrite(thrown: unknown, what: string): RequestError {
  const { statusCode, message } = explainStorage(thrown) ?? unusable(messageOf(thrown))
  return new RequestError(statusCode, `${what}: ${message}`, { cause: thrown })
}

/**
 * What a caller is told whose request failed because of the disk or the database: nothing about paths on this machine. Undefined if
 * something else has failed.
 */
export function explainStorage(thrown: unknown): RequestError | undefined {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof RequestError) return undefined
  const code = codeOf(thrown) ?? systemCode(thrown)
  if (code === undefined) return explainStorage((thrown as { cause?: unknown }).cause)
  if (code === FULL)
    return new RequestError(507, "the service's disk is full; free up space there and try again")
  const reasons = new Map([
    [BUSY, 'another process is writing to its database for longer than usual'],
    [LOCKED, 'another process is writing to its database for longer than usual'],
    [READ_ONLY, 'its data folder is read-only'],
    [CANNOT_OPEN, 'it has no right to a file there'],
    [INPUT_OUTPUT, 'its disk cannot be read or written'],
    [TOO_MANY, 'it has too many files open']
  ])
  return unusable(reasons.get(code) ?? 'its database has failed')
}

function unusable(why: string): RequestError {
  return new RequestError(503, `the service cannot use its data folder (${why}); try again later`)
}

/** Why a data folder cannot be used, and what to do. Nothing was changed in it. */
export function explainDatabase(thrown: unknown, dataDir: string): unknown {
  // One that says what to do already.
  if (thrown instanceof FolderError) return thrown
  const words = sentenceOf(codeOf(thrown) ?? systemCode(thrown), databaseFile(dataDir))
  if (words === undefined) return thrown
  return new Error(`the data folder ${dataDir} cannot be used: ${words} (${messageOf(thrown)})`, {
    cause: thrown
  })
}

function systemCode(thrown: unknown): number | undefined {
  const { code } = thrown as NodeJS.ErrnoException
  const same: Readonly<Record<string, number>> = {
    ...{ ENOSPC: FULL, EDQUOT: FULL, EIO: INPUT_OUTPUT, EMFILE: TOO_MANY, ENFILE: TOO_MANY },
    EROFS: READ_ONLY,
    EACCES: CANNOT_OPEN,
    EPERM: CANNOT_OPEN,
    EISDIR: CANNOT_OPEN
  }
  return code === undefined ? undefined : same[code]
}

function sentenceOf(code: number | undefined, file: string): string | undefined {
  const sentences = new Map([
    [NOT_A_DATABASE, `${file} is not a database; move it away, or choose another folder`],
    [CORRUPT, `${file} is damaged; restore it from a backup, or choose another folder`],
    [INPUT_OUTPUT, 'the disk cannot be read or written, or is full; free up space, or choose another folder'],
    [FULL, 'the disk is full; free up space'],
    [READ_ONLY, 'it is read-only; make it writable, or choose another folder'],
    [CANNOT_OPEN, `${file} cannot be opened; check the permissions, or choose another folder`],
    [BUSY, 'another process is writing to it for longer than usual; try again'],
    [LOCKED, 'another process is writing to it for longer than usual; try again']
  ])
  return code === undefined ? undefined : sentences.get(code)
}
