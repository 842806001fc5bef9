import { readElementNames } from './jmeter/plan.js'

const JMETER = /\.jmx$/i
const SOURCE = /\.(?:java|scala|kt|[cm]?[jt]s)$/i
/** In any of the languages of plans; it need not be exact. */
const LITERAL = /"((?:[^"\\\n]|\\.){1,200})"|'((?:[^'\\\n]|\\.){1,200})'|`((?:[^`\\]|\\.){1,200})`/g

/** Whether a plan or a part of one may be in a file of this name. */
export function mayHaveNames(fileName: string): boolean {
  return JMETER.test(fileName) || SOURCE.test(fileName)
}

/** What requests and threads may be named after: a plan's elements, or the literals of its source. */
export function readPlanNames(fileName: string, text: string): string[] {
  if (!SOURCE.test(fileName)) return readElementNames(text)
  return [
    ...new Set([...text.matchAll(LITERAL)].map(([, double, single, back]) => double ?? single ?? back ?? ''))
  ]
}
