import { createReadStream } from 'node:fs'
import { rm, stat } from 'node:fs/promises'
import { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { route, type Route, type ServiceFacts, cannotFind, findRun, readRunFilter } from '../service-facts.js'
import type { Engines } from '../engines/engine.js'
import { findIncludingPlan } from '../engines/plan-file.js'
import { refuseAll, RequestError, readPageNumber } from '../errors.js'
import type { Grids } from '../runs/grids.js'
import { lookAt } from '../judging/read-results.js'
import { isOwn } from '../runs/make-ready.js'
import { LiveSamples } from '../runs/live-samples.js'
import { isPageRequest } from '../pages/page-access.js'
import { sendPage, PAGE_HEADERS } from '../pages/send-page.js'
import { requireOwnGrids } from '../accounts/permissions.js'
import { explainStorage, refuseWrite } from '../store/database-errors.js'
import { type GridRecord, hasEnded, type RunRecord, type UserReference } from '../../contract/records.js'
import type { PageParts } from '../pages/page-routes.js'
import type { RunPages } from '../pages/run-pages.js'
import type { Runs } from '../runs/runs.js'
import { JMETER_HEADER } from '../../contract/sample-row.js'
import type { Reply } from '../../contract/api/replies.js'
import type { Judged } from '../judging/judge-run.js'
import { readThresholds } from '../judging/read-thresholds.js'
import {
  accountDocument,
  briefRunDocument,
  gridDocument,
  gridListDocument,
  partListDocument,
  projectListDocument,
  runDocument,
  runListDocument,
  shownTo,
  userDocument
} from './documents.js'
import { readPackageVersion } from '../version.js'
import { packRun } from './archive.js'
import { describeApi } from './openapi.js'
import { readBody } from './request-body.js'
import { readGridSpec, readRunRequest } from './validation.js'

export interface ServicePorts extends Omit<PageParts, 'pages'> {
  readonly grids: Grids
  readonly engines: Engines
  readonly maxUploadBytes: number
  readonly pages: RunPages | undefined
}

/** Every operation of the API, and the pages; each GET without side effects also answers HEAD. */
export function addRoutes(app: FastifyInstance, service: ServicePorts, others: readonly Route[]): void {
  for (const [method, url, config, handler] of [...apiRoutes(service), ...others])
    app.route({
      ...{ method, url, config, handler },
      exposeHeadRoute: config.effect === undefined && !url.endsWith('/events')
    })
}

export function apiRoutes(service: ServicePorts): Route[] {
  const { facts, grids, runs, pages } = service
  const path = `/${facts.words.runs}`
  const html = pages ? ({ page: 'html' } as const) : {}
  const live = new LiveSamples(facts.store)
  const endGrid: Route[3] = async (request) => {
    const grid = findGrid(request, facts)
    await grids.terminate(grid)
    facts.store.flush()
    return gridDocument(grid, facts, 'resources')
  }
  const stopRun: Route[3] = async (request, reply) => {
    const run = findRun(request, facts)
    await runs.stop(run)
    facts.store.flush()
    return isPageRequest(request)
      ? reply.code(204).headers(PAGE_HEADERS).send()
      : briefRunDocument(run, facts)
  }
  const repeatRun: Route[3] = async (request, reply) => {
    noteCaller(reply, runs)
    const run = findRun(request, facts)
    const lasting = facts.store.gridsOf(run).filter((grid) => !isOwn(run, grid))
    requireOwnGrids(request.user, lasting, facts)
    const repeated = await runs.repeat(run, ownerOf(request)).catch((thrown: unknown) => {
      throw refuseCreation(thrown)
    })
    request.audited.created = repeated.id
    return briefRunDocument(repeated, facts)
  }
  return [
    route('GET', '/account', {}, ({ user }) => accountDocument(user, facts)),
    route('GET', '/users/:id', {}, (request) => {
      const { id } = request.params as { id: string }
      const found = shownTo(request.user, facts).find((user) => String(user.id) === id)
      if (!found) throw cannotFind()
      return userDocument(found)
    }),
    route('GET', '/openapi.json', {}, () =>
      describeApi(facts.words, { url: facts.front.baseUrl(), version: readPackageVersion() })
    ),
    route('POST', '/grids', { effect: 'grid.create' }, async (request, reply) => {
      noteCaller(reply, runs)
      const { params } = await readBody(request)
      const grid = grids.create(readGridSpec(params, facts.places), ownerOf(request))
      request.audited.created = grid.id
      return reply.code(201).send(gridDocument(grid, facts))
    }),
    route('GET', '/grids', {}, (request) => gridListDocument(readPageNumber(request), facts)),
    route('GET', '/projects', {}, (request) => projectListDocument(readPageNumber(request), facts)),
    route('GET', '/grids/:id', {}, (request) => gridDocument(findGrid(request, facts), facts, 'resources')),
    // The API document's definition has the singular, its example the plural.
    route('DELETE', '/grids/:id', { effect: 'grid.terminate' }, endGrid),
    route('DELETE', '/grid/:id', { effect: 'grid.terminate' }, endGrid),
    route('POST', path, { effect: 'run.create' }, async (request, reply) => {
      noteCaller(reply, runs)
      return reply.code(201).send(await createRun(request, service))
    }),
    route('GET', path, {}, (request) =>
      runListDocument(readPageNumber(request), readRunFilter(request), facts)
    ),
    route('GET', `${path}/:id`, html, async (request, reply) => {
      const run = findRun(request, facts)
      return pages && isPageRequest(request)
        ? sendPage(reply, await pages.runPage(run, request.user))
        : runDocument(run, facts)
    }),
    route('GET', `${path}/:id/stop`, { effect: 'run.stop' }, stopRun),
    route('GET', `${path}/:id/repeat`, { effect: 'run.repeat' }, repeatRun),
    // The API document has GET only; scripts also POST what changes something, and the button on a run's page does.
    route('POST', `${path}/:id/stop`, { ...(pages && { page: 'button' }), effect: 'run.stop' }, stopRun),
    route('POST', `${path}/:id/repeat`, { effect: 'run.repeat' }, repeatRun),
    route('GET', `${path}/:id/report`, {}, async (request) => {
      const run = findEndedRun(request, facts)
      await runs.settle(run)
      if (run.report === null) throw new RequestError(404, `run ${run.id} has no report`)
      return { _links: { self: { href: `/api${path}/${run.id}/report` } }, ...run.report }
    }),
    route('GET', `${path}/:id/result.csv`, {}, (request, reply) =>
      sendResults(request, reply, { facts, runs, live })
    ),
    ...(['results', 'archives'] as const).map((part) =>
      route('GET', `${path}/:id/${part}`, {}, (request) =>
        partListDocument(readPageNumber(request), { run: findRun(request, facts), part }, facts)
      )
    ),
    route('GET', `${path}/:id/archive.tar.gz`, {}, async (request, reply) => {
      const run = findEndedRun(request, facts)
      await runs.settle(run)
      const disposition = `attachment; filename="${run.id}.tar.gz"`
      reply.headers({ 'content-type': 'application/gzip', 'content-disposition': disposition })
      return reply.send(
        request.method === 'HEAD' ? Readable.from([]) : packRun(run, { store: facts.store, pages })
      )
    }),
    route('GET', `${path}/:id/files/:file`, {}, (request, reply) => sendUploaded(request, reply, facts)),
    ...thresholdRoutes(`${path}/:id/thresholds`, html, service),
    // Seen in scripts for such services.
    refuse(
      'POST',
      '/oauth/token',
      'there is no OAuth here: send the API token itself as HTTP Basic user name'
    ),
    refuse(
      'PATCH',
      `${path}/:id/set-public`,
      'a run cannot be made public here: everyone with a token of this service can see it, and nobody else'
    )
  ]
}

/** What this service does not have, with what to do instead; also without a token, which its callers may not have. */
function refuse(method: 'POST' | 'PATCH', url: string, words: string): Route {
  return route(method, url, { open: 'probe' }, () => {
    throw new RequestError(404, words)
  })
}

/** Somebody wants something new; a drain waits until they are told. */
function noteCaller({ raw }: FastifyReply, runs: Runs): void {
  runs.noteCaller(new Promise((resolve) => (raw.closed ? resolve() : raw.once('close', resolve))))
}

function ownerOf({ user: { id, name } }: FastifyRequest): UserReference {
  return { id, name }
}

async function createRun(request: FastifyRequest, { facts, runs, engines, maxUploadBytes }: ServicePorts) {
  const { words, store } = facts
  let uploadDir: string | undefined
  try {
    uploadDir = store.folder.createUploadDir()
    const { params, files } = await readBody(request, {
      ...{ fileField: words.files, uploadDir, maxBytes: maxUploadBytes }
    })
    const sent = files.map(({ name }) => name)
    const { fileNames: byName, ...wish } = readRunRequest(params, {
      ...{ words, engines, fileNames: sent, places: facts.places }
    })
    requireOwnGrids(request.user, wish.grids, facts)
    const plan = await findIncludingPlan(wish.request.tool, byName, uploadDir)
    if (plan !== undefined && 'problem' in plan) throw refuseAll([plan.problem])
    const fileNames =
      plan === undefined ? byName : [plan.name, ...byName.filter((name) => name !== plan.name)]
    // From here on the first file is the plan.
    const planFirst = files.toSorted(
      (one, other) => fileNames.indexOf(one.name) - fileNames.indexOf(other.name)
    )
    const run = await runs.create({ ...wish, files: planFirst, uploadDir, user: ownerOf(request) })
    request.audited.created = run.id
    return runDocument(run, facts, { isCreated: true })
  } catch (thrown) {
    if (uploadDir !== undefined) await rm(uploadDir, { recursive: true, force: true })
    throw refuseCreation(thrown)
  }
}

/** Whoever sent the files must know that no run was made of them. */
function refuseCreation(thrown: unknown): unknown {
  return explainStorage(thrown) === undefined ? thrown : refuseWrite(thrown, 'the run was not created')
}

const CSV = 'text/csv; charset=utf-8'

/** The results of a grid, or of all grids; while the run goes on, what the nodes of a grid have written so far. */
async function sendResults(
  request: FastifyRequest,
  reply: FastifyReply,
  { facts, runs, live }: { facts: ServiceFacts; runs: Runs; live: LiveSamples }
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
    // Another version than the results: with several nodes, the order of the rows differs, also if another service continues.
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
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) {
      yield chunk.subarray(isStart && hasHeader ? chunk.indexOf('\n') + 1 : 0)
      isStart = false
      hasHeader = true
    }
  }
}

async function sendUploaded(request: FastifyRequest, reply: FastifyReply, facts: ServiceFacts) {
  const run = findRun(request, facts)
  const { file: uuid } = request.params as { file: string }
  const found = run.files.find((candidate) => candidate.uuid === uuid)
  if (!found) throw cannotFind()
  const file = facts.store.folder.uploadedFile(run.id, found.name)
  const { size: bytes } = await stat(file)
  const fileName = found.name.replace(/[^\w.-]/g, '_')
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

function findGrid(request: FastifyRequest, facts: ServiceFacts): GridRecord {
  const grid = facts.store.grid((request.params as { id: string }).id)
  if (!grid) throw cannotFind()
  return grid
}

function findEndedRun(request: FastifyRequest, facts: ServiceFacts): RunRecord {
  const run = findRun(request, facts)
  if (!hasEnded(run))
    throw new RequestError(404, `run ${run.id} is ${run.status}: there is nothing to show until it ends`)
  return run
}

/** Additions of this service to the API: what must hold in a run, and once it has ended, whether it does. */
function thresholdRoutes(path: string, html: Route[2], { facts, verdicts }: ServicePorts): Route[] {
  return [
    route('GET', path, html, async (request, reply) => {
      const run = findRun(request, facts)
      // Where a browser is after its thresholds were refused.
      if (isPageRequest(request))
        return reply.headers(PAGE_HEADERS).redirect(`/${facts.words.runs}/${run.id}`, 303)
      const { thresholds } = run
      const judged = thresholds && hasEnded(run) ? await verdicts.judge(run, thresholds) : undefined
      return thresholdDocument(run, judged, facts)
    }),
    route('PUT', path, { effect: 'run.thresholds' }, async (request, reply) => {
      const run = findRun(request, facts)
      const read = readThresholds(request.body)
      if ('problems' in read)
        return reply.code(422).send({ error: read.problems.join('\n'), problems: read.problems })
      verdicts.replace(run, read.thresholds)
      facts.store.flush()
      return thresholdDocument(run, undefined, facts)
    })
  ]
}

function thresholdDocument(
  run: RunRecord,
  judged: Judged | undefined,
  { words }: ServiceFacts
): Reply<'Thresholds'> {
  const { thresholds } = run
  return {
    _links: { self: { href: `/api/${words.runs}/${run.id}/thresholds` } },
    thresholds: thresholds?.text ?? '',
    warm_up: thresholds?.warmUpSec ?? 0,
    on_stall: thresholds?.onStall ?? 'fail',
    ...(judged && {
      verdict: judged.verdict,
      reason: judged.reason,
      lines: [
        ...judged.judgements.map(({ threshold, verdict, actual, reason, overTime }) => ({
          ...{ line: threshold.line, threshold: threshold.text, level: threshold.level, verdict },
          ...{ actual: actual ?? null, reason },
          ...(overTime && { over_time: overTime.value, by_samples: overTime.bySamples })
        })),
        ...judged.left.map(({ line, text, level }) => ({
          ...{ line, threshold: text, level, verdict: 'left to the gate', actual: null },
          reason: 'it compares with a baseline, which only the gate knows'
        }))
      ].sort((one, other) => one.line - other.line)
    })
  }
}

interface Content {
  readonly type: string
  readonly fileName: string
  readonly etag: string
}

/** Streams the first bytes of a file, or the requested range of them, so that a download can resume. */
function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  { file, bytes: total, ...content }: Content & { file: string; bytes: number }
): FastifyReply {
  const range = readRange(request, { total, etag: content.etag })
  void describeFile(reply, content).header('accept-ranges', 'bytes')
  if (range === 'unsatisfiable')
    return reply
      .code(416)
      .headers({ 'content-range': `bytes */${total}`, 'content-type': 'application/json' })
      .send({ error: `the range is outside the file's ${total} bytes` })
  const { start, end } = range ?? { start: 0, end: total }
  if (range) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${total}`)
  void reply.header('content-length', end - start)
  // Nothing is read from disk for a HEAD.
  const isEmpty = request.method === 'HEAD' || start === end
  return reply.send(
    isEmpty ? Readable.from([]) : createReadStream(file, { start, end: end - 1, highWaterMark: 256 * 1024 })
  )
}

function describeFile(reply: FastifyReply, { type, fileName, etag }: Content): FastifyReply {
  return reply.headers({
    'content-type': type,
    'content-disposition': `attachment; filename="${fileName}"`,
    etag
  })
}

/** Supports a single range; anything else gets the whole file, as the standard allows. */
function readRange(request: FastifyRequest, whole: { total: number; etag: string }) {
  const { range, 'if-range': ifRange } = request.headers
  const match = /^bytes=(\d*)-(\d*)$/.exec(range ?? '')
  if (!match || range === 'bytes=-' || (ifRange !== undefined && ifRange !== whole.etag)) return undefined
  const [, first = '', last = ''] = match
  const start = first === '' ? Math.max(0, whole.total - Number(last)) : Number(first)
  const end = first === '' || last === '' ? whole.total : Math.min(whole.total, Number(last) + 1)
  if (start >= whole.total) return 'unsatisfiable'
  return start < end ? { start, end } : undefined
}
