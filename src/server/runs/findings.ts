const MAX_LINES = 50
const MAX_BYTES = 10_000
const LOSS = 'load lost: '

/** What is to be said of a run's end beside its results. */
export interface Findings {
  /** Why the run did not come to its own end. */
  readonly problems: readonly string[]
  /** Load that was asked for and not made, although the run came to an end. */
  readonly losses: readonly string[]
  /** What may be a mistake and may be meant. */
  readonly doubts?: readonly string[]
}

/** `remote_errors`: one line per problem, then one per loss and per doubt, so that each is told once; null when there is nothing to say. */
export function formatFindings({ problems, losses, doubts = [] }: Findings): string | null {
  const found = [
    ...problems.map(joinLines),
    ...losses.map((text) => `${LOSS}${toOneLine(text)}`),
    ...doubts.map(joinLines)
  ]
  const lines = [...new Set(found)].filter((text) => text !== '')
  return lines.length === 0 ? null : fit(lines).join('\n')
}

/** Whether `remote_errors` tells of lost load. */
export function saysLoss(remoteErrors: string | null): boolean {
  return remoteErrors?.split('\n').some((line) => line.startsWith(LOSS)) ?? false
}

/** Whoever reads it has limits of their own; the first lines say the most. */
function fit(lines: readonly string[]): string[] {
  const kept: string[] = []
  let roomBytes = MAX_BYTES
  for (const line of lines.slice(0, MAX_LINES)) {
    const text = cutToBytes(line, roomBytes)
    if (text === '' && line !== '') break
    kept.push(text)
    roomBytes -= Buffer.byteLength(text) + 1
  }
  const left = lines.length - kept.length
  return left === 0 ? kept : [...kept, `and ${left} more ${left === 1 ? 'line' : 'lines'}`]
}

function cutToBytes(text: string, roomBytes: number): string {
  if (Buffer.byteLength(text) <= roomBytes) return text
  // A character that was cut in two becomes the replacement character, and goes.
  const cut = Buffer.from(text).subarray(0, Math.max(0, roomBytes)).toString('utf8')
  return cut.replace(/\uFFFD$/, '')
}

/** The tool's lines as sentences. */
function joinLines(text: string): string {
  const lines = text.split(/[\r\n\u0085\u2028\u2029]+/).map(toOneLine)
  return lines
    .filter((line) => line !== '')
    .map((line, index, all) => (index + 1 === all.length || /[.:;,!?…]$/.test(line) ? line : `${line};`))
    .join(' ')
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
