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
  /** The older one is removed once the new one stands. */
  | { readonly kind: 'create'; readonly replaces: OwnComment | undefined }
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
    place: job === undefined ? hash(['subject', subject]) : hash(['job', job]),
    isJob: job !== undefined
  }
}

/**
 * Where this gate writes. GitHub keeps whatever is written last, however late it arrives, so a gate only ever writes to a
 * comment that no other gate of its run can take for its own: the one it made itself, the one of its job, or the only one
 * where there was one gate. Anything else that is older is replaced: a new comment first, then the removal of the old one,
 * which harms nobody if it comes twice.
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
 * The older comments that those of our run stand for, now that they are written: each for one, the one at its own place
 * if there is any. A job's comment is only removed by the same job, which may be about to write to it.
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

/** What the comment is numbered by: as the one it comes after, or the first number that no other has. */
export function chooseOrdinal(comments: readonly OwnComment[], previous: OwnComment | undefined): number {
  const numberOf = (comment: OwnComment): number => comment.writer?.ordinal ?? comments.indexOf(comment) + 1
  const taken = comments.filter((comment) => comment !== previous).map(numberOf)
  if (previous !== undefined && !taken.includes(numberOf(previous))) return numberOf(previous)
  let ordinal = 1
  while (taken.includes(ordinal)) ordinal++
  return ordinal
}

/** Where every gate of the run before left a comment, one comment means one gate, and the same one is updated in place. */
function isAlone(comments: readonly OwnComment[], us: CommentWriter): boolean {
  return !comments.some(({ writer }) => writer?.step === us.step && compareAge(writer, us) === 0)
}

/** Whether a newer run has written at our place. */
export function isOvertaken(comments: readonly OwnComment[], us: CommentWriter): boolean {
  return comments.some(
    (comment) => couldBeOurs(comment, us) && isAtOurPlace(comment, us) && !isOlder(comment, us)
  )
}

/** Further comments of our job from earlier runs: nobody else updates or removes them. */
export function listDoubles(
  comments: readonly OwnComment[],
  us: CommentWriter | undefined,
  kept: OwnComment
): OwnComment[] {
  if (us?.isJob !== true) return []
  return olderOnes(comments, us).filter((comment) => comment !== kept && isAtOurPlace(comment, us))
}

/** Left behind by a run whose comment was followed by one of a later run. */
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

/** What does not say of which run it is was written before comments said so. */
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
