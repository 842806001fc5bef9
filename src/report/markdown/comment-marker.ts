/** Which use of the action wrote a comment, and when. Digits and hexadecimal words only: nothing in it can end the marker. */
export interface CommentWriter {
  /** The workflow run's id and attempt: later ones are larger. */
  readonly run: number
  readonly attempt: number
  /** Random; tells the gates of one run apart. */
  readonly gate: string
  /** Of the step within its job: the same from run to run. */
  readonly step: string
  /** Of the job within its run, or of what is tested: mostly the same from run to run. */
  readonly place: string
  /** The place is the job's, and no other job of the run has it. */
  readonly isJob: boolean
  /** Tells comments of one title apart; undefined where the comment does not say. */
  readonly ordinal?: number | undefined
}

const WRITER =
  /^<!-- loadgate gate (\d{1,15}) (\d{1,9}) ([0-9a-f]{8,64}) ([0-9a-f]{8,64}) ([0-9a-f]{8,64})( job)?(?: (\d{1,4}))? -->/

/** The first lines of a comment, which nobody sees. */
export function writeMarker(key: string, writer: CommentWriter | undefined): string {
  if (writer === undefined) return markerOf(key)
  const { run, attempt, gate, step, place, isJob, ordinal } = writer
  const words = [
    run,
    attempt,
    gate,
    step,
    place,
    ...(isJob ? ['job'] : []),
    ...(ordinal === undefined ? [] : [ordinal])
  ]
  return `${markerOf(key)}\n<!-- loadgate gate ${words.join(' ')} -->`
}

/** True for a comment of ours with this key: the marker is its very first line, where no foreign text ever stands. */
export function isCommentOf(comment: string, key: string): boolean {
  return comment.startsWith(markerOf(key))
}

/** Undefined where the comment does not say: it is older than this marker, or somebody has edited it. */
export function readWriter(comment: string): CommentWriter | undefined {
  const [, second = ''] = comment.split(/\r?\n/, 2)
  const [, run, attempt, gate, step, place, job, ordinal] = WRITER.exec(second) ?? []
  if (gate === undefined || step === undefined || place === undefined) return undefined
  return {
    run: Number(run),
    attempt: Number(attempt),
    gate,
    step,
    place,
    isJob: job !== undefined,
    ordinal: ordinal === undefined ? undefined : Number(ordinal)
  }
}

function markerOf(key: string): string {
  return `<!-- loadgate comment ${key} -->`
}
