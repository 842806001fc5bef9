import type { ServerResponse } from 'node:http'
import type { BaselineDocument } from '../../../src/baseline/document/baseline-document.js'
import { decodeBaseline } from '../../../src/baseline/document/decode.js'
import { json } from '../fake-service.js'
import type { ApiCall, GitHubApi } from './github-api.js'
import { unzip } from './unzip.js'

interface Upload {
  readonly name: string
  readonly zip: Buffer
  readonly runId: number
  readonly branch?: string
  readonly event?: string
  readonly expired?: boolean
  /** Of the fork that the run's code is from; null if it was deleted. */
  readonly headRepositoryId?: number | null
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
  readonly #zips = new Map<number, Buffer>()
  readonly #api: GitHubApi

  constructor(api: GitHubApi) {
    this.#api = api
    api.more = (call, response) => this.#answer(call, response)
  }

  /** A line of commits, oldest first. */
  addCommits(...shas: string[]): void {
    for (const [index, sha] of shas.entries()) this.parents.set(sha, index === 0 ? [] : [shas[index - 1]!])
  }

  /** An artifact, newer than those before it. */
  add({ name, zip, runId, branch = 'main', event = 'push', expired = false, ...upload }: Upload): number {
    const id = 100 + this.artifacts.length
    this.#zips.set(id, zip)
    const headRepositoryId = upload.headRepositoryId === undefined ? REPOSITORY_ID : upload.headRepositoryId
    this.artifacts.unshift({
      id,
      name,
      size_in_bytes: upload.bytes ?? zip.length,
      expired,
      created_at: new Date(Date.UTC(2026, 0, 1) + id * 1000).toISOString(),
      workflow_run: {
        id: runId,
        repository_id: REPOSITORY_ID,
        head_repository_id: headRepositoryId,
        head_branch: branch
      }
    })
    this.addRun({ runId, branch, event })
    return id
  }

  addRun({
    runId,
    branch = 'main',
    event = 'push'
  }: {
    runId: number
    branch?: string
    event?: string
  }): void {
    if (this.runs.some(({ id }) => id === runId)) return
    this.runs.unshift({ id: runId, head_branch: branch, event, path: `.github/workflows/${WORKFLOW}` })
  }

  documentOf(id: number): BaselineDocument {
    return decodeBaseline(unzip(this.#zips.get(id)!).get('baseline.json.gz')!)
  }

  #answer({ method, path, query }: ApiCall, response: ServerResponse): boolean {
    const [, zipped] = /\/actions\/artifacts\/(\d+)\/zip$/.exec(path) ?? []
    const [, stored] = /^\/storage\/(\d+)$/.exec(path) ?? []
    const [, run] = /\/actions\/runs\/(\d+)$/.exec(path) ?? []
    const [, commit] = /\/commits\/(\w+)$/.exec(path) ?? []
    const [, basehead] = /\/compare\/(.+)$/.exec(path) ?? []
    if (method !== 'GET') return false
    if (path === `${ROOT}/actions/artifacts`)
      json(response, 200, {
        artifacts: pageOf(
          this.artifacts.filter(({ name }) => name === query.get('name')),
          query
        )
      })
    else if (path === `${ROOT}/actions/workflows/${WORKFLOW}/runs`)
      json(response, 200, { workflow_runs: this.#runsOf(query.get('branch')).slice(0, 100) })
    else if (path === `${ROOT}/actions/runs`)
      json(response, 200, { workflow_runs: this.#runsOf(query.get('branch')).slice(0, 100) })
    else if (run !== undefined)
      json(
        response,
        200,
        this.runs.find(({ id }) => id === Number(run))
      )
    else if (commit !== undefined) this.#showCommit(response, commit)
    else if (basehead !== undefined)
      json(response, 200, { merge_base_commit: { sha: this.mergeBases.get(decodeURIComponent(basehead)) } })
    else if (path === `${ROOT}/commits`)
      json(response, 200, pageOf(this.#lineOf(query.get('sha') ?? ''), query))
    else if (zipped !== undefined)
      response.writeHead(302, { location: `${this.#api.url}/storage/${zipped}?sig=signed` }).end()
    else if (stored !== undefined) response.writeHead(200).end(this.#zips.get(Number(stored)))
    else return false
    return true
  }

  #runsOf(branch: string | null): Record<string, unknown>[] {
    return this.runs.filter(({ head_branch }) => head_branch === branch)
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
