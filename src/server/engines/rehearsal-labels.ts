import { readSamplerNames } from './jmeter/plan.js'

const JVM_SOURCE = /\.(?:java|scala|kt)$/i
const SCRIPT = /\.[cm]?[jt]s$/i

const LITERAL = String.raw`(?:"((?:[^"\\\n]|\\.)*)"|'((?:[^'\\\n]|\\.)*)'|` + '`((?:[^`\\\\]|\\\\.)*)`)'
/** A literal is kept as it is: an address in it contains what looks like a comment. */
const LITERAL_OR_COMMENT = new RegExp(String.raw`(${LITERAL})|/\*[^]*?\*/|//.*`, 'g')

/** What names a row of the results. A literal that is only a part of an expression is no name. */
const IN_JVM_SOURCE = named([
  // Gatling.
  String.raw`\bhttp\s*\(\s*`,
  // Selenium.
  String.raw`\bstart_transaction\s*\(\s*`,
  String.raw`\b(?:passed|failed)_transaction\s*\(\s*\w+\s*,\s*`,
  String.raw`@DisplayName\s*\(\s*`
])
const IN_SCRIPT = named([
  String.raw`\bstep(?:\.once)?\s*\(\s*`,
  // The condition or the count comes first.
  String.raw`\bstep\.(?:if|unless|while|repeat)\s*\([^'"\n]*?,\s*`
])

function named(calls: readonly string[]): RegExp {
  return new RegExp(String.raw`(?:${calls.join('|')})${LITERAL}\s*[,)]`, 'g')
}

/** Whether labels may be in a file of this name, beside those of the plan. */
export function isSource(fileName: string): boolean {
  return JVM_SOURCE.test(fileName) || SCRIPT.test(fileName)
}

/** The labels that a plan's samples will have, as far as its text shows them. */
export function readLabels(fileName: string, text: string): string[] {
  if (!isSource(fileName)) return readSamplerNames(text)
  const code = text.replace(LITERAL_OR_COMMENT, (_, literal: string | undefined) => literal ?? '')
  const matches = code.matchAll(JVM_SOURCE.test(fileName) ? IN_JVM_SOURCE : IN_SCRIPT)
  const labels = [...matches].map(([, double, single, back]) => unescape(double ?? single ?? back ?? ''))
  return [...new Set(labels)].filter((label) => label !== '')
}

function unescape(literal: string): string {
  return literal.replace(/\\(["'`\\])/g, '$1')
}
