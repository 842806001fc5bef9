import { capitalize, count, shorten } from '../../contract/text.js'

const MAX_LINES = 50
const MAX_LENGTH = 10_000
const LOSS = 'load lost: '

/** What to report about the end of a run besides its results. */
export interface Findings {
  /** Why the run did not run to completion. */
  readonly problems: readonly string[]
  /** Load that was requested but not generated, although the run completed. */
  readonly losses: readonly string[]
}

/** `remote_errors`: one line per problem and loss, each once; null if there are none. */
export function formatFindings({ problems, losses }: Findings): string | null {
  const found = [...problems.map(toSentence), ...losses.map((text) => `${LOSS}${toOneLine(text)}`)]
  const lines = listOnce(found)
  return lines.length === 0 ? null : lines.join('\n')
}

/** The report's `warnings`: each doubt once. */
export function formatDoubts(doubts: readonly string[]): string[] {
  return listOnce(doubts.map(toSentence))
}

/** A first word that is the name of a class, a file or a key stays as it is. */
function toSentence(text: string): string {
  return capitalizeWord(joinLines(text))
}

/** A word with a hyphen may be the name of a tool, such as java-selenium-chrome. */
function capitalizeWord(text: string): string {
  return /^[a-z]+(['’][a-z]+)*[\s,:]/.test(text) ? capitalize(text) : text
}

function listOnce(texts: readonly string[]): string[] {
  return fit([...new Set(texts)].filter((text) => text !== ''))
}

/** Whether `remote_errors` reports lost load. */
export function saysLoss(remoteErrors: string | null): boolean {
  return remoteErrors?.split('\n').some((line) => line.startsWith(LOSS)) ?? false
}

/** Readers have their own limits; the first lines say the most. */
function fit(lines: readonly string[]): string[] {
  const kept: string[] = []
  let room = MAX_LENGTH
  for (const line of lines.slice(0, MAX_LINES)) {
    if (room <= 0) break
    kept.push(shorten(line, room))
    room -= line.length + 1
  }
  const left = lines.length - kept.length
  return left === 0 ? kept : [...kept, `and ${count(left, 'more line')}`]
}

/** The tool's lines as sentences: one that follows a full stop begins with a capital. */
export function joinLines(text: string): string {
  const lines = text.split(/[\r\n\u0085\u2028\u2029]+/).map(toOneLine)
  return lines
    .filter((line) => line !== '')
    .map((line, index, all) => (index + 1 === all.length || /[.:;,!?…]$/.test(line) ? line : `${line};`))
    .map((line, index, all) => (/[.!?…]$/.test(all[index - 1] ?? '') ? capitalizeWord(line) : line))
    .join(' ')
}

function toOneLine(text: string): string {
  return text.replace(/\s+/g, ' ').trim()
}
