import { OddReplyError } from '../comment-failure.js'
import type { Octokit } from '../pull-request.js'
import { CallError, type Calls } from './calls.js'
import { RECORDED_EVENTS, shaOf } from './trigger.js'

/** An artifact that may be a baseline document. */
export interface Candidate {
  readonly id: number
  readonly name: string
  readonly bytes: number
  readonly runId: number
  /** The commit that its workflow run was for, by GitHub's own account; empty if that is unknown. */
  readonly commit: string
  /** When it was uploaded, by GitHub's clock; undefined if that is unknown. */
  readonly createdMs: number | undefined
}

type Actions = Octokit['rest']['actions']
type Listed = Awaited<ReturnType<Actions['listArtifactsForRepo']>>['data']['artifacts'][number]

interface Query {
  readonly name: string
  readonly branch: string
  /** The file's name. */
  readonly workflow: string
}

/** GitHub's largest. */
const PAGE = 100
const ENOUGH = 3
/** Where artifacts of others take up the page, the branch's newest runs are asked one by one, but not forever. */
const MOST_ASKED_RUNS = 20

/**
 * The artifacts of this name that the workflow's own runs on the branch have uploaded, newest first. Anyone can upload one of the name: a
 * fork has a branch of the same name, and other events run foreign code on the default branch. So the runs decide, and where those of
 * others fill the list of artifacts, those of the branch's runs are listed run by run. `isCut`: there are none among those that were
 * looked at, and there may be some among the older ones.
 */
export async function listCandidates(calls: Calls, query: Query) {
  const artifacts = await listArtifacts(calls, query.name)
  const { sound, ignored } = sortOut(artifacts, query)
  const isFull = artifacts.length >= PAGE
  if (sound.length === 0 && !isFull) return { candidates: [], ignored, isCut: false }
  const commits = await listOwnRuns(calls, query, isFull ? undefined : sound)
  const own = withCommits(sound, commits)
  const runIds = [...commits.keys()].sort((a, b) => b - a)
  const asked = isFull && own.length < ENOUGH ? await askRuns(calls, query, runIds) : []
  const candidates = [
    ...new Map([...own, ...withCommits(asked, commits)].map((each) => [each.id, each])).values()
  ]
  const foreign = sound.length - own.length
  return {
    candidates: candidates.sort(
      (one, other) => (other.createdMs ?? 0) - (one.createdMs ?? 0) || other.id - one.id
    ),
    ignored: [...ignored, ...Array<string>(foreign).fill('uploaded by another workflow or event')],
    isCut: isFull && candidates.length === 0 && runIds.length > MOST_ASKED_RUNS
  }
}

function withCommits(candidates: readonly Candidate[], commits: ReadonlyMap<number, string>): Candidate[] {
  return candidates.flatMap((each) => {
    const commit = commits.get(each.runId)
    return commit === undefined ? [] : [{ ...each, commit }]
  })
}

async function askRuns(calls: Calls, query: Query, runIds: readonly number[]): Promise<Candidate[]> {
  const asked: Candidate[] = []
  for (const runId of runIds.slice(0, MOST_ASKED_RUNS)) {
    if (asked.length >= ENOUGH) break
    const artifacts = await calls.make('list the artifacts of an earlier run', async () => {
      const one = { ...calls.repository, name: query.name, per_page: PAGE, run_id: runId }
      const { data } = await calls.octokit.rest.actions.listWorkflowRunArtifacts(one)
      return listIn(data, 'artifacts')
    })
    asked.push(...sortOut(artifacts, query).sound)
  }
  return asked
}

function listArtifacts(calls: Calls, name: string): Promise<Listed[]> {
  return calls.make('list the artifacts of earlier runs', async () => {
    const query = { ...calls.repository, name, per_page: PAGE }
    const { data } = await calls.octokit.rest.actions.listArtifactsForRepo(query)
    return listIn(data, 'artifacts')
  })
}

/** By what GitHub says of the artifacts themselves. */
function sortOut(artifacts: readonly Listed[], { name, branch }: Query) {
  const ignored: string[] = []
  const sound: Candidate[] = []
  for (const artifact of artifacts) {
    if (artifact.name !== name) continue
    const { id, size_in_bytes: bytes, created_at: at, workflow_run: run } = artifact
    const reason = reasonToIgnore(artifact, branch)
    const createdMs = Date.parse(String(at)) || undefined
    if (reason !== undefined) ignored.push(reason)
    else sound.push({ id, name, bytes, runId: Number(run?.id), commit: '', createdMs })
  }
  return { sound, ignored }
}

function reasonToIgnore({ id, expired, workflow_run: run }: Listed, branch: string): string | undefined {
  if (typeof id !== 'number' || typeof run?.id !== 'number') return 'without a workflow run'
  // The repository is missing if the fork was deleted.
  if (typeof run.repository_id !== 'number' || run.head_repository_id !== run.repository_id)
    return 'of a fork'
  if (run.head_branch !== branch) return 'of another branch'
  return expired ? 'expired' : undefined
}

/** Commits of the workflow's newest runs on the branch, by id, until all wanted are known. Per event: others' runs may fill a page. */
async function listOwnRuns(
  calls: Calls,
  query: Query,
  wanted: readonly Candidate[] | undefined
): Promise<ReadonlyMap<number, string>> {
  const { branch } = query
  const commits = new Map<number, string>()
  for (const event of RECORDED_EVENTS) {
    for (const run of await listRuns(calls, { ...query, event })) {
      const { repository, head_repository: from } = run as Partial<typeof run>
      if (from?.id === repository?.id && run.head_branch === branch && run.event === event)
        commits.set(run.id, shaOf(run.head_sha))
    }
    if (wanted?.every(({ runId }) => commits.has(runId))) break
  }
  return commits
}

async function listRuns(calls: Calls, { branch, workflow, event }: Query & { readonly event: string }) {
  const query = { ...calls.repository, workflow_id: workflow, branch, event, per_page: PAGE }
  try {
    return await calls.make("list the workflow's runs", async () => {
      const { data } = await calls.octokit.rest.actions.listWorkflowRuns(query)
      return listIn(data, 'workflow_runs')
    })
  } catch (thrown) {
    // The artifacts could be listed, so it is not the permission.
    if (!(thrown instanceof CallError) || thrown.failure.status !== 404) throw thrown
    throw new Error(
      `GitHub knows no workflow ${workflow} in this repository (404), so it is unclear which artifacts are from its own runs; set "baseline" to the path of a document`,
      { cause: thrown }
    )
  }
}

function listIn<K extends string, T>(data: Readonly<Record<K, readonly T[]>>, key: K): T[] {
  const list = (data as Partial<typeof data> | null)?.[key]
  if (!Array.isArray(list)) throw new OddReplyError(`GitHub's reply has no list of ${key}`)
  return (list as readonly T[]).filter((entry) => typeof entry === 'object' && entry !== null)
}
