import { hasWord, literal, SETTINGS, shorten, warning, type Finding, type RunFile } from './request.js'

/** How the source of a plan reads a value by its name. */
export interface ValueReader {
  /** A call without a default; the name is the first group that matched. */
  readonly calls: RegExp
  /** What a value is if nothing gives it. */
  readonly missing: string
  /** The names under which the source finds a value that was given by this name. */
  names(name: string): readonly string[]
  /** Names that every plan of the tool gets. */
  readonly own?: RegExp
  /** What to do to give this value; `Add -Jname=… to override-parameters` if nothing else is said. */
  give?(name: string): string
  fallback(written: string): string
}

/** Variables that every plan gets, or Java and the tools read themselves. */
export const OWN_VARIABLES =
  /^(?:FLOOD_|K6_|LC_|WEBDRIVER_|(?:PATH|HOME|USER|LOGNAME|LANG|LANGUAGE|TZ|TMPDIR|JAVA_HOME|JMETER_HOME|JVM_ARGS|HEAP|THREAD_ID|ACTIVE_THREADS|BROWSER_ID|SEQUENCE)$)/

/** The environment of Java, which parameters are not part of. */
export const JAVA_ENVIRONMENT: ValueReader = {
  calls: /\bSystem\s*\.\s*getenv\(\s*["']([^"'$\n]{1,200})["']\s*\)/g,
  missing: 'null',
  names: () => [],
  own: OWN_VARIABLES,
  give: (name) => `List a file named environment under files, with the line ${name}=…`,
  fallback: (written) => `${written.replace('getenv(', 'getenv().getOrDefault(').slice(0, -1)}, …)`
}

/** A place where the source reads a value. */
interface Reading {
  readonly file: string
  readonly line: number
  readonly written: string
  readonly isGuarded: boolean
}

/** More would take long in a source of one long line. */
const MOST_READINGS = 200
const LOOKED_AT = 500
const EMPTY = /^\s*(?:""|''|``)\s*(?:[)}\];,\n]|$)/
/** An operator after the value, in the same statement, that handles a missing one. */
const AFTER = /^(?:[^;\n`},?|&=!:.]|,\s*\d+\s*\))*\s*(\|\||\?\?|\?:?(?!\.)|&&|[!=]==?|\.(?:or|getOrElse)\w*)/
const BEFORE =
  /(?:\bif\s*\([^;]*|!\s*|\btypeof\s+|(?:&&|\|\||\?\?|[!=]==?)\s*|\?\s+|\b(?:Option|Optional\.\w+|Objects\.\w+|requireNonNull\w*)\(\s*)$/
const ASSIGNED =
  /\b(?:const|let|var|val|final|String|Integer|Long|int|long)\s+(\w+)(?:\s*:\s*[\w?]+)?\s*=\s*$/

/** Values that the source reads without a fallback and that nothing gives, with the line. In doubt it says nothing. */
export function checkMissingValues(
  reader: ValueReader,
  sources: readonly RunFile[],
  isGiven: (name: string) => boolean
): Finding[] {
  const found = new Map<string, Reading[]>()
  let left = MOST_READINGS
  const files = sources.map((file) => ({ ...file, text: blankComments(file.text ?? '') }))
  for (const { name: file, text } of files)
    for (const match of text.matchAll(reader.calls)) {
      const name = match.slice(1).find(Boolean) ?? ''
      if (isGiven(name) || reader.own?.test(name) || name.includes('.') || --left < 0) continue
      const line = text.slice(0, match.index).split('\n').length
      const isGuarded = isHandled(text, { start: match.index, end: match.index + match[0].length })
      const reading = { file, line, written: match[0], isGuarded }
      found.set(name, [...(found.get(name) ?? []), reading])
    }
  const isSet = (name: string): boolean =>
    files.some(({ text }) => new RegExp(`\\bsetProperty\\(\\s*"${literal(name)}"`).test(text))
  return [...found].flatMap(([name, readings]) => {
    const [first] = readings
    if (first === undefined || isSet(name) || readings.some(({ isGuarded }) => isGuarded)) return []
    const { file, line, written } = first
    const setting = SETTINGS.find((known) => reader.names(known).includes(name))
    const add = reader.give?.(name) ?? `Add -J${name}=… to override-parameters`
    const give = setting === undefined ? add : `Set ${setting}`
    return [
      warning(
        `${file}, line ${line}, reads ${shorten(written)}, and nothing gives it: it would be ${reader.missing}. ${give}, or write a fallback: ${reader.fallback(shorten(written))}.`
      )
    ]
  })
}

/** Whether the code does something about a missing value: a fallback that is not empty, a condition, an assignment. */
function isHandled(text: string, { start, end }: { start: number; end: number }): boolean {
  const before = text.slice(Math.max(text.lastIndexOf('\n', start - 1) + 1, start - LOOKED_AT), start)
  const after = text.slice(end, end + LOOKED_AT)
  if (/^\s*=(?!=)/.test(after) || BEFORE.test(before)) return true
  const operator = AFTER.exec(after)
  const isFallback = operator !== null && ['||', '??'].includes(operator[1] ?? '')
  if (operator !== null) return !(isFallback && EMPTY.test(after.slice(operator[0].length)))
  const [, variable] = ASSIGNED.exec(before) ?? []
  return variable !== undefined && isVariableHandled(text, variable)
}

function isVariableHandled(text: string, variable: string): boolean {
  const handled = new RegExp(
    `\\b${variable}\\b[\\s)]*(?:\\|\\||\\?\\?|\\?(?!\\.)|&&|[!=]==?)|(?:!\\s*|\\btypeof\\s+|\\b(?:if|while)\\s*\\([^;{\\n]{0,200})\\b${variable}\\b`
  )
  return hasWord(text, variable) && handled.test(text)
}

/**
 * The text without comments, and with its lines where they were. An address has two slashes too. Not by a regular expression over
 * several lines: a comment that is never closed would be searched for again and again.
 */
export function blankComments(text: string): string {
  const [start = '', ...pieces] = text.split('/*')
  const code = pieces.map((piece) => {
    const end = piece.includes('*/') ? piece.indexOf('*/') + 2 : piece.length
    return piece.slice(0, end).replace(/[^\n]/g, '') + piece.slice(end)
  })
  return [start, ...code].join(' ').replace(/(^|[\s;,(){}])\/\/.*/g, '$1')
}
