import type { ServerResponse } from 'node:http'
import type { BaselineDocument } from '../../../src/contract/baseline.js'
import { decodeBaseline } from '../../../src/analysis/baseline/document/baseline-document.js'
import { json } from '../fake-service.js'
import type { ApiCall, GitHubApi } from './github-api.js'
import { unzip } from './unzip.js'

interface Upload {
  readonly name: string
  readonly zip: Buffer
  readonly runId: number
  readonly branch?: string
  readonly event?: string
  /** The commit that the workflow run was for. */
  readonly commit?: string
  readonly expired?: boolean
  /** Of the fork that the run's code is from; null if it was deleted. */
  readonly headRepositoryId?: number | null
  readonly createdMs?: number
  /** What the list says, if not the truth. */
  readonly bytes?: number
}

const ROOT = '/repos/octo/shop'
const REPOSITORY_ID = 4711
const WORKFLOW = 'performance.yml'

/** The part of GitHub's API that baselines need: artifacts, workflow runs and commits. */
export class BranchHistory {
  readonly artifacts: Record<string, unknown>[] = []
  readonly runs: Record<string, unknown>[] = []
  /** The parents of each commit. */
  readonly parents = new Map<string, readonly string[]>()
  readonly mergeBases = new Map<string, string>()
  /** The newest commit of each branch. */
  readonly tips = new Map<string, string>()
  readonly #zips = new Map<number, Buffer>()
  readonly #api: GitHubApi

  constructor(api: GitHubApi) {
    this.#api = api
    api.more = (call, response) => this.#answer(call, response)
  }

  /** A line of commits on main, oldest first. */
  addCommits(...shas: string[]): void {
    this.tips.set('main', shas.at(-1) ?? '')
    for (const [index, sha] of shas.entries()) this.parents.set(sha, index === 0 ? [] : [shas[index - 1]!])
  }

  /** An artifact, newer than those before it. */
  add({ name, zip, runId, branch = 'main', commit, expired = false, ...upload }: Upload): number {
    const id = 100 + this.artifacts.length
    this.#zips.set(id, zip)
    const headRepositoryId = upload.headRepositoryId === undefined ? REPOSITORY_ID : upload.headRepositoryId
    // A fork's code runs for pull requests only.
    const event = upload.event ?? (headRepositoryId === REPOSITORY_ID ? 'push' : 'pull_request')
    this.artifacts.unshift({
      id,
      name,
      size_in_bytes: upload.bytes ?? zip.length,
      expired,
      created_at: new Date(upload.createdMs ?? Math.max(Date.now(), Date.UTC(2026, 0, 2))).toISOString(),
      workflow_run: {
        id: runId,
        repository_id: REPOSITORY_ID,
        head_repository_id: headRepositoryId,
        head_branch: branch,
        ...(commit !== undefined && { head_sha: commit })
      }
    })
    this.addRun({ runId, branch, event, headRepositoryId, ...(commit !== undefined && { commit }) })
    return id
  }

  addRun({
    runId,
    branch = 'main',
    event = 'push',
    commit = this.tips.get(branch) ?? '',
    headRepositoryId = REPOSITORY_ID
  }: {
    runId: number
    headRepositoryId?: number | null
    branch?: string
    event?: string
    commit?: string
  }): void {
    if (this.runs.some(({ id }) => id === runId)) return
    const path = `.github/workflows/${WORKFLOW}`
    this.runs.unshift({
      ...{ id: runId, head_branch: branch, head_sha: commit, event, path },
      repository: { id: REPOSITORY_ID },
      head_repository: headRepositoryId === null ? null : { id: headRepositoryId }
    })
  }

  documentOf(id: number): BaselineDocument {
    return decodeBaseline(unzip(this.#zips.get(id)!).get('baseline.json.gz')!)
  }

  #answer({ method, path, query }: ApiCall, response: ServerResponse): boolean {
    const [, zipped] = /\/actions\/artifacts\/(\d+)\/zip$/.exec(path) ?? []
    const [, stored] = /^\/storage\/(\d+)$/.exec(path) ?? []
    const [, run] = /\/actions\/runs\/(\d+)$/.exec(path) ?? []
    const [, uploader] = /\/actions\/runs\/(\d+)\/artifacts$/.exec(path) ?? []
    const [, ref] = /\/git\/ref\/heads(?:\/|%2F)(.+)$/.exec(path) ?? []
    const [, commit] = /\/commits\/(\w+)$/.exec(path) ?? []
    const [, basehead] = /\/compare\/(.+)$/.exec(path) ?? []
    if (method !== 'GET') return false
    if (path === `${ROOT}/actions/artifacts`)
      json(response, 200, { artifacts: pageOf(this.#artifactsOf(query), query) })
    else if (uploader !== undefined) {
      const own = this.#artifactsOf(query).filter(
        ({ workflow_run }) => (workflow_run as { id: number }).id === Number(uploader)
      )
      json(response, 200, { artifacts: pageOf(own, query) })
    } else if (path === `${ROOT}/actions/workflows/${WORKFLOW}/runs` || path === `${ROOT}/actions/runs`)
      json(response, 200, { workflow_runs: pageOf(this.#runsOf(query), query) })
    else if (ref !== undefined) this.#showBranch(response, decodeURIComponent(ref))
    else if (run !== undefined)
      json(
        response,
        200,
        this.runs.find(({ id }) => id === Number(run))
      )
    else if (commit !== undefined) this.#showCommit(response, commit)
    else if (basehead !== undefined) json(response, 200, this.#compare(decodeURIComponent(basehead)))
    else if (path === `${ROOT}/commits`)
      json(response, 200, pageOf(this.#lineOf(query.get('sha') ?? ''), query))
    else if (zipped !== undefined)
      response.writeHead(302, { location: `${this.#api.url}/storage/${zipped}?sig=signed` }).end()
    else if (stored !== undefined) response.writeHead(200).end(this.#zips.get(Number(stored)))
    else return false
    return true
  }

  #artifactsOf(query: URLSearchParams): Record<string, unknown>[] {
    return this.artifacts.filter(({ name }) => name === query.get('name'))
  }

  #runsOf(query: URLSearchParams): Record<string, unknown>[] {
    const wanted = query.get('event')
    return this.runs.filter(
      ({ head_branch, event }) => head_branch === query.get('branch') && (wanted === null || event === wanted)
    )
  }

  #showBranch(response: ServerResponse, branch: string): void {
    const sha = this.tips.get(branch)
    if (sha === undefined) json(response, 404, { message: 'Not Found' })
    else json(response, 200, { ref: `refs/heads/${branch}`, object: { type: 'commit', sha } })
  }

  #compare(basehead: string): object {
    const [base = '', head = ''] = basehead.split('...')
    const known = new Set(this.#lineOf(base).map(({ sha }) => sha))
    const ahead = this.#lineOf(head).filter(({ sha }) => !known.has(sha))
    return { merge_base_commit: { sha: this.mergeBases.get(basehead) }, ahead_by: ahead.length }
  }

  #showCommit(response: ServerResponse, sha: string): void {
    const parents = this.parents.get(sha)
    if (parents === undefined) json(response, 404, { message: 'Not Found' })
    else json(response, 200, { sha, parents: parents.map((parent) => ({ sha: parent })) })
  }

  #lineOf(sha: string): { sha: string }[] {
    const line = [{ sha }]
    for (let next = this.parents.get(sha)?.[0]; next !== undefined; next = this.parents.get(next)?.[0])
      line.push({ sha: next })
    return line
  }
}

function pageOf<T>(entries: readonly T[], query: URLSearchParams): T[] {
  const size = Number(query.get('per_page') ?? 30)
  const page = Number(query.get('page') ?? 1)
  return entries.slice((page - 1) * size, page * size)
}
