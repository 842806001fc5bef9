import { createHash } from 'node:crypto'
import type { CommentRequest } from '../gate/ports.js'
import type { CommentWriter } from '../report/markdown/comment-marker.js'
import { describeLeg, identifyLeg } from '../report/leg.js'

/** A comment that carries our key and was written by our login. */
export interface OwnComment {
  readonly id: number
  readonly body: string
  /** Undefined where it does not say. */
  readonly writer: CommentWriter | undefined
}

export type Choice =
  | { readonly kind: 'create' }
  | { readonly kind: 'update'; readonly comment: OwnComment }
  /** A newer run has spoken already. */
  | { readonly kind: 'leave'; readonly comment: OwnComment }

/** One key for each workflow, job, leg of a matrix, and name that was given. */
export function keyOf(env: NodeJS.ProcessEnv, { matrix, name }: CommentRequest): string {
  // The file's path without the ref: several workflows may have the same name.
  const workflow = env.GITHUB_WORKFLOW_REF?.split('@')[0] ?? env.GITHUB_WORKFLOW ?? ''
  return hash([workflow, env.GITHUB_JOB ?? '', identifyLeg(matrix), name ?? ''])
}

export function titleOf(
  { GITHUB_WORKFLOW = '', GITHUB_JOB = '' }: NodeJS.ProcessEnv,
  { matrix, name = '' }: CommentRequest
): string {
  const leg = describeLeg(matrix)
  const job = GITHUB_JOB + (leg === '' ? '' : ` (${leg})`)
  return [GITHUB_WORKFLOW, job, name].filter((part) => part !== '').join(' / ')
}

/**
 * Who writes. A reusable workflow that is called twice, and two steps of a job, have one key: they are told apart by the
 * step, and by the job's place in the run where the runner gives it, else by what is tested. Undefined without a run.
 */
export function writerOf(
  env: NodeJS.ProcessEnv,
  gate: string,
  { subject = '' }: CommentRequest
): CommentWriter | undefined {
  const {
    GITHUB_RUN_ID = '',
    GITHUB_RUN_ATTEMPT = '',
    GITHUB_ACTION = '',
    ACTIONS_ORCHESTRATION_ID = ''
  } = env
  if (!/^\d{1,15}$/.test(GITHUB_RUN_ID)) return undefined
  // It starts with an id of the run, which is another one each time.
  const [, job] = /^[^.]*\.(.+)$/s.exec(ACTIONS_ORCHESTRATION_ID) ?? []
  return {
    run: Number(GITHUB_RUN_ID),
    attempt: /^\d{1,9}$/.test(GITHUB_RUN_ATTEMPT) ? Number(GITHUB_RUN_ATTEMPT) : 1,
    gate,
    step: hash(['step', GITHUB_ACTION]),
    place: job === undefined ? hash(['subject', subject]) : hash(['job', job])
  }
}

/**
 * Where this gate writes. The comment of another gate of the same run and attempt is never written over: beside it stands
 * one of our own. A new run, or a new attempt, takes over what the same gate wrote before.
 */
export function choosePlace(comments: readonly OwnComment[], us: CommentWriter | undefined): Choice {
  const [first] = comments
  if (us === undefined) return first === undefined ? { kind: 'create' } : { kind: 'update', comment: first }
  const ours = comments.find(({ writer }) => writer?.gate === us.gate)
  if (ours !== undefined) return { kind: 'update', comment: ours }
  const candidates = comments.filter(({ writer }) => writer === undefined || couldBeOurs(writer, us))
  const older = candidates.filter(({ writer }) => writer === undefined || compareAge(writer, us) < 0)
  const chosen = older.find((comment) => isSurelyOurs(comment, us)) ?? older[0]
  if (chosen !== undefined) return { kind: 'update', comment: chosen }
  const [newer] = candidates
  return newer === undefined ? { kind: 'create' } : { kind: 'leave', comment: newer }
}

/** Whether there is no need to look at further comments. */
export function isSurelyOurs({ writer }: OwnComment, us: CommentWriter | undefined): boolean {
  if (us === undefined) return true
  if (writer === undefined || !couldBeOurs(writer, us)) return false
  return writer.place === us.place && compareAge(writer, us) < 0
}

/** Whether what stands in a comment that we have just written is of another gate; an older one is what GitHub still shows. */
export function isTakenFrom(us: CommentWriter, writer: CommentWriter | undefined): boolean {
  return writer !== undefined && writer.gate !== us.gate && compareAge(writer, us) >= 0
}

function couldBeOurs(writer: CommentWriter, us: CommentWriter): boolean {
  return writer.step === us.step && compareAge(writer, us) !== 0
}

/** By run, then by attempt. */
function compareAge(one: CommentWriter, other: CommentWriter): number {
  return one.run - other.run || one.attempt - other.attempt
}

function hash(words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
}
