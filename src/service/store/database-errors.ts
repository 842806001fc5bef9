import { FolderError } from '../../contract/files.js'
import { RequestError } from '../errors.js'
import { messageOf } from '../../contract/text.js'
import { databaseFile } from './data-folder.js'

interface Failure {
  /** What SQLite calls it (https://www.sqlite.org/rescode.html), and the system. */
  readonly codes: readonly (number | string)[]
  /** For a caller: nothing about paths on this machine. */
  readonly told?: string
  /** For an operator, with what to do. */
  readonly advice?: (file: string) => string
}

const FULL: Failure = { codes: [13, 'ENOSPC', 'EDQUOT'], advice: () => 'the disk is full; free up space' }
const BUSY = 5

const FAILURES: readonly Failure[] = [
  FULL,
  {
    codes: [BUSY, 6],
    told: 'another process is writing to its database for longer than usual',
    advice: () => 'another process is writing to it for longer than usual; try again'
  },
  {
    codes: [8, 'EROFS'],
    told: 'its data folder is read-only',
    advice: () => 'it is read-only; make it writable, or choose another folder'
  },
  {
    codes: [10, 'EIO'],
    told: 'its disk cannot be read or written',
    advice: () => 'the disk cannot be read or written, or is full; free up space, or choose another folder'
  },
  {
    codes: [11],
    advice: (file) => `${file} is damaged; restore it from a backup, or choose another folder`
  },
  {
    codes: [14, 'EACCES', 'EPERM', 'EISDIR'],
    told: 'it has no permission for a file there',
    advice: (file) => `${file} cannot be opened; check the permissions, or choose another folder`
  },
  {
    codes: [26],
    advice: (file) => `${file} is not a database; move it away, or choose another folder`
  },
  { codes: ['EMFILE', 'ENFILE'], told: 'it has too many files open' }
]

function sqliteCode(thrown: unknown): number | undefined {
  const { errcode } = thrown as { errcode?: unknown }
  // The bits above say more, and differ between versions.
  return typeof errcode === 'number' ? errcode & 0xff : undefined
}

/** Undefined if something else has failed. */
function failureOf(thrown: unknown): Failure | undefined {
  const code = sqliteCode(thrown) ?? (thrown as NodeJS.ErrnoException).code ?? ''
  return (
    FAILURES.find(({ codes }) => codes.includes(code)) ??
    (typeof code === 'number' ? { codes: [] } : undefined)
  )
}

export function isBusy(thrown: unknown): boolean {
  return sqliteCode(thrown) === BUSY
}

/** The error for somebody whose request could not be written. */
export function refuseWrite(thrown: unknown, what: string): RequestError {
  const { statusCode, message, retryAfterSec } = explainStorage(thrown) ?? unusable(messageOf(thrown))
  const options = { cause: thrown, ...(retryAfterSec !== undefined && { retryAfterSec }) }
  return new RequestError(statusCode, `${what}: ${message}`, options)
}

/** The error for a caller whose request failed because of the disk or the database; undefined if something else has failed. */
export function explainStorage(thrown: unknown): RequestError | undefined {
  if (typeof thrown !== 'object' || thrown === null || thrown instanceof RequestError) return undefined
  const failure = failureOf(thrown)
  if (failure === undefined) return explainStorage((thrown as { cause?: unknown }).cause)
  if (failure === FULL)
    return new RequestError(507, "the service's disk is full; free up space there and try again")
  return unusable(failure.told ?? 'its database has failed')
}

const RETRY_AFTER_SEC = 10

function unusable(why: string): RequestError {
  const words = `the service cannot use its data folder (${why}); try again later`
  return new RequestError(503, words, { retryAfterSec: RETRY_AFTER_SEC })
}

/** Why a data folder cannot be used, and what to do. Nothing was changed in it. */
export function explainDatabase(thrown: unknown, dataDir: string): unknown {
  // It says what to do already.
  const advice = thrown instanceof FolderError ? undefined : failureOf(thrown)?.advice
  if (advice === undefined) return thrown
  return new Error(
    `the data folder ${dataDir} cannot be used: ${advice(databaseFile(dataDir))} (${messageOf(thrown)})`,
    { cause: thrown }
  )
}
