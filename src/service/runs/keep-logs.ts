import { type FileHandle, lstat, readdir, rename, writeFile } from 'node:fs/promises'
import { join, dirname } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { redactLog } from '../engines/redact-log.js'
import { openRegular, truncateRegular } from '../regular-file.js'
import type { RunData, Store } from '../store/store.js'
import { regionName } from '../../contract/regions/regions.js'
import { messageOf } from '../../contract/text.js'
import { redactSamples } from '../samples/row-redactor.js'
import type { RunRecord } from '../../contract/records.js'
import { readRunSecrets, findRowSecrets } from './row-secrets.js'

export interface LogRequest {
  readonly runId: string
  readonly folder: string
  /** Secrets to redact, besides those known here. */
  readonly secrets: readonly string[]
}

const MB = 1024 ** 2
const MAX_BYTES = 5 * MB
const MAX_BYTES_OF_ALL = 50 * MB
/** The start of a log has the settings and what failed to load; the rest of the limit goes to its end. */
const HEAD_SHARE = 0.2

/** Copies the logs of a run's nodes for people to read. */
export async function keepLogs(store: Store, request: LogRequest): Promise<string[]> {
  const run = store.run(request.runId)
  const kept: string[] = []
  if (run === undefined) return kept
  for await (const { name, text } of readLogs(store, run, request.secrets)) {
    makeFolder(request.folder)
    const copy = join(request.folder, name)
    await writeFile(copy, text)
    kept.push(copy)
  }
  return kept
}

/** The logs of a run's nodes: redacted, and cut in the middle if they are long. */
export async function* readLogs(store: RunData, run: RunRecord, known: readonly string[] = []) {
  const logsDir = store.folder.logsDir(run.id)
  const names = await listLogs(store, run)
  if (names.length === 0) return
  const secrets = [...known, ...(await readRunSecrets(run, store))]
  const maxBytes = Math.min(MAX_BYTES, Math.floor(MAX_BYTES_OF_ALL / names.length))
  for (const name of names)
    yield { name, text: redactLog(await readText(join(logsDir, name), maxBytes), secrets) }
}

export async function listLogs(store: RunData, { id }: RunRecord): Promise<string[]> {
  const folder = store.folder.logsDir(id)
  // A plan may have put something else there: a pipe would never end, and a link may lead anywhere.
  const isFolder = await lstat(folder)
    .then((found) => found.isDirectory())
    .catch(() => false)
  const entries = isFolder ? await readdir(folder, { withFileTypes: true }).catch(() => []) : []
  return entries
    .filter((entry) => entry.isFile())
    .map((entry) => entry.name)
    .sort()
}

/** One of these logs; undefined if there is none of that name. */
export async function readLog(store: RunData, run: RunRecord, name: string): Promise<string | undefined> {
  if (!(await listLogs(store, run)).includes(name)) return undefined
  const text = await readText(join(store.folder.logsDir(run.id), name), MAX_BYTES)
  return redactLog(text, await readRunSecrets(run, store))
}

/** When a run has ended, its logs take no more space than what is shown of them. In place: the disk may be full. */
export async function cutLogs(store: RunData, run: RunRecord): Promise<void> {
  for (const name of await listLogs(store, run)) {
    const handle = await openRegular(join(store.folder.logsDir(run.id), name), 'r+')
    try {
      if ((await handle.stat()).size <= MAX_BYTES) continue
      const ends = await readEnds(handle, MAX_BYTES)
      await handle.write(ends, 0, ends.length, 0)
      await handle.truncate(ends.length)
    } finally {
      await handle.close()
    }
  }
}

async function readText(file: string, maxBytes: number): Promise<string> {
  const handle = await openRegular(file)
  return readEnds(handle, maxBytes)
    .then((bytes) => bytes.toString())
    .finally(() => handle.close())
}

/** For the line in the middle. */
const NOTE_BYTES = 100

/** Cut at line ends, so that no half of a secret remains. */
async function readEnds(handle: FileHandle, maxBytes: number): Promise<Buffer> {
  const { size } = await handle.stat()
  const read = async (start: number, length: number): Promise<Buffer> => {
    const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, start)
    return buffer.subarray(0, bytesRead)
  }
  if (size <= maxBytes) return read(0, size)
  const headBytes = Math.floor(maxBytes * HEAD_SHARE)
  const tailBytes = maxBytes - headBytes - NOTE_BYTES
  const head = await read(0, headBytes)
  const tail = await read(size - tailBytes, tailBytes)
  const leftOut = Buffer.from(`… ${size - maxBytes} bytes or slightly more omitted …\n`)
  const tailStart = tail.indexOf('\n') + 1
  return Buffer.concat([
    head.subarray(0, head.lastIndexOf('\n') + 1),
    leftOut,
    tail.subarray(tailStart === 0 ? tail.length : tailStart)
  ])
}

/** Moves all runs' results, or their nodes' samples, into a folder on the same disk, which takes no space. Samples that were not merged are redacted first. */
export async function keepSamples(store: Store, folder: string): Promise<string[]> {
  const kept: string[] = []
  for (const run of store.listRuns({ offset: 0, limit: Infinity }).runs) {
    const secrets = await findRowSecrets(run, store)
    for (const grid of store.gridsOf(run)) {
      const name = join(folder, `${regionName(grid.spec.region)}-${grid.id}`)
      // Node files that still exist were not merged into a result.
      for (const [index, from] of store.folder.samplesFiles(run.id, grid).entries()) {
        const to = `${name}-node-${index + 1}.csv`
        if (await move(from, to, secrets)) kept.push(to)
      }
      if (await move(store.folder.resultFile(run.id, grid.id), `${name}.csv`, [])) kept.push(`${name}.csv`)
    }
  }
  return kept
}

/** An empty file has no samples, and what is not a file has none either. */
async function move(from: string, to: string, secrets: readonly string[]): Promise<boolean> {
  const found = await lstat(from).catch(() => undefined)
  if (!found?.isFile() || found.size === 0) return false
  try {
    // A truncated row may contain half a secret.
    if (secrets.length > 0) await truncateRegular(from, await redactSamples(from, secrets))
    makeFolder(dirname(to))
    await rename(from, to)
  } catch (thrown) {
    throw new Error(`could not move ${from} to ${to}, so it stays where it is: ${messageOf(thrown)}`, {
      cause: thrown
    })
  }
  return true
}
