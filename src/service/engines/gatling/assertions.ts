import { joinsOfExtreme, joinsOfRange, type Joins, type Limit, type NodeLine } from '../../node-lines.js'

/** `Global: percentage of failed events is less than 1.0 : false (actual : 50.0)`; the end differs between the nodes of a run. */
const ASSERTION = /^(.+) : (true|false) \((?:actual : (.*)|(Could not find stats .*))\)$/
const FIGURE =
  /(?:^|: )(?:(count of|percentage of) \S+ events|(mean requests per second)|(.+) of response time) is (.+)$/
const NO_REQUEST = 'Gatling has no request or group of that name, or none was executed: check the name'

/** An assertion of the simulation, as Gatling prints it at the end; undefined if the line is something else. */
export function readAssertion(line: string): NodeLine | undefined {
  const [, text, holds, actual = '', notFound] = ASSERTION.exec(line) ?? []
  if (text === undefined) return undefined
  if (notFound !== undefined) return { text, holds: holds === 'true', isEmpty: true, reason: NO_REQUEST }
  const joins = findJoins(text, Number(actual))
  return { text, holds: holds === 'true', ...(joins && { joins }) }
}

function findJoins(text: string, actual: number): Joins | undefined {
  const [, events, perSecond, time, condition = ''] = FIGURE.exec(text) ?? []
  const limit = readLimit(condition)
  if (events === 'count of' || perSecond !== undefined)
    return limit === undefined ? { by: 'nothing' } : { by: 'sum', part: actual, limit }
  const figure = time?.split(': ').at(-1)
  if (figure === 'max' || figure === 'min') return joinsOfExtreme(figure, limit)
  // It may be larger over all requests than on each node.
  return figure === 'standard deviation' ? { by: 'nothing' } : joinsOfRange(limit)
}

const OPERATORS = [
  ['less than or equal to', '<='],
  ['less than', '<'],
  ['greater than or equal to', '>='],
  ['greater than', '>'],
  ['between', 'between'],
  ['in', 'in'],
  ['', '==']
] as const

/** `less than 10.0`, `between 1.0 and 2.0E7 inclusive`, `in List(16.0, 8.0)`, `8.0`. */
function readLimit(condition: string): Limit | undefined {
  const [words, operator] = OPERATORS.find(([start]) => condition.startsWith(start)) ?? ['', '==']
  const numbers = (condition.slice(words.length).match(/-?\d[\d.]*(?:E-?\d+)?/g) ?? []).map(Number)
  if (numbers.length === 0 || numbers.some((number) => !Number.isFinite(number))) return undefined
  const isOpen = operator === 'between' && !condition.endsWith(' inclusive')
  return { operator: isOpen ? 'inside' : operator, numbers }
}
