import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { type GridRecord, hasEnded, ownerOfFiles, type RunRecord } from '../../contract/records.js'
import { JMETER_HEADER } from '../../contract/sample-row.js'
import { RequestError } from '../errors.js'
import { openRegular } from '../regular-file.js'
import { lookAt } from '../judging/read-results.js'
import { writeVerdict } from '../judging/verdict-file.js'
import type { Verdicts } from '../judging/verdicts.js'
import type { RunPages } from '../pages/run-pages.js'
import { readLog } from '../runs/keep-logs.js'
import type { LiveSamples } from '../runs/live-samples.js'
import { listNames, SECRET_FILES } from '../runs/row-secrets.js'
import type { Runs } from '../runs/runs.js'
import { isJob } from '../accounts/users.js'
import { cannotFind, findRun, type ServiceFacts } from '../service-facts.js'
import { packRun } from './archive.js'
import { addressOf } from './documents.js'

export interface FileParts {
  readonly facts: ServiceFacts
  readonly runs: Runs
  readonly live: LiveSamples
  readonly verdicts: Verdicts
  readonly pages: RunPages | undefined
}

const CSV = 'text/csv; charset=utf-8'

/** The results of a grid, or of all grids; while the run goes on, what the nodes of a grid have written so far. */
export async function sendResults(
  request: FastifyRequest,
  reply: FastifyReply,
  { facts, runs, live }: Pick<FileParts, 'facts' | 'runs' | 'live'>
): Promise<FastifyReply> {
  const running = findRun(request, facts)
  const run = running.status === 'running' ? running : findEndedRun(request, facts)
  const { folder } = facts.store
  const grids = selectGrids(request, run, facts)
  const [only, ...others] = grids
  const name = only && others.length === 0 ? `${only.spec.region}-${only.id}` : run.id
  if (!hasEnded(run)) {
    const shown = only && others.length === 0 ? await live.find(run, only) : undefined
    if (shown === undefined)
      throw new RequestError(404, `run ${run.id} is ${run.status}: there are no samples yet`)
    // Not the same as the results: with several nodes the rows are in another order, and so they are if another service continues.
    const etag = `"${run.id}-${name}-live-${facts.startedMs}"`
    const content = { type: CSV, fileName: `${name}-live.csv`, etag }
    return sendFile(request, reply, { ...content, ...shown })
  }
  await runs.settle(run)
  const files = grids.map(({ id }) => folder.resultFile(run.id, id))
  const sizes = await Promise.all(files.map(measureResult))
  const content = { type: CSV, fileName: `${name}.csv`, etag: `"${run.id}-${name}"` }
  const bytes = sizes.reduce((sum, { size }) => sum + size, 0)
  // Without its header nobody could tell a CSV without samples from one that is not ready.
  if (bytes === 0) return describeFile(reply, content).send(JMETER_HEADER)
  const [file = ''] = files
  if (others.length > 0) return describeFile(reply, content).send(Readable.from(joinFiles(files)))
  return sendFile(request, reply, { ...content, file, bytes })
}

/** All files have the same header; it is sent once. */
async function* joinFiles(files: readonly string[]): AsyncGenerator<Buffer> {
  let hasHeader = false
  for (const file of files) {
    let isStart = true
    for await (const chunk of (await openRegular(file)).createReadStream() as AsyncIterable<Buffer>) {
      yield chunk.subarray(isStart && hasHeader ? chunk.indexOf('\n') + 1 : 0)
      isStart = false
      hasHeader = true
    }
  }
}

export async function sendUploaded(request: FastifyRequest, reply: FastifyReply, facts: ServiceFacts) {
  const run = findRun(request, facts)
  const { file: uuid } = request.params as { file: string }
  const found = run.files.find((candidate) => candidate.uuid === uuid)
  if (!found) throw cannotFind()
  const file = facts.store.folder.uploadedFile(run.id, found.name)
  const { size: bytes } = await lookAt(file)
  const fileName = plainName(found.name)
  // Admins too: they need not know what a plan was given. Nor jobs with an ID token: all those of a repository are one user, and an
  // environment's secrets are not for its pull requests.
  const isUploader = ownerOfFiles(run) === request.user.id && !isJob(request.user)
  if (SECRET_FILES.includes(found.name) && !isUploader)
    return describeFile(reply, { type: 'text/plain; charset=utf-8', fileName }).send(await listNames(file))
  const content = { type: 'application/octet-stream', fileName, etag: `"${uuid}"` }
  return sendFile(request, reply, { ...content, file, bytes })
}

/** The one that is named, or all of them. Samples so far must not be taken for the results, so they are only for those who name one. */
function selectGrids(request: FastifyRequest, run: RunRecord, facts: ServiceFacts): GridRecord[] {
  const { grid_id: gridId } = request.query as { grid_id?: unknown }
  const grids = facts.store.gridsOf(run)
  if (gridId === undefined && !hasEnded(run))
    throw new RequestError(
      404,
      `run ${run.id} is ${run.status}: name one grid (grid_id) for the samples so far`
    )
  const found = grids.filter(({ id }) => gridId === undefined || id === gridId)
  if (gridId !== undefined && found.length === 0)
    throw new RequestError(404, `run ${run.id} has no grid ${JSON.stringify(gridId)}`)
  return found
}

/** Before the reply begins: after that, nothing can be said any more. */
async function measureResult(file: string): Promise<{ size: number }> {
  try {
    return await lookAt(file)
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT')
      throw new RequestError(404, 'there are no results for this run and grid')
    throw new RequestError(
      503,
      "the results cannot be read on the service's disk; its operator finds the file in the log",
      { cause: thrown }
    )
  }
}

export async function sendArchive(
  request: FastifyRequest,
  reply: FastifyReply,
  { facts, runs, pages }: Pick<FileParts, 'facts' | 'runs' | 'pages'>
): Promise<FastifyReply> {
  const run = findEndedRun(request, facts)
  await runs.settle(run)
  return describeFile(reply, { type: 'application/gzip', fileName: `${run.id}.tar.gz` }).send(
    request.method === 'HEAD' ? Readable.from([]) : packRun(run, { store: facts.store, pages })
  )
}

export async function sendVerdict(
  request: FastifyRequest,
  reply: FastifyReply,
  { facts, verdicts }: Pick<FileParts, 'facts' | 'verdicts'>
): Promise<FastifyReply> {
  const run = findEndedRun(request, facts)
  const text = await writeVerdict(run, { facts, verdicts, url: addressOf(run, facts) })
  const content = { type: 'application/json; charset=utf-8', fileName: `verdict-${run.id}.json` }
  return describeFile(reply, content).send(text)
}

/** The log of a node's tool, redacted, and cut in the middle if it is long. */
export async function sendLog(request: FastifyRequest, reply: FastifyReply, facts: ServiceFacts) {
  const run = findRun(request, facts)
  const { log: name } = request.params as { log: string }
  const text = await readLog(facts.store, run, name)
  if (text === undefined) throw cannotFind()
  return describeFile(reply, { type: 'text/plain; charset=utf-8', fileName: plainName(name) }).send(text)
}

/** Safe in a header. */
function plainName(name: string): string {
  return name.replace(/[^\w.-]/g, '_')
}

export function findEndedRun(request: FastifyRequest, facts: ServiceFacts): RunRecord {
  const run = findRun(request, facts)
  if (!hasEnded(run))
    throw new RequestError(404, `run ${run.id} is ${run.status}: there is nothing to show until it ends`)
  return run
}

interface Content {
  readonly type: string
  readonly fileName: string
  readonly etag?: string
}

/** Streams the first bytes of a file, or the requested range of them, so that a download can resume. */
async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, bytes: total, ...content }: Content & { file: string; bytes: number }
): Promise<FastifyReply> {
  const range = readRange(request, total, content.etag)
  const { start, end } = typeof range === 'object' ? range : { start: 0, end: total }
  // Nothing is read from disk for a HEAD.
  const isEmpty = request.method === 'HEAD' || range === 'unsatisfiable' || start === end
  // Before any header is set: it may fail.
  const handle = isEmpty ? undefined : await openRegular(file)
  void describeFile(reply, content).header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable')
    return reply
      .code(416)
      .headers({ 'content-range': `bytes */${total}`, 'content-type': 'application/json' })
      .send({ error: `the range is outside the file's ${total} bytes` })
  if (range) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${total}`)
  void reply.header('content-length', end - start)
  return reply.send(
    handle?.createReadStream({ start, end: end - 1, highWaterMark: 256 * 1024 }) ?? Readable.from([])
  )
}

function describeFile(reply: FastifyReply, { type, fileName, etag }: Content): FastifyReply {
  return reply.headers({
    'content-type': type,
    'content-disposition': `attachment; filename="${fileName}"`,
    ...(etag !== undefined && { etag })
  })
}

/** Supports a single range; anything else gets the whole file, as the standard allows. */
function readRange(request: FastifyRequest, total: number, etag: string | undefined) {
  const { range, 'if-range': ifRange } = request.headers
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (!match || range === 'bytes=-' || (ifRange !== undefined && ifRange !== etag)) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, total - Number(last)) : Number(first)
  const end = first === '' || last === '' ? total : Math.min(total, Number(last) + 1)
  if (start >= total) return 'unsatisfiable'
  return start < end ? { start, end } : undefined
}
