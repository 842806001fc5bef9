import { createHash } from 'node:crypto'
import type { CommentRequest } from '../gate/ports.js'
import type { CommentWriter } from '../report/markdown/comment-marker.js'
import { describeLeg, identifyLeg } from '../report/leg.js'

/** A comment with our key, written by our login. */
export interface OwnComment {
  readonly id: number
  readonly body: string
  /** Undefined if it does not say. */
  readonly writer: CommentWriter | undefined
}

export type Choice =
  /** The older one is removed after the new one is written. */
  | { readonly kind: 'create'; readonly replaces: OwnComment | undefined }
  | { readonly kind: 'update'; readonly comment: OwnComment }
  /** A newer run has commented already. */
  | { readonly kind: 'leave'; readonly comment: OwnComment }

/** One key per workflow, job, matrix leg and given name. */
export function keyOf(
  env: NodeJS.ProcessEnv,
  { matrix, name }: Pick<CommentRequest, 'matrix' | 'name'>,
  more: readonly string[] = []
): string {
  // The file's path without the ref: several workflows may have the same name.
  const workflow = env.GITHUB_WORKFLOW_REF?.split('@')[0] ?? env.GITHUB_WORKFLOW ?? ''
  return hash([workflow, env.GITHUB_JOB ?? '', identifyLeg(matrix), name ?? '', ...more])
}

/** The job's position in the workflow, also inside of reusable ones; undefined if the runner does not provide it. */
export function positionOf({ ACTIONS_ORCHESTRATION_ID = '' }: NodeJS.ProcessEnv): string | undefined {
  // It starts with an id of the run, which differs each time.
  return /^[^.]*\.(.+)$/s.exec(ACTIONS_ORCHESTRATION_ID)?.[1]
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
 * Who writes. A reusable workflow that is called twice, and two steps of a job, have the same key: they are told apart by
 * the step, and by the job's position in the run if the runner provides it, else by what is tested. Undefined without a run.
 */
export function writerOf(
  env: NodeJS.ProcessEnv,
  gate: string,
  { subject = '' }: CommentRequest
): CommentWriter | undefined {
  const { GITHUB_RUN_ID = '', GITHUB_RUN_ATTEMPT = '', GITHUB_ACTION = '' } = env
  if (!/^\d{1,15}$/.test(GITHUB_RUN_ID)) return undefined
  const job = positionOf(env)
  return {
    run: Number(GITHUB_RUN_ID),
    attempt: /^\d{1,9}$/.test(GITHUB_RUN_ATTEMPT) ? Number(GITHUB_RUN_ATTEMPT) : 1,
    gate,
    step: hash(['step', GITHUB_ACTION]),
    place: job === undefined ? hash(['subject', subject]) : hash(['job', job]),
    isJob: job !== undefined
  }
}

/**
 * Where this gate writes. GitHub keeps whatever is written last, however late it arrives, so a gate only writes to a
 * comment that no other gate of its run can mistake for its own: the one it created, the one of its job, or the only one
 * if there was one gate. Any other older comment is replaced: first a new comment is created, then the old one removed,
 * which is harmless if it happens twice.
 */
export function choosePlace(comments: readonly OwnComment[], us: CommentWriter | undefined): Choice {
  const [first] = comments
  if (us === undefined)
    return first === undefined ? { kind: 'create', replaces: undefined } : { kind: 'update', comment: first }
  const ours = comments.find(({ writer }) => writer?.gate === us.gate)
  if (ours !== undefined) return { kind: 'update', comment: ours }
  const newer = comments.filter((comment) => couldBeOurs(comment, us) && !isOlder(comment, us))
  const overtaking = newer.find((comment) => isAtOurPlace(comment, us))
  if (overtaking !== undefined) return { kind: 'leave', comment: overtaking }
  const older = olderOnes(comments, us)
  const same = older.find((comment) => isAtOurPlace(comment, us))
  if (same !== undefined && us.isJob) return { kind: 'update', comment: same }
  const [only, ...further] = older
  if (!us.isJob && only !== undefined && further.length === 0 && isAlone(comments, us))
    return { kind: 'update', comment: only }
  const replaces = same ?? older[0]
  if (replaces === undefined && newer[0] !== undefined) return { kind: 'leave', comment: newer[0] }
  return { kind: 'create', replaces }
}

/**
 * The older comments that those of our run replace, now that they are written: one each, preferably the one at the same
 * place. A job's comment is only removed by the same job, which may be about to write to it.
 */
export function listSuperseded(comments: readonly OwnComment[], us: CommentWriter): OwnComment[] {
  const older = olderOnes(comments, us)
  const fresh = comments.flatMap(({ writer }) =>
    writer?.step === us.step && compareAge(writer, us) === 0 ? [writer] : []
  )
  const left = new Set(older.filter((comment) => !isOutdated(comment, older)))
  const homeless = fresh.filter(({ place }) => {
    const same = [...left].find(({ writer }) => writer?.place === place)
    return same === undefined || !left.delete(same)
  })
  for (const comment of [...left].slice(0, homeless.length)) left.delete(comment)
  return older.filter((comment) => !left.has(comment))
}

/** The comment's number: that of the one it replaces, or the first unused one. */
export function chooseOrdinal(comments: readonly OwnComment[], previous: OwnComment | undefined): number {
  const numberOf = (comment: OwnComment): number => comment.writer?.ordinal ?? comments.indexOf(comment) + 1
  const taken = comments.filter((comment) => comment !== previous).map(numberOf)
  if (previous !== undefined && !taken.includes(numberOf(previous))) return numberOf(previous)
  let ordinal = 1
  while (taken.includes(ordinal)) ordinal++
  return ordinal
}

/** If every gate of the previous run left a comment, one comment means one gate, and the same one is updated in place. */
function isAlone(comments: readonly OwnComment[], us: CommentWriter): boolean {
  return !comments.some(({ writer }) => writer?.step === us.step && compareAge(writer, us) === 0)
}

/** Whether a newer run has written at our place. */
export function isOvertaken(comments: readonly OwnComment[], us: CommentWriter): boolean {
  return comments.some(
    (comment) => couldBeOurs(comment, us) && isAtOurPlace(comment, us) && !isOlder(comment, us)
  )
}

/** Further comments of our job from earlier runs: only our job updates or removes them. */
export function listDoubles(
  comments: readonly OwnComment[],
  us: CommentWriter | undefined,
  kept: OwnComment
): OwnComment[] {
  if (us?.isJob !== true) return []
  return olderOnes(comments, us).filter((comment) => comment !== kept && isAtOurPlace(comment, us))
}

/** Left behind by a run whose comment was superseded by that of a later run. */
function isOutdated({ writer: one }: OwnComment, older: readonly OwnComment[]): boolean {
  if (one === undefined) return false
  return older.some(({ writer: other }) => other?.place === one.place && other.run > one.run)
}

function olderOnes(comments: readonly OwnComment[], us: CommentWriter): OwnComment[] {
  return comments.filter((comment) => couldBeOurs(comment, us) && isOlder(comment, us))
}

function couldBeOurs({ writer }: OwnComment, us: CommentWriter): boolean {
  if (writer === undefined) return true
  if (writer.step !== us.step || compareAge(writer, us) === 0) return false
  return writer.place === us.place || !writer.isJob
}

/** A comment that names no run was written before comments did so. */
function isOlder({ writer }: OwnComment, us: CommentWriter): boolean {
  return writer === undefined || compareAge(writer, us) < 0
}

function isAtOurPlace({ writer }: OwnComment, us: CommentWriter): boolean {
  return writer?.place === us.place
}

/** By run, then by attempt. */
export function compareAge(one: CommentWriter, other: CommentWriter): number {
  return one.run - other.run || one.attempt - other.attempt
}

function hash(words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
}
