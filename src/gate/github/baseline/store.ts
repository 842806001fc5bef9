import { fromBufferPromise } from 'yauzl'
import type { BaselineDocument } from '../../../contract/baseline.js'
import {
  leaveOutFutureRuns,
  MOST_BYTES,
  mergeBaselines
} from '../../../analysis/baseline/document/baseline-document.js'
import { joinWords, messageOf } from '../../../contract/text.js'
import type {
  BaselineRequest,
  BaselineStore,
  FoundBaseline,
  Log,
  NewestBaselines,
  Ports
} from '../../ports.js'
import { keyOf, positionOf } from '../comment-place.js'
import { connect } from '../pull-request.js'
import { DOCUMENT_FILE } from '../../baseline/baseline-file.js'
import { findBase, listAncestors, listFurther, compareCommits } from './base-commit.js'
import {
  CallError,
  Calls,
  PERMISSIONS,
  RefusedDownloadError,
  explain,
  isOutage,
  plain,
  readAtMost
} from './calls.js'
import { listCandidates, type Candidate } from './candidates.js'
import { downloadArtifact } from './download-artifact.js'
import { locate, readCheckedOut, readTrigger, shaOf } from './trigger.js'

/** Two recorders that ran at the same time do not know of each other: the next reader merges what they have recorded. */
const MOST_MERGED = 3
/** Documents that cannot be used are skipped, but not forever. */
const MOST_SKIPPED = 5
const MOST_NAMED = 3

/** Recorded runs as artifacts of the branch's own workflow runs. */
export function createBaselineStore(env: NodeJS.ProcessEnv, log: Log, clock: Ports['clock']): BaselineStore {
  const ports = { env, log: sayOnce(log), clock, downloaded: new Map<number, BaselineDocument>() }
  return {
    locate: async (branch) => locate(await readTrigger(env), branch),
    find: (request) =>
      find(ports, request).catch((thrown: unknown) => ({ reason: explainEnd(request, thrown) })),
    readNewest: (request) =>
      readNewest(ports, request).catch((thrown: unknown) => ({
        reason: explainEnd(request, thrown),
        isOutage: request.signal.aborted || isOutage(thrown)
      })),
    artifactName: (request) => nameOf(env, request)
  }
}

/** What the search has said is not said again when the run is recorded. */
function sayOnce(log: Log): Pick<Log, 'info' | 'warning'> {
  const said = new Set<string>()
  const once =
    (say: 'info' | 'warning') =>
    (words: string): void => {
      if (!said.has(words)) log[say](words)
      said.add(words)
    }
  return { info: once('info'), warning: once('warning') }
}

interface StorePorts {
  readonly env: NodeJS.ProcessEnv
  readonly log: Pick<Log, 'info' | 'warning'>
  readonly clock: Ports['clock']
  /** By artifact: what a search has downloaded is not downloaded again to record. */
  readonly downloaded: Map<number, BaselineDocument>
}

/** As the comment's key, and per branch, job position and step: two calls of a reusable workflow, or two steps, are unrelated. */
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
  const { candidates, ignored } = await list(ports, calls, request)
  const [trigger, checkedOut] = await Promise.all([readTrigger(env), readCheckedOut(env)])
  const isRecorded = locate(trigger, branch).recordedUnder === branch
  if (candidates.length === 0) return { reason: describeNone(branch, ignored, isRecorded) }
  const commits = await readBranch(calls, branch)
  const { tip } = commits
  const { baseCommit, newest } = await findBase(calls, { trigger, branch, tip, checkedOut })
  const { documents, problems } = await readDocuments(ports, { calls, request, candidates, commits })
  if (documents.length === 0) return { reason: describeUnread(branch, problems) }
  const document = mergeBaselines(documents)
  const wanted = new Set(document.runs.map(({ commit }) => commit.toLowerCase()))
  const ancestors = newest === tip ? commits.newest : await listAncestors(calls, newest)
  const further = await listFurther(calls, { sha: newest, ancestors, wanted })
  return { document, baseCommit, ancestors: further.commits, isHistoryCut: further.isCut }
}

async function readNewest(ports: StorePorts, request: BaselineRequest): Promise<NewestBaselines> {
  const calls = await open(ports, request)
  const { candidates } = await list(ports, calls, request)
  if (candidates.length === 0) return []
  const commits = await readBranch(calls, request.branch)
  const { documents, problems } = await readDocuments(ports, { calls, request, candidates, commits })
  // They may be sound, and a new document would hide them. If one of them could be read, the next recorder merges the others with it.
  const isHidden = documents.length === 0 && problems.some(({ kind }) => kind === 'unread')
  // This workflow run has uploaded one before, and its upload would replace it.
  const isReplaced = problems.some(
    ({ kind, runId }) => kind === 'unread' && String(runId) === ports.env.GITHUB_RUN_ID
  )
  if (!isHidden && !isReplaced) return documents
  return {
    reason: `the runs recorded before could not be downloaded (${listWords(problems)}), and a document without them would hide them; they are kept, and the next run continues them`,
    isOutage: true
  }
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

async function list({ env }: StorePorts, calls: Calls, request: BaselineRequest) {
  const path = env.GITHUB_WORKFLOW_REF?.split('@')[0] ?? ''
  const workflow = path.split('/').at(-1) ?? ''
  if (workflow === '') throw new Error('the runner has not set GITHUB_WORKFLOW_REF; update the runner')
  const { branch } = request
  const { isCut, ...listed } = await listCandidates(calls, { name: nameOf(env, request), branch, workflow })
  const { ignored } = listed
  // A new document might hide one that is among those that were not looked at.
  if (isCut)
    throw new Error(
      `none of the newest ${ignored.length} artifacts of that name counts as a recorded run of ${plain(branch)} (${countKinds(ignored)}), none of its newest runs has one, and no more are looked at; delete them, or give the gate another name`
    )
  return listed
}

function describeNone(branch: string, ignored: readonly string[], isRecorded: boolean): string {
  const none = `no run of ${plain(branch)} is recorded for this job yet`
  if (ignored.length === 0 && isRecorded) return `${none}; this one is recorded as the first`
  if (ignored.length === 0)
    return `${none}; the next push to ${plain(branch)} that runs this gate records one`
  return `${none}: the artifacts of that name do not count (${countKinds(ignored)})`
}

function countKinds(ignored: readonly string[]): string {
  const count = (kind: string): number => ignored.filter((each) => each === kind).length
  return [...new Set(ignored)].map((kind) => `${count(kind)} ${kind}`).join(', ')
}

/** Why an artifact gives no document: it is gone, is not one, or could not be downloaded. */
interface Problem {
  readonly kind: 'gone' | 'unusable' | 'unread'
  readonly runId: number
  readonly words: string
}

function describeUnread(branch: string, problems: readonly Problem[]): string {
  const name = plain(branch)
  if (problems.length === 0)
    return `no run of ${name} is recorded for this job yet: what was recorded under that name is not on the branch (was it force-pushed, or is there a tag of that name?)`
  return problems.every(({ kind }) => kind === 'gone')
    ? `the recorded runs of ${name} have expired or were deleted; each push to ${name} that runs this gate keeps them for longer`
    : `none of the recorded runs of ${name} could be read (${listWords(problems)})`
}

function listWords(problems: readonly Problem[]): string {
  return [...new Set(problems.map(({ words }) => words))].join('; ')
}

interface Reading {
  readonly calls: Calls
  readonly request: BaselineRequest
  readonly candidates: readonly Candidate[]
  readonly commits: Awaited<ReturnType<typeof readBranch>>
}

/** The newest documents that can be used. */
async function readDocuments(
  ports: StorePorts,
  { calls, request, candidates, commits }: Reading
): Promise<{ documents: BaselineDocument[]; problems: Problem[] }> {
  const documents: BaselineDocument[] = []
  const problems: Problem[] = []
  const foreign: Candidate[] = []
  for (const candidate of candidates) {
    if (documents.length === MOST_MERGED || problems.length === MOST_SKIPPED) break
    const { id, commit } = candidate
    if (!(await commits.has(commit))) {
      foreign.push(candidate)
      continue
    }
    const document = ports.downloaded.get(id) ?? (await readDocument(ports, { calls, request, candidate }))
    if ('kind' in document) problems.push(document)
    else {
      ports.downloaded.set(id, document)
      documents.push(document)
    }
  }
  if (foreign.length > 0) ports.log.info(describeForeign(request.branch, foreign))
  return { documents, problems }
}

function describeForeign(branch: string, foreign: readonly Candidate[]): string {
  const commits = [...new Set(foreign.map(({ commit }) => commit.slice(0, 7) || 'unknown'))]
  const named = joinWords(commits, MOST_NAMED)
  return `${foreign.length === 1 ? 'A recorded run is' : `${foreign.length} recorded runs are`} not used: by the repository's history, what was measured (${named}) is not on the branch ${plain(branch)}.`
}

/** The problem, with a warning, if it cannot be used. */
async function readDocument(
  { log, clock }: StorePorts,
  { calls, request, candidate }: { calls: Calls; request: BaselineRequest; candidate: Candidate }
): Promise<BaselineDocument | Problem> {
  const { name, id, runId, createdMs } = candidate
  const artifact = `The artifact ${name} (${id})`
  try {
    const decoded = request.decode(await unzipDocument(await downloadArtifact(calls, candidate)))
    if (decoded.branch !== request.branch) throw new Error('it is the document of another branch')
    const { document, words } = leaveOutFutureRuns(decoded, createdMs ?? clock.now())
    if (words !== undefined) log.warning(`${artifact}: ${plain(words)}`)
    return document
  } catch (thrown) {
    const { status } = thrown instanceof CallError ? thrown.failure : {}
    if (status === 404 || status === 410) {
      log.info(`${artifact} has expired or was deleted meanwhile: an older one is used.`)
      // 404 may also be an outage: the artifact is certainly gone only if it is no longer listed.
      return { kind: status === 410 ? 'gone' : 'unread', runId, words: `${status}` }
    }
    if (thrown instanceof CallError || request.signal.aborted) throw thrown
    const words = plain(messageOf(thrown))
    log.warning(`${artifact} is not a usable baseline and was ignored: ${words}`)
    return { kind: thrown instanceof RefusedDownloadError ? 'unread' : 'unusable', runId, words }
  }
}

/** Artifacts with many files are not ours. */
const MOST_ENTRIES = 10

/** The document in the artifact's zip. What a zip says of itself is not trusted: bytes are counted. */
async function unzipDocument(zip: Buffer): Promise<Uint8Array> {
  const file = await fromBufferPromise(zip)
  if (file.entryCount > MOST_ENTRIES) throw new Error(`its zip has ${file.entryCount} files, not one`)
  for await (const entry of file.eachEntry()) {
    if (entry.fileName !== DOCUMENT_FILE) continue
    if (entry.uncompressedSize > MOST_BYTES) throw tooLarge()
    return await readAtMost(await file.openReadStreamPromise(entry), MOST_BYTES, tooLarge)
  }
  throw new Error(`its zip has no ${DOCUMENT_FILE}`)
}

function tooLarge(): Error {
  return new Error(`its ${DOCUMENT_FILE} is larger than ${MOST_BYTES} bytes`)
}

/** Commits that are not among the newest hundred of the branch are compared one by one, but not many. */
const MOST_COMPARED = 5

/** Which commits are on the branch, by the repository's history. The name says nothing: a tag may have it too. */
async function readBranch(calls: Calls, branch: string) {
  const ref = `heads/${branch}`
  const { data } = await calls
    .make(`read the branch ${branch}`, () => calls.octokit.rest.git.getRef({ ...calls.repository, ref }))
    .catch((thrown: unknown) => {
      if (!isNotFound(thrown)) throw thrown
      throw new Error(`GitHub knows no branch ${branch} (404); if there is one, ${PERMISSIONS}`, {
        cause: thrown
      })
    })
  const tip = shaOf((data as { object?: { sha?: unknown } }).object?.sha)
  if (tip === '') throw new Error(`GitHub did not say which commit the branch ${branch} is at`)
  const newest = await listAncestors(calls, tip)
  const onBranch = new Map(newest.commits.map((sha) => [sha, true]))
  let compared = 0
  const has = async (sha: string): Promise<boolean> => {
    const known = onBranch.get(sha)
    if (known !== undefined) return known
    if (sha === '' || !newest.isCut || compared === MOST_COMPARED) return false
    compared++
    const isOn = await compareCommits(calls, tip, sha).then(
      ({ aheadBy }) => aheadBy === 0,
      (thrown: unknown) => {
        // After a force push it may be gone.
        if (isNotFound(thrown)) return false
        throw thrown
      }
    )
    onBranch.set(sha, isOn)
    return isOn
  }
  /** `newest` are those from the tip on. */
  return { tip, newest, has }
}

function isNotFound(thrown: unknown): boolean {
  return thrown instanceof CallError && thrown.failure.status === 404
}
