import type { ToolLine } from '../analysis/thresholds/judge/tool-lines.js'

/** What a plan itself says must hold, as the tool of one node judged it by the node's own requests. */
export interface NodeLine {
  readonly text: string
  readonly holds: boolean
  /** Why it is broken, or cannot be judged. */
  readonly reason?: string
  /** The tool had nothing to judge it by, whatever it says. */
  readonly isEmpty?: boolean
  /** If it is broken on this node, it has ended the test there. */
  readonly endsTest?: boolean
  readonly joins?: Joins
}

/** What several nodes' figures say of the figure over all requests; without one, a line that is broken on a node is broken. */
export type Joins =
  /** It lies between theirs, as an average and a percentile do. */
  | { readonly by: 'range'; readonly isOneSided: boolean }
  /** It is their sum, as a count is; or a share, whose parts and wholes are added up. */
  | { readonly by: 'sum'; readonly part: number; readonly whole?: number; readonly limit: Limit }
  | { readonly by: 'nothing' }

/** `between` and `inside` have two numbers, which the first one includes; `in` has any number of them. */
export interface Limit {
  readonly operator: '<' | '<=' | '>' | '>=' | '==' | '!=' | 'between' | 'inside' | 'in'
  readonly numbers: readonly number[]
}

function keepsTo({ operator, numbers }: Limit, figure: number): boolean {
  const [first = NaN, second = NaN] = numbers
  const tests: Readonly<Record<Limit['operator'], boolean>> = {
    '<': figure < first,
    '<=': figure <= first,
    '>': figure > first,
    '>=': figure >= first,
    '==': figure === first,
    '!=': figure !== first,
    between: figure >= first && figure <= second,
    inside: figure > first && figure < second,
    in: numbers.includes(figure)
  }
  return tests[operator]
}

/** For averages, percentiles and the like. If all nodes' figures keep to the limit, so does any figure between them. */
export function joinsOfRange(limit: Limit | undefined): Joins {
  if (limit === undefined || ['!=', 'in'].includes(limit.operator)) return { by: 'nothing' }
  return { by: 'range', isOneSided: /^[<>]/.test(limit.operator) }
}

/** The same for the largest and the smallest: a value that is over the limit on one node is over it in all. */
export function joinsOfExtreme(figure: 'max' | 'min', limit: Limit | undefined): Joins | undefined {
  const isUpper = limit?.operator.startsWith('<') === true
  const isLower = limit?.operator.startsWith('>') === true
  return (figure === 'max' ? isUpper : isLower) ? undefined : joinsOfRange(limit)
}

/** The lines of a run from those of each of its nodes; `isComplete` if none of them had a problem or lost load. */
export function joinNodeLines(nodes: readonly (readonly NodeLine[])[], isComplete = true): ToolLine[] {
  const byText = new Map<string, NodeLine[]>()
  for (const lines of nodes.map(listOnce))
    for (const line of lines) byText.set(line.text, [...(byText.get(line.text) ?? []), line])
  return [...byText].map(([text, lines]) => ({ text, ...joinLine(lines, isComplete) }))
}

/** A plan may have the same line twice. */
function listOnce(lines: readonly NodeLine[]): NodeLine[] {
  const byText = new Map<string, NodeLine>()
  for (const line of lines) if (byText.get(line.text)?.holds !== false) byText.set(line.text, line)
  return [...byText.values()]
}

type Joined = Pick<ToolLine, 'holds' | 'reason'>

function joinLine(lines: readonly NodeLine[], isComplete: boolean): Joined {
  const judged = lines.filter(({ isEmpty }) => !isEmpty)
  const [one] = judged
  if (one === undefined) {
    const isBroken = lines.some(({ holds }) => !holds)
    const reason = lines[0]?.reason
    return { holds: isBroken ? false : null, ...(reason !== undefined && { reason }) }
  }
  const broken = judged.filter(({ holds }) => !holds)
  const isAtLeast = one.joins?.by === 'sum' && one.joins.limit.operator.startsWith('>')
  // What was lost could have been enough.
  if (!isComplete && isAtLeast && broken.length > 0)
    return { holds: null, reason: 'part of the load was lost, and the rest is not enough' }
  if (broken.some(({ endsTest, joins }) => endsTest === true || joins === undefined)) return { holds: false }
  return one.joins === undefined || judged.length === 1
    ? { holds: one.holds }
    : joinFigures(judged, one.joins)
}

function joinFigures(lines: readonly NodeLine[], joins: Joins): Joined {
  const held = lines.filter(({ holds }) => holds).length
  // Figures on both sides of a band are both broken, and the one between them may be within it.
  const isSame = held === lines.length || (held === 0 && joins.by === 'range' && joins.isOneSided)
  if (joins.by === 'sum') return addUp(lines, joins.limit)
  if (joins.by === 'range' && isSame) return { holds: held > 0 }
  return {
    holds: null,
    reason: `each node judged its own requests, and it holds on ${held} of ${lines.length}, which does not say whether it holds for all requests together; a line in the gate's thresholds judges those of all nodes`
  }
}

function addUp(lines: readonly NodeLine[], limit: Limit): Joined {
  const sums = lines.flatMap(({ joins }) => (joins?.by === 'sum' ? joins : []))
  const part = sum(sums.map((each) => each.part))
  const isShare = sums.some(({ whole }) => whole !== undefined)
  const figure = isShare ? part / sum(sums.map(({ whole = 0 }) => whole)) : part
  if (!Number.isFinite(figure) || sums.length < lines.length)
    return { holds: null, reason: 'the figures of the nodes cannot be added up' }
  const shown = Number(figure.toPrecision(6))
  return keepsTo(limit, figure)
    ? { holds: true }
    : { holds: false, reason: `the ${lines.length} nodes together have ${shown}` }
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}
