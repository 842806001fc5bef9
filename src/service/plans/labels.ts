import { readSamplerNames } from './names.js'

const JVM_SOURCE = /\.(?:java|scala|kt)$/i
const SCRIPT = /\.[cm]?[jt]s$/i

/** One of three kinds of quotes, and what is between them: not too much, or a quote that is never closed is searched for again and again. */
const LITERAL = String.raw`(["'\x60])((?:(?!\1)[^\\\n]|\\.){0,300})\1`
/** A literal is kept as it is: an address in it contains what looks like a comment. */
const LITERAL_OR_COMMENT = new RegExp(String.raw`${LITERAL}|/\*|//.*`, 'g')
/** What names a row of the results: requests of Gatling, transactions of Selenium, steps (a condition or a count comes first), requests of k6. */
const NAMING = {
  jvm: String.raw`\bhttp\s*\(|\bstart_transaction\s*\(|\b(?:passed|failed)_transaction\s*\(\s*\w+\s*,|@DisplayName\s*\(`,
  script: String.raw`\bstep(?:\.once)?\s*\(|\bstep\.(?:if|unless|while|repeat)\s*\([^'"\n]{0,200}?,|\btags\s*:\s*\{\s*name\s*:`
}

/** Whether labels may be in a file of this name, beside those of the plan. */
export function isSource(fileName: string): boolean {
  return JVM_SOURCE.test(fileName) || SCRIPT.test(fileName)
}

/** The labels that a plan's samples will have, as far as its text shows them. A literal that is part of an expression is none. */
export function readLabels(fileName: string, text: string): string[] {
  if (!isSource(fileName)) return readSamplerNames(text)
  const code = removeComments(text)
  const naming = JVM_SOURCE.test(fileName) ? NAMING.jvm : NAMING.script
  const matches = code.matchAll(new RegExp(String.raw`(?:${naming})\s*${LITERAL}\s*[,)}]`, 'g'))
  const labels = [...matches].map(([, , label = '']) => label.replace(/\\(["'`\\])/g, '$1'))
  return [...new Set(labels)].filter((label) => label !== '')
}

function removeComments(text: string): string {
  const token = new RegExp(LITERAL_OR_COMMENT)
  const lastEnd = text.lastIndexOf('*/')
  const kept: string[] = []
  let at = 0
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [found, quote] = match
    // A comment that is never closed is none.
    if (quote !== undefined || (found === '/*' && lastEnd < match.index + 2)) continue
    kept.push(text.slice(at, match.index))
    at = found === '/*' ? text.indexOf('*/', match.index + 2) + 2 : token.lastIndex
    token.lastIndex = at
  }
  return [...kept, text.slice(at)].join('')
}
