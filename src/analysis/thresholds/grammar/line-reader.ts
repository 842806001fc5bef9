/* eslint-disable @typescript-eslint/no-confusing-void-expression -- a complaint returns undefined, for whoever reads to return */
import { quote } from '../quoting.js'

const SHOWN_WIDTH = 100
/** After this many problems the rest of a line is not worth reading. */
const MOST_PROBLEMS = 10
const CONTROL_CHARACTER = /[^\P{Cc}\t]/gu

export class LineReader {
  readonly problems: string[] = []
  at = 0
  readonly #line: string
  readonly #lineNumber: number
  /** The line without its comment. */
  readonly #code: string
  #isLost = false

  constructor(line: string, lineNumber: number) {
    this.#line = line
    this.#lineNumber = lineNumber
    this.#code = stripComment(line)
  }

  get isAtEnd(): boolean {
    return this.at >= this.#code.length
  }

  textBetween(start: number, end = this.#code.length): string {
    return this.#code.slice(start, end)
  }

  /** Returns where it ends. */
  skipSpace(): number {
    this.take(/\s*/y)
    return this.at
  }

  /** Consumes what the sticky pattern matches after space, or gives up; `hint` says what is accepted. */
  expect(pattern: RegExp, wanted: string, hint = ''): string | undefined {
    const at = this.skipSpace()
    const words = `expected ${wanted}, but ${this.describeNext()}${hint && `; ${hint}`}`
    return this.take(pattern) ?? this.giveUp(at, words)
  }

  /** Consumes what the sticky pattern matches here. */
  take(pattern: RegExp): string | undefined {
    const text = this.peek(pattern)
    this.at += text?.length ?? 0
    return text
  }

  sees(pattern: RegExp): boolean {
    return this.peek(pattern) !== undefined
  }

  describeNext(): string {
    const word = this.peek(/\S{1,30}/y)
    return word === undefined ? 'the line ends' : `found ${quote(word)}`
  }

  /** Records a problem after which the rest of the line can still be read. */
  complain(at: number, message: string): undefined {
    if (this.#isLost) return
    this.problems.push(this.#render(at, message))
    if (this.problems.length === MOST_PROBLEMS) this.#loseWay()
  }

  /** Records a problem that makes the rest meaningless; further problems are not reported. */
  giveUp(at: number, message: string): undefined {
    this.complain(at, message)
    this.#loseWay()
  }

  #loseWay(): void {
    this.#isLost = true
    this.at = this.#code.length
  }

  peek(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.at
    return pattern.exec(this.#code)?.[0]
  }

  #render(at: number, message: string): string {
    const column = Array.from(this.#line.slice(0, at)).length + 1
    const cutAt = at > SHOWN_WIDTH / 2 && this.#line.length > SHOWN_WIDTH ? at - SHOWN_WIDTH / 2 : 0
    const shown = this.#line.slice(cutAt, cutAt + SHOWN_WIDTH).trimEnd()
    // Tabs stay tabs, so that the caret is under its character whatever their width.
    const indent = this.#line.slice(cutAt, at).replace(/[^\t]/gu, ' ')
    return [
      `line ${this.#lineNumber}, column ${column}: ${message}`,
      `  ${shown}`.replace(CONTROL_CHARACTER, '\uFFFD'),
      `  ${indent}^`
    ].join('\n')
  }
}

/** Cuts from the first `#` outside quotes. */
function stripComment(line: string): string {
  let isQuoted = false
  for (let at = 0; at < line.length; at++) {
    const character = line[at]
    if (character === '\\' && isQuoted) at++
    else if (character === '"') isQuoted = !isQuoted
    else if (character === '#' && !isQuoted) return line.slice(0, at)
  }
  return line
}

/** Anything that may be meant as a number, so that it is rejected as a whole and not in part. */
const NUMBER_LIKE = /[+-]?(?:0x[\da-f]*|\.?\d(?:[.,_]?\d)*\.?(?:e[+-]?\d+)?)/iy
const PLAIN_NUMBER = /^\d+(?:\.\d+)?$/u
const MOST_CHARACTERS = 20

/** The digits as written: conversions shift their decimal point, so there is no rounding. */
export function readPlainNumber(
  reader: LineReader,
  subject: 'a limit' | 'an allowance',
  example: string
): string | undefined {
  const at = reader.skipSpace()
  const word = reader.expect(NUMBER_LIKE, 'a number', `such as ${example}`)
  if (word === undefined) return undefined
  if (word.startsWith('-')) {
    const fix = subject === 'a limit' ? '' : `: write it without that sign, such as ${example}`
    return reader.complain(at, `${subject} is never negative, but ${quote(word)} is${fix}`)
  }
  if (!PLAIN_NUMBER.test(word))
    return reader.complain(
      at,
      `${quote(word)} is not a plain number; digits with or without decimals, such as 1200 or 0.5`
    )
  if (word.length > MOST_CHARACTERS)
    return reader.complain(at, `the number is too long; at most ${MOST_CHARACTERS} characters`)
  return word
}
