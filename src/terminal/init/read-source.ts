import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { readHar } from '../../plans/make/har/har-requests.js'
import { readOpenApi } from '../../plans/make/openapi/openapi-requests.js'
import { SourceError } from '../../plans/make/request.js'
import type { RequestSet } from '../../plans/make/request.js'
import { readUrls } from '../../plans/make/url-requests.js'
import { UsageError } from '../arguments.js'
import type { Source } from './choices.js'

const MEBIBYTE = 1024 * 1024
/** What is read is in memory several times; recordings contain every response unless saved without content. */
const MOST_BYTES = { openapi: 10 * MEBIBYTE, har: 100 * MEBIBYTE }
const SMALLER = {
  openapi: 'give a file with the part of the API that the load test is about',
  har: 'record fewer pages, or save it without the responses’ content'
}

export interface SourceOptions {
  readonly workspace: string
  readonly allMethods: boolean
  readonly thinkTimes: boolean
}

/** The requests of the plan; a refusal names the file or the address. */
export async function readSource(source: Source, options: SourceOptions): Promise<RequestSet> {
  if (source.kind === 'url') return explained('', () => readUrls(source.addresses))
  const text = await readText(source, options.workspace)
  const set = explained(`${source.path}: `, () =>
    source.kind === 'har' ? readHar(text, options) : readOpenApi(text, options)
  )
  if (set.requests.some(({ isEnabled }) => isEnabled)) return set
  const notes = set.requests.flatMap(({ note }) => note ?? [])
  throw new UsageError(
    notes.some((note) => note.includes('--all-methods'))
      ? `${source.path}: none of its ${set.requests.length} requests is a GET or HEAD, so the plan would send nothing; --all-methods enables the others`
      : `${source.path}: none of its ${set.requests.length} requests can be sent as it is, so the plan would send nothing; for the first: ${notes[0] ?? ''}`
  )
}

async function readText(source: Exclude<Source, { kind: 'url' }>, workspace: string): Promise<string> {
  const { kind, path } = source
  const whole = resolve(workspace, path)
  try {
    const facts = await stat(whole)
    if (!facts.isFile()) throw new UsageError(`${path} is not a file`)
    if (facts.size > MOST_BYTES[kind])
      throw new UsageError(
        `${path} has ${Math.ceil(facts.size / MEBIBYTE)} MiB, and at most ${MOST_BYTES[kind] / MEBIBYTE} are read; ${SMALLER[kind]}`
      )
    return await readFile(whole, 'utf8')
  } catch (thrown) {
    if (thrown instanceof UsageError) throw thrown
    const { code, message } = thrown as NodeJS.ErrnoException
    const why = code === 'ENOENT' ? 'there is no such file' : message
    throw new UsageError(`${path} cannot be read: ${why}; check the path`, { cause: thrown })
  }
}

function explained(prefix: string, read: () => RequestSet): RequestSet {
  try {
    return read()
  } catch (thrown) {
    if (thrown instanceof SourceError) throw new UsageError(prefix + thrown.message, { cause: thrown })
    if (thrown instanceof RangeError)
      throw new UsageError(`${prefix}its values are nested too deeply to be read`, { cause: thrown })
    throw thrown
  }
}
