import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { BaselinePlace } from '../../ports.js'
import { readEvent } from '../event.js'

/** What started the workflow run, and which commits are involved. */
export type Trigger = Awaited<ReturnType<typeof readTrigger>>

interface Payload {
  readonly pull_request?: {
    readonly head?: { readonly sha?: unknown }
    readonly base?: { readonly sha?: unknown; readonly ref?: unknown }
  } | null
  readonly merge_group?: { readonly base_sha?: unknown; readonly base_ref?: unknown } | null
  readonly repository?: { readonly default_branch?: unknown } | null
}

/** Anyone can cause other events to run on the branch, with code of their own. */
export const RECORDED_EVENTS: readonly string[] = ['push', 'schedule', 'workflow_dispatch']

const SHA = /^[0-9a-f]{40}(?:[0-9a-f]{24})?$/
/** All that git allows in the name of a branch. */
const CHECKED_OUT = /^ref: (refs\/heads\/[^\s\p{Cc}~^:?*[\\]+)$/u
const HEADS = /^refs\/heads\/(.+)$/

export async function readTrigger(env: NodeJS.ProcessEnv) {
  const { GITHUB_EVENT_NAME = '', GITHUB_REF = '', GITHUB_SHA = '', GITHUB_BASE_REF = '' } = env
  const path = env.GITHUB_EVENT_PATH
  const payload = path ? await readEvent<Payload | null>(path) : null
  const { head, base } = payload?.pull_request ?? {}
  const group = payload?.merge_group
  return {
    event: GITHUB_EVENT_NAME,
    /** The branch the run is for; undefined for pull requests and tags. */
    branch: branchOf(GITHUB_REF),
    commit: GITHUB_SHA,
    /** `GITHUB_SHA` is a merge of the pull request into its base. */
    isMerge: /^refs\/pull\/\d+\/merge$/.test(GITHUB_REF),
    pull:
      head === undefined
        ? undefined
        : { head: shaOf(head.sha), base: shaOf(base?.sha), baseBranch: textOf(base?.ref) || GITHUB_BASE_REF },
    group: group
      ? { base: shaOf(group.base_sha), baseBranch: branchOf(textOf(group.base_ref)) ?? '' }
      : undefined,
    // Schedules run on the default branch, and their payload may have nothing but the schedule.
    defaultBranch:
      textOf(payload?.repository?.default_branch) ||
      (GITHUB_EVENT_NAME === 'schedule' ? branchOf(GITHUB_REF) : undefined)
  }
}

export function locate(trigger: Trigger, branch: string | undefined): BaselinePlace {
  const { event, pull, group, defaultBranch } = trigger
  const ofEvent = (pull?.baseBranch ?? group?.baseBranch ?? '') || defaultBranch
  return {
    branch: branch ?? ofEvent,
    recordedUnder: RECORDED_EVENTS.includes(event) ? trigger.branch : undefined
  }
}

/** The commit in the workspace; undefined if that is unknown. */
export async function readCheckedOut(env: NodeJS.ProcessEnv): Promise<string | undefined> {
  const workspace = env.GITHUB_WORKSPACE
  if (!workspace) return undefined
  const read = async (path: string): Promise<string> =>
    (await readFile(join(workspace, '.git', path), 'utf8').catch(() => '')).trim()
  const head = await read('HEAD')
  const [, branch] = CHECKED_OUT.exec(head) ?? []
  if (branch === undefined || branch.includes('..')) return shaOf(head) || undefined
  // Git moves branches into one file from time to time: a line has the commit and the ref.
  const lines = (await read('packed-refs')).split('\n')
  const packed = lines.find((line) => line.trimEnd().endsWith(` ${branch}`))?.split(' ')[0]
  return shaOf(await read(branch)) || shaOf(packed) || undefined
}

function branchOf(ref: string): string | undefined {
  return HEADS.exec(ref)?.[1]
}

/** Empty if it is not a commit. */
export function shaOf(value: unknown): string {
  return typeof value === 'string' && SHA.test(value) ? value : ''
}

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}
