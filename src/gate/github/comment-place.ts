import { createHash } from 'node:crypto'
import type { CommentRequest } from '../ports.js'
import { type CommentWriter, describeLeg, identifyLeg } from '../../report/markdown/comment-marker.js'

/** A comment with our key, written by our login. */
export interface OwnComment {
  readonly id: number
  readonly body: string
  readonly writer: CommentWriter
}

/** A comment that names no writer, or whose marker someone has edited, is older than any run and anybody's. */
export const UNKNOWN_WRITER: CommentWriter = {
  run: 0,
  attempt: 0,
  gate: '',
  step: '',
  place: '',
  isJob: false
}

export interface Choice {
  /** What to update; undefined to create a comment, and `'leave'` if a newer run has commented already. */
  readonly comment: OwnComment | 'leave' | undefined
  /** The older comment whose history and number the new text takes over. */
  readonly previous: OwnComment | undefined
}

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
 * the step, and by the job's position in the run if the runner provides it, else by what is tested.
 */
export function writerOf(
  env: NodeJS.ProcessEnv,
  gate: string,
  { subject = '' }: CommentRequest
): CommentWriter {
  const { GITHUB_RUN_ID = '', GITHUB_RUN_ATTEMPT = '', GITHUB_ACTION = '' } = env
  const job = positionOf(env)
  return {
    // Without an id, what is written later counts as newer.
    run: /^\d{1,15}$/.test(GITHUB_RUN_ID) ? Number(GITHUB_RUN_ID) : Date.now(),
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
export function choosePlace(comments: readonly OwnComment[], us: CommentWriter): Choice {
  const ours = comments.find(({ writer }) => writer.gate === us.gate)
  if (ours !== undefined) return { comment: ours, previous: ours }
  const { older, newer, fresh } = sortByAge(comments, us)
  const previous = older.find(({ writer }) => writer.place === us.place) ?? older[0]
  if (isOvertaken(comments, us) || (previous === undefined && newer.length > 0))
    return { comment: 'leave', previous }
  const isSure = us.isJob ? previous?.writer.place === us.place : older.length === 1 && fresh.length === 0
  return { comment: isSure ? previous : undefined, previous }
}

/** Whether a newer run has written at our place. */
export function isOvertaken(comments: readonly OwnComment[], us: CommentWriter): boolean {
  return sortByAge(comments, us).newer.some(({ writer }) => writer.place === us.place)
}

/** Superseded comments: those at our place if it was updated there; else an older one per comment of our run, preferably at its place. */
export function listSuperseded(
  comments: readonly OwnComment[],
  us: CommentWriter,
  { isInPlace }: { isInPlace: boolean }
): OwnComment[] {
  const { older, fresh } = sortByAge(comments, us)
  if (isInPlace) return older.filter(({ writer }) => writer.place === us.place)
  const isOutdated = ({ writer: { place, run } }: OwnComment): boolean =>
    older.some(({ writer }) => place !== '' && writer.place === place && writer.run > run)
  const isMatched = ({ writer: { place } }: OwnComment): boolean =>
    fresh.some(({ writer }) => writer.place === place)
  const current = older.filter((comment) => !isOutdated(comment))
  const replaced = [...current.filter(isMatched), ...current.filter((comment) => !isMatched(comment))]
  return [...older.filter(isOutdated), ...replaced.slice(0, fresh.length)]
}

/** The comment's number: that of the one it replaces, or the first unused one. */
export function chooseOrdinal(comments: readonly OwnComment[], previous: OwnComment | undefined): number {
  const numberOf = (comment: OwnComment): number => comment.writer.ordinal ?? comments.indexOf(comment) + 1
  const taken = comments.filter((comment) => comment !== previous).map(numberOf)
  if (previous !== undefined && !taken.includes(numberOf(previous))) return numberOf(previous)
  let ordinal = 1
  while (taken.includes(ordinal)) ordinal++
  return ordinal
}

/** The comments of our step in our run, and in others if they could be ours: a job's comment is only touched by that job. */
function sortByAge(
  comments: readonly OwnComment[],
  us: CommentWriter
): Record<'older' | 'fresh' | 'newer', OwnComment[]> {
  const ofStep = comments.filter(({ writer: { step } }) => step === us.step || step === '')
  const ageOf = ({ writer }: OwnComment): number => writer.run - us.run || writer.attempt - us.attempt
  const couldBeOurs = ofStep.filter(({ writer }) => writer.place === us.place || !writer.isJob)
  return {
    older: couldBeOurs.filter((comment) => ageOf(comment) < 0),
    fresh: ofStep.filter((comment) => ageOf(comment) === 0),
    newer: couldBeOurs.filter((comment) => ageOf(comment) > 0)
  }
}

function hash(words: readonly string[]): string {
  return createHash('sha256').update(JSON.stringify(words)).digest('hex').slice(0, 32)
}
