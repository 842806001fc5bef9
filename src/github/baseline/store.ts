import type { BaselineDocument } from '../../baseline/document/baseline-document.js'
import { messageOf } from '../../gate/errors.js'
import type { BaselineRequest, BaselineStore, FoundBaseline, Log, Ports } from '../../gate/ports.js'
import { keyOf, positionOf } from '../comment-place.js'
import { connect } from '../connect.js'
import { findBase, listAncestors, listFurther } from './base-commit.js'
import { CallError, Calls, RefusedDownloadError } from './calls.js'
import { listCandidates } from './candidates.js'
import type { Candidate } from './candidates.js'
import { downloadArtifact } from './download-artifact.js'
import { explain, plain } from './explain.js'
import { locate, readCheckedOut, readTrigger } from './trigger.js'
import { unzipDocument } from './unzip-document.js'

/** The next recorder unites what two that ran at the same time have recorded. */
const MOST_UNITED = 3
/** Documents that cannot be used are skipped, but not for ever. */
const MOST_SKIPPED = 5

/** Documents by artifact: what a search has downloaded is not downloaded again to record. */
type Downloaded = Map<number, BaselineDocument>

/** Recorded runs as artifacts of the branch's own workflow runs. */
export function createBaselineStore(env: NodeJS.ProcessEnv, log: Log, clock: Ports['clock']): BaselineStore {
  const downloaded: Downloaded = new Map()
  const ports = { env, log, clock, downloaded }
  return {
    locate: async (branch) => locate(await readTrigger(env), branch),
    find: (request) =>
      find(ports, request).catch((thrown: unknown) => ({ reason: explainEnd(request, thrown) })),
    readNewest: (request) =>
      readNewest(ports, request).catch((thrown: unknown) => ({ reason: explainEnd(request, thrown) })),
    artifactName: (request) => nameOf(env, request)
  }
}

interface StorePorts {
  readonly env: NodeJS.ProcessEnv
  readonly log: Log
  readonly clock: Ports['clock']
  readonly downloaded: Downloaded
}

/**
 * As the comment's key: one per workflow, job, matrix leg and given name; and per branch. A reusable workflow that is called twice, and two
 * steps of a job, are told apart by the job's position and by the step: their runs have nothing to do with each other.
 */
function nameOf(
  env: NodeJS.ProcessEnv,
  request: Pick<BaselineRequest, 'branch' | 'matrix' | 'name'>
): string {
  return `loadgate-baseline-${keyOf(env, request, [request.branch, positionOf(env) ?? '', env.GITHUB_ACTION ?? ''])}`
}

/** The time may be up, or the job cancelled, while a call waits. */
function explainEnd({ signal }: BaselineRequest, thrown: unknown): string {
  return explain(signal.aborted && !(thrown instanceof CallError) ? signal.reason : thrown)
}

async function find(ports: StorePorts, request: BaselineRequest): Promise<FoundBaseline> {
  const { env } = ports
  const { branch } = request
  const calls = await open(ports, request)
  const { candidates, ignored, isCut } = await list(ports, calls, request)
  if (isCut) throw tooMany(branch, ignored)
  const [trigger, checkedOut] = await Promise.all([readTrigger(env), readCheckedOut(env)])
  const isRecorded = locate(trigger, branch).recordedUnder === branch
  if (candidates.length === 0) return { reason: describeNone(branch, ignored, isRecorded) }
  const { baseCommit, newest } = await findBase(calls, { trigger, branch, checkedOut })
  const ancestors = await listAncestors(calls, newest)
  const { documents, problems } = await readDocuments(ports, { calls, request, candidates, most: 1 })
  const [document] = documents
  if (document === undefined) return { reason: describeUnread(branch, problems) }
  const wanted = new Set(document.runs.map(({ commit }) => commit.toLowerCase()))
  const { commits, isCut: isHistoryCut } = await listFurther(calls, { sha: newest, ancestors, wanted })
  return { document, baseCommit, ancestors: commits, isHistoryCut }
}

async function readNewest(ports: StorePorts, request: BaselineRequest): Promise<readonly BaselineDocument[]> {
  const calls = await open(ports, request)
  const { candidates, ignored, isCut } = await list(ports, calls, request)
  if (isCut) throw tooMany(request.branch, ignored)
  const { documents, problems } = await readDocuments(ports, {
    ...{ calls, request, candidates },
    most: MOST_UNITED
  })
  // They may be sound, and a new document would hide them.
  if (documents.length === 0 && problems.includes('refused'))
    throw new Error(
      'the runs recorded before could not be downloaded, and a document without them would hide them; the warnings in the log say why'
    )
  return documents
}

async function open({ env, clock }: StorePorts, request: BaselineRequest): Promise<Calls> {
  const { token, signal, untilMs } = request
  if (isOwnServer(env))
    throw new Error(
      'this GitHub server has no artifacts that can be read back: set "baseline" to the path of a document that the job restores and saves, with actions/cache for example'
    )
  if (token === '')
    throw new Error(
      'there is no github-token to read earlier runs with; remove the input github-token, or set it'
    )
  return new Calls(await connect(env, { token, signal }), env, { clock, signal, untilMs })
}

/** As the toolkit has it. */
function isOwnServer({ GITHUB_SERVER_URL = 'https://github.com' }: NodeJS.ProcessEnv): boolean {
  const host = URL.canParse(GITHUB_SERVER_URL) ? new URL(GITHUB_SERVER_URL).hostname.toLowerCase() : ''
  return host !== 'github.com' && !host.endsWith('.ghe.com') && !host.endsWith('.localhost')
}

function list(
  { env }: StorePorts,
  calls: Calls,
  request: BaselineRequest
): ReturnType<typeof listCandidates> {
  const path = env.GITHUB_WORKFLOW_REF?.split('@')[0] ?? ''
  const workflow = path.split('/').at(-1) ?? ''
  if (workflow === '') throw new Error('the runner has not set GITHUB_WORKFLOW_REF; update the runner')
  return listCandidates(calls, { name: nameOf(env, request), branch: request.branch, workflow })
}

/** A new document might hide one that is among those that were not looked at. */
function tooMany(branch: string, ignored: readonly string[]): Error {
  return new Error(
    `none of the newest ${ignored.length} artifacts of that name counts as a recorded run of ${plain(branch)} (${countKinds(ignored)}), and no more are looked at; delete them, or give the gate another name`
  )
}

function describeNone(branch: string, ignored: readonly string[], isRecorded: boolean): string {
  const none = `no run of ${plain(branch)} is recorded for this job yet`
  if (ignored.length === 0 && isRecorded) return `${none}; this one is recorded as the first`
  if (ignored.length === 0)
    return `${none}; the next push to ${plain(branch)} that runs this gate records one`
  return `${none}: the artifacts of that name do not count (${countKinds(ignored)})`
}

function countKinds(ignored: readonly string[]): string {
  const kinds = [...new Set(ignored)].map(
    (kind) => `${ignored.filter((each) => each === kind).length} ${kind}`
  )
  return kinds.join(', ')
}

/** Why an artifact gives no document: it is gone, is none, or could not be downloaded. */
type Problem = 'gone' | 'unusable' | 'refused'

function describeUnread(branch: string, problems: readonly Problem[]): string {
  return problems.every((problem) => problem === 'gone')
    ? `the recorded runs of ${plain(branch)} have expired or were deleted; each push to ${plain(branch)} that runs this gate keeps them for longer`
    : `none of the recorded runs of ${plain(branch)} could be read; the warnings in the log say why`
}

interface Reading {
  readonly calls: Calls
  readonly request: BaselineRequest
  readonly candidates: readonly Candidate[]
  readonly most: number
}

/** The newest documents that can be used. */
async function readDocuments(
  ports: StorePorts,
  { calls, request, candidates, most }: Reading
): Promise<{ documents: BaselineDocument[]; problems: Problem[] }> {
  const documents: BaselineDocument[] = []
  const problems: Problem[] = []
  for (const candidate of candidates.slice(0, most + MOST_SKIPPED)) {
    if (documents.length === most) break
    const document =
      ports.downloaded.get(candidate.id) ?? (await readDocument(ports, { calls, request, candidate }))
    if (typeof document === 'string') {
      problems.push(document)
      continue
    }
    ports.downloaded.set(candidate.id, document)
    documents.push(document)
  }
  return { documents, problems }
}

/** The problem, with a warning, if it cannot be used. */
async function readDocument(
  { log }: StorePorts,
  { calls, request, candidate }: { calls: Calls; request: BaselineRequest; candidate: Candidate }
): Promise<BaselineDocument | Problem> {
  const artifact = `The artifact ${candidate.name} (${candidate.id})`
  try {
    const zip = await downloadArtifact(calls, candidate)
    if (zip === undefined) {
      log.info(`${artifact} has expired or was deleted meanwhile: an older one is used.`)
      return 'gone'
    }
    const document = request.decode(await unzipDocument(zip))
    if (document.branch !== request.branch) throw new Error('it is the document of another branch')
    return document
  } catch (thrown) {
    if (thrown instanceof CallError || request.signal.aborted) throw thrown
    log.warning(`${artifact} is not a usable baseline and was ignored: ${plain(messageOf(thrown))}`)
    return thrown instanceof RefusedDownloadError ? 'refused' : 'unusable'
  }
}
