import { joinClauses, shorten } from '../../contract/text.js'

const MOST_LINES = 50
const LONGEST_LINE = 500
const LONGEST_QUOTE = 500
/** Only an attack on the stack goes deeper. */
const DEEPEST = 6
/** How a service reports that part of the load did not run. A log may put a time, a level or brackets before it, and Java a "Caused by". */
const LOAD_LOST =
  /^\s*((?:\[[^\]]*\][\s:|-]*|(?:trace|debug|info|warn|warning|error|fatal|severe|caused by|suppressed)[\s:|-]+|\d[\dTZ:.,+/-]*\s+)*)load lost:\s*/i

/** A line of a stack trace, or Java's note about those left out: nobody reads them here. */
const FRAME = /^\s*(?:at\s+\S+\s*\(.*\)?|\.\.\. \d+ (?:more|common frames omitted))\s*$/

/** What the embedded service says about a run that was stopped. */
const STOPPED = /^\s*load lost:\s*stopped by a caller\b/i

/** The service's errors, line by line, whatever their format: text, a list, an object, each possibly as JSON. */
export function listRemoteErrors(text: string | undefined): string[] {
  const lines = linesOf(text === undefined ? '' : parse(text)).map((line) => shorten(line, LONGEST_LINE))
  const known = [...new Set(lines.filter((line) => line !== ''))]
  if (known.length <= MOST_LINES) return known
  // Lines that decide the verdict are never left out.
  return worstFirst(known)
    .slice(0, MOST_LINES)
    .concat(`and ${known.length - MOST_LINES} more lines`)
}

export function joinRemoteErrors(earlier: string | undefined, later: string | undefined): string | undefined {
  if (earlier === undefined || later === undefined || earlier === later) return later ?? earlier
  return JSON.stringify([parse(earlier), parse(later)])
}

export function lostLoad(lines: readonly string[]): string[] {
  return lines.filter(isLoss).map((line) => line.replace(LOAD_LOST, '$1'))
}

/** The lines without the one about a stop, for when the gate itself has stopped the run. */
export function withoutOwnStop(lines: readonly string[]): string[] {
  return lines.filter((line) => !STOPPED.test(line))
}

export function wasStopped(lines: readonly string[]): boolean {
  return lines.some((line) => STOPPED.test(line))
}

export function worstFirst(lines: readonly string[]): string[] {
  return [true, false].flatMap((isWanted) => lines.filter((line) => isLoss(line) === isWanted))
}

function isLoss(line: string): boolean {
  return LOAD_LOST.test(line)
}

export function quoteLines(lines: readonly string[]): string {
  return shorten(joinClauses(lines), LONGEST_QUOTE)
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

function linesOf(value: unknown, depth = 0): string[] {
  if (value === null || value === undefined || value === false || value === 0) return []
  if (depth > DEEPEST) return ['…']
  if (typeof value === 'string')
    return value.split(/[\r\n\u0085\u2028\u2029]+/).filter((line, i) => i === 0 || !FRAME.test(line))
  if (Array.isArray(value)) return value.flatMap((inner) => linesOf(inner, depth + 1))
  if (typeof value === 'object')
    return Object.entries(value).flatMap(([key, inner]) =>
      linesOf(inner, depth + 1).map((line) => nameLine(key, line))
    )
  return [JSON.stringify(value)]
}

/** `load lost:` stays at the start. */
function nameLine(key: string, line: string): string {
  return isLoss(line) ? `load lost: ${key}: ${line.replace(LOAD_LOST, '$1')}` : `${key}: ${line}`
}
