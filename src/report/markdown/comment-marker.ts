/** Which use of the action wrote a comment, and when. Only digits and hexadecimal words: nothing in it can end the marker. */
export interface CommentWriter {
  /** The workflow run's id and attempt: later ones are larger. */
  readonly run: number
  readonly attempt: number
  /** Random; tells the gates of one run apart. */
  readonly gate: string
  /** Identifies the step within its job: the same from run to run. */
  readonly step: string
  /** Identifies the job within its run, or what is tested: usually the same from run to run. */
  readonly place: string
  /** The place identifies the job; no other job of the run has it. */
  readonly isJob: boolean
  /** Tells comments with the same title apart; undefined if the comment does not say. */
  readonly ordinal?: number | undefined
}

const WRITER =
  /^<!-- loadgate gate (\d{1,15}) (\d{1,9}) ([0-9a-f]{8,64}) ([0-9a-f]{8,64}) ([0-9a-f]{8,64})( job)?(?: (\d{1,4}))? -->/

/** The first lines of a comment, invisible when rendered. */
export function writeMarker(key: string, writer: CommentWriter | undefined): string {
  if (writer === undefined) return markerOf(key)
  const { run, attempt, gate, step, place, isJob, ordinal } = writer
  const words = [run, attempt, gate, step, place, isJob ? 'job' : undefined, ordinal]
  return `${markerOf(key)}\n<!-- loadgate gate ${words.filter((word) => word !== undefined).join(' ')} -->`
}

/** True for our comment with this key: the marker is its very first line, which never contains foreign text. */
export function isCommentOf(comment: string, key: string): boolean {
  return comment.startsWith(markerOf(key))
}

/** Undefined if the comment does not say: it predates this marker, or someone has edited it. */
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

const MOST_CHARACTERS = 100

/** The leg of a matrix as in the job's name, `eu, 20`; empty without a matrix. */
export function describeLeg(matrix: string): string {
  const words = leavesOf(readMatrix(matrix)).join(', ')
  const characters = Array.from(words)
  return characters.length > MOST_CHARACTERS ? `${characters.slice(0, MOST_CHARACTERS - 1).join('')}…` : words
}

/** The same text for the same leg, whatever the order of its keys. */
export function identifyLeg(matrix: string): string {
  const leg = readMatrix(matrix)
  return leg === undefined ? '' : JSON.stringify(Object.entries(leg).sort(([a], [b]) => (a < b ? -1 : 1)))
}

/** Without a matrix the expression gives `null`; people may pass anything. */
function readMatrix(matrix: string): object | undefined {
  try {
    const leg: unknown = JSON.parse(matrix)
    return typeof leg === 'object' && leg !== null && Object.keys(leg).length > 0 ? leg : undefined
  } catch {
    return undefined
  }
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return value === null ? [] : [typeof value === 'string' ? value : JSON.stringify(value)]
}
