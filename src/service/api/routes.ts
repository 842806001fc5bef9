import { rm } from 'node:fs/promises'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { route, type Route, type ServiceFacts, cannotFind, findRun, readRunFilter } from '../service-facts.js'
import type { Engines } from '../engines/engine.js'
import { findIncludingPlan } from '../engines/plan-file.js'
import { refuseAll, RequestError, readPageNumber } from '../errors.js'
import type { Grids } from '../runs/grids.js'
import { isOwn } from '../runs/make-ready.js'
import { findFirstSample } from '../runs/first-sample.js'
import type { LiveSamples } from '../runs/live-samples.js'
import { isPageRequest } from '../pages/page-access.js'
import { readForm, sendPage, PAGE_HEADERS } from '../pages/send-page.js'
import { requireOwnGrids } from '../accounts/permissions.js'
import { createId, idFor } from '../store/data-folder.js'
import { explainStorage, refuseWrite } from '../store/database-errors.js'
import { type GridRecord, hasEnded, type RunRecord, type UserReference } from '../../contract/records.js'
import { redactRequest, refuseGiven } from '../runs/row-secrets.js'
import { refusePlan } from '../plans/ask.js'
import type { PageParts } from '../pages/page-routes.js'
import type { RunPages } from '../pages/run-pages.js'
import type { Runs } from '../runs/runs.js'
import type { Upload, UploadBook } from '../quotas/uploads.js'
import type { Reply } from '../../contract/api/replies.js'
import type { Judged } from '../judging/judge-run.js'
import { readThresholds } from '../judging/read-thresholds.js'
import {
  accountDocument,
  briefRunDocument,
  gridDocument,
  gridListDocument,
  linkTo,
  partListDocument,
  projectListDocument,
  runDocument,
  runListDocument
} from './documents.js'
import { readPackageVersion } from '../version.js'
import { describeApi } from './openapi.js'
import { keepRoutes } from './keep-routes.js'
import { readBody } from './request-body.js'
import { findEndedRun, sendArchive, sendResults, sendUploaded, sendVerdict } from './send-files.js'
import { userRoutes } from './user-routes.js'
import { readGridSpec, readRunRequest } from './validation.js'

export interface ServicePorts extends Omit<PageParts, 'pages'> {
  readonly runs: Runs
  readonly grids: Grids
  readonly engines: Engines
  readonly maxUploadBytes: number
  /** Counts what users upload; undefined where nobody is limited. */
  readonly uploads: UploadBook | undefined
  /** Throws if a run cannot be kept for ever; undefined where nothing is deleted. */
  readonly requirePinRoom: ((run: RunRecord) => Promise<void>) | undefined
  readonly pages: RunPages | undefined
  readonly live: LiveSamples
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
  const button = pages ? ({ page: 'button' } as const) : {}
  const repeats = new Map<string, Promise<RunRecord>>()
  const endGrid: Route[3] = async (request) => {
    const grid = findGrid(request, facts)
    await grids.terminate(grid)
    await facts.store.flushWhenFree()
    return gridDocument(grid, facts, 'resources')
  }
  const stopRun: Route[3] = async (request, reply) => {
    const run = findRun(request, facts)
    await runs.stop(run)
    await facts.store.flushWhenFree()
    return isPageRequest(request)
      ? reply.code(204).headers(PAGE_HEADERS).send()
      : briefRunDocument(run, facts)
  }
  const repeatRun: Route[3] = async (request, reply) => {
    noteCaller(reply, runs)
    const run = findRun(request, facts)
    facts.access.requireMayCreate(request.user, run.request.project)
    const lasting = facts.store.gridsOf(run).filter((grid) => !isOwn(run, grid))
    const seen = facts.seenBy(request.user)
    requireOwnGrids(request.user, lasting, { seen, accounts: facts.accounts })
    const isOfPage = isPageRequest(request)
    const once = isOfPage ? (readForm(request, 'Repeat a run').get('once') ?? '') : ''
    // The same form is for one run, also after a restart: the run's id comes from it.
    const id = once === '' ? createId() : idFor(`${request.user.id} ${run.id} ${once}`)
    const repeat = (): Promise<RunRecord> => {
      const made = runs.repeat(run, { user: creatorOf(request), id }).finally(() => repeats.delete(id))
      repeats.set(id, made)
      return made
    }
    const repeated = await Promise.resolve(seen.run(id) ?? repeats.get(id) ?? repeat()).catch(
      (thrown: unknown) => {
        throw refuseCreation(thrown)
      }
    )
    request.audited.created = repeated.id
    return isOfPage
      ? reply.headers(PAGE_HEADERS).redirect(`${path}/${repeated.id}`, 303)
      : briefRunDocument(repeated, facts)
  }
  return [
    route('GET', '/account', {}, ({ user }) => accountDocument(user, facts)),
    ...userRoutes(facts),
    route('GET', '/openapi.json', {}, () =>
      describeApi(facts.words, { url: facts.front.baseUrl(), version: readPackageVersion() })
    ),
    route('POST', '/grids', { effect: 'grid.create' }, async (request, reply) => {
      noteCaller(reply, runs)
      const { params } = await readBody(request)
      const grid = await grids.create(readGridSpec(params, facts.places), ownerOf(request))
      request.audited.created = grid.id
      return reply.code(201).send(gridDocument(grid, facts))
    }),
    route('GET', '/grids', {}, (request) =>
      gridListDocument(readPageNumber(request), facts.seenBy(request.user), facts)
    ),
    route('GET', '/projects', {}, (request) =>
      projectListDocument(readPageNumber(request), facts.seenBy(request.user), facts)
    ),
    route('GET', '/grids/:id', {}, (request) => gridDocument(findGrid(request, facts), facts, 'resources')),
    // The API document's definition has the singular, its example the plural.
    route('DELETE', '/grids/:id', { effect: 'grid.terminate' }, endGrid),
    route('DELETE', '/grid/:id', { effect: 'grid.terminate' }, endGrid),
    route('POST', path, { effect: 'run.create' }, async (request, reply) => {
      noteCaller(reply, runs)
      return reply.code(201).send(await createRun(request, service))
    }),
    route('GET', path, {}, (request) =>
      runListDocument(
        { page: readPageNumber(request), filter: readRunFilter(request) },
        facts.seenBy(request.user),
        facts
      )
    ),
    route('GET', `${path}/:id`, html, async (request, reply) => {
      const run = findRun(request, facts)
      return pages && isPageRequest(request)
        ? sendPage(reply, await pages.runPage(run, request.user))
        : runDocument(run, facts, { firstSampleMs: (await findFirstSample(run, facts.store)) ?? null })
    }),
    route('GET', `${path}/:id/stop`, { effect: 'run.stop' }, stopRun),
    route('GET', `${path}/:id/repeat`, { effect: 'run.repeat' }, repeatRun),
    // The API document has GET only; scripts also POST what changes something, and the buttons on a run's page do.
    route('POST', `${path}/:id/stop`, { ...button, effect: 'run.stop' }, stopRun),
    route('POST', `${path}/:id/repeat`, { ...button, effect: 'run.repeat' }, repeatRun),
    route('GET', `${path}/:id/report`, {}, async (request) => {
      const run = findEndedRun(request, facts)
      await runs.settle(run)
      if (run.report === null) throw new RequestError(404, `run ${run.id} has no report`)
      return { _links: { self: linkTo(`${path}/${run.id}/report`) }, ...run.report }
    }),
    route('GET', `${path}/:id/result.csv`, {}, (request, reply) => sendResults(request, reply, service)),
    ...(['results', 'archives'] as const).map((part) =>
      route('GET', `${path}/:id/${part}`, {}, (request) =>
        partListDocument(readPageNumber(request), { run: findRun(request, facts), part }, facts)
      )
    ),
    route('GET', `${path}/:id/archive.tar.gz`, {}, (request, reply) => sendArchive(request, reply, service)),
    route('GET', `${path}/:id/verdict.json`, {}, (request, reply) => sendVerdict(request, reply, service)),
    route('GET', `${path}/:id/files/:file`, {}, (request, reply) => sendUploaded(request, reply, facts)),
    ...thresholdRoutes(`${path}/:id/thresholds`, html, service),
    ...keepRoutes(facts, button, service.requirePinRoom),
    // Seen in scripts for such services.
    refuse(
      'POST',
      '/oauth/token',
      'no tokens are issued here: send an API token, or an ID token or JWT access token of an issuer that this service trusts, as Authorization: Bearer <token>'
    ),
    refuse(
      'PATCH',
      `${path}/:id/set-public`,
      `a run stays private or public as it was created: send ${facts.words.run}[privacy_flag]=public with POST ${path}`
    )
  ]
}

/** What this service does not have, and what to do instead. Needs no token, because its callers may have none. */
function refuse(method: 'POST' | 'PATCH', url: string, words: string): Route {
  return route(method, url, { open: 'probe' }, () => {
    throw new RequestError(404, words)
  })
}

/** Somebody is creating a run or a grid; a drain waits until they have a reply. */
function noteCaller({ raw }: FastifyReply, runs: Runs): void {
  runs.noteCaller(new Promise((resolve) => (raw.closed ? resolve() : raw.once('close', resolve))))
}

function ownerOf({ user: { id, name } }: FastifyRequest): UserReference {
  return { id, name }
}

function creatorOf({ user: { id, name, claims } }: FastifyRequest): NonNullable<RunRecord['user']> {
  return { id, name, ...(claims && { claims }) }
}

async function createRun(request: FastifyRequest, service: ServicePorts) {
  const { facts, runs, engines, maxUploadBytes } = service
  const { words, store } = facts
  let uploadDir: string | undefined
  let upload: Upload | undefined
  try {
    upload = service.uploads?.begin(creatorOf(request), Number(request.headers['content-length'] ?? 0))
    uploadDir = store.folder.createUploadDir()
    const { params, files } = await readBody(request, {
      ...{ fileField: words.files, uploadDir, maxBytes: maxUploadBytes, onBytes: upload?.take }
    })
    const sent = files.map(({ name }) => name)
    const { fileNames: byName, ...wish } = readRunRequest(params, {
      ...{ words, engines, fileNames: sent, places: facts.places }
    })
    const seen = facts.seenBy(request.user)
    requireOwnGrids(request.user, wish.grids, { seen, accounts: facts.accounts })
    const tooMuch = await refuseGiven(wish.request, { files, folder: uploadDir })
    if (tooMuch.length > 0) throw refuseAll(tooMuch)
    const plan = await findIncludingPlan(wish.request.tool, byName, uploadDir).catch((thrown: unknown) => {
      throw refusePlan(byName[0] ?? '', thrown)
    })
    if (plan !== undefined && 'problem' in plan) throw refuseAll([plan.problem])
    const fileNames =
      plan === undefined ? byName : [plan.name, ...byName.filter((name) => name !== plan.name)]
    // From here on the first file is the plan.
    const planFirst = files.toSorted(
      (one, other) => fileNames.indexOf(one.name) - fileNames.indexOf(other.name)
    )
    const project = wish.request.project ?? request.user.project ?? null
    const kept = await redactRequest({ ...wish.request, project }, { files, folder: uploadDir })
    facts.access.requireMayCreate(request.user, kept.project)
    upload?.chargeTo(kept.project)
    const run = await runs.create({
      ...{ ...wish, request: kept, files: planFirst, uploadDir, user: creatorOf(request) }
    })
    request.audited.created = run.id
    return runDocument(run, facts, { isCreated: true })
  } catch (thrown) {
    if (uploadDir !== undefined) await rm(uploadDir, { recursive: true, force: true })
    throw refuseCreation(thrown)
  } finally {
    upload?.end()
  }
}

/** The caller must know that no run was created. */
function refuseCreation(thrown: unknown): unknown {
  return explainStorage(thrown) === undefined ? thrown : refuseWrite(thrown, 'the run was not created')
}

function findGrid(request: FastifyRequest, facts: ServiceFacts): GridRecord {
  const grid = facts.seenBy(request.user).grid((request.params as { id: string }).id)
  if (!grid) throw cannotFind()
  return grid
}

/** Additions of this service to the API: what must hold in a run, and once it has ended, whether it does. */
function thresholdRoutes(path: string, html: Route[2], { facts, verdicts }: ServicePorts): Route[] {
  return [
    route('GET', path, html, async (request, reply) => {
      const run = findRun(request, facts)
      // A browser comes here after its thresholds were refused.
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
      await facts.store.flushWhenFree()
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
    _links: { self: linkTo(`/${words.runs}/${run.id}/thresholds`) },
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
