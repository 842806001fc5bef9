import { joinsOfExtreme, joinsOfRange, type Joins, type Limit, type NodeLine } from '../../node-lines.js'
import { readRegularSync } from '../../regular-file.js'
import type { TestOptions } from './options.js'

/** What k6's summary says about a metric: its figures, and whether the thresholds on it hold. */
interface Metric {
  readonly thresholds?: Readonly<Record<string, unknown>>
  readonly [figure: string]: unknown
}

interface Summary {
  /** As k6 counted them. */
  readonly requests: number
  /** `metric expression` of every threshold that k6 has judged. */
  readonly lines: readonly NodeLine[]
}

/** Undefined if there is none, or it is not k6's. */
export function readSummary(file: string, options: TestOptions): Summary | undefined {
  const metrics = readMetrics(file)
  if (metrics === undefined) return undefined
  const ending = new Set(listThresholds(options).flatMap(({ text, endsTest }) => (endsTest ? [text] : [])))
  const lines = Object.entries(metrics).flatMap(([name, metric]) =>
    Object.entries(metric.thresholds ?? {}).flatMap(([expression, said]): NodeLine[] => {
      const isCrossed = readCrossed(said)
      const text = lineOf(name, expression)
      if (isCrossed === undefined) return []
      const judged = describeFigure(name, metric, expression)
      return [{ text, holds: !isCrossed, ...judged, ...(ending.has(text) && { endsTest: true }) }]
    })
  )
  // k6 writes them in any order.
  lines.sort((one, other) => (one.text < other.text ? -1 : 1))
  return { requests: numberOf(metrics.http_reqs?.count) ?? 0, lines }
}

/** More than the figures of many thousand metrics. */
const MOST_BYTES = 64 * 2 ** 20

function readMetrics(file: string): Readonly<Record<string, Metric>> | undefined {
  try {
    const { metrics } = JSON.parse(readRegularSync(file, MOST_BYTES)) as { metrics?: Record<string, Metric> }
    return typeof metrics === 'object' ? metrics : undefined
  } catch {
    return undefined
  }
}

interface ScriptThreshold {
  readonly text: string
  /** `abortOnFail`. */
  readonly endsTest: boolean
}

export function listThresholds({ thresholds }: TestOptions): ScriptThreshold[] {
  return Object.entries(thresholds ?? {}).flatMap(([metric, expressions]) =>
    expressions.map((each) => {
      const { threshold = each, abortOnFail } = Object(each) as { threshold?: unknown; abortOnFail?: unknown }
      return { text: lineOf(metric, String(threshold)), endsTest: abortOnFail === true }
    })
  )
}

function lineOf(metric: string, expression: string): string {
  return `${metric} ${expression.trim()}`
}

/** `true` stands for a crossed one; newer forms say whether it is ok. */
function readCrossed(said: unknown): boolean | undefined {
  if (typeof said === 'boolean') return said
  const { ok } = Object(said) as { ok?: unknown }
  return typeof ok === 'boolean' ? !ok : undefined
}

const NO_SAMPLES = "k6 has no samples for it: check the metric's name and its tags"
const ONLY_ZEROS =
  'k6 has no samples for it, or only zeros, which its summary does not tell apart: check the name and the tags of the metric, or make it a Trend'
const GAUGES_OF_LOAD = ['vus', 'vus_max']

type Figure = Pick<NodeLine, 'joins' | 'isEmpty' | 'reason'>

/** Whether k6 had samples to judge by, for without any it says that a threshold holds; and how the nodes' figures become one. */
function describeFigure(name: string, metric: Metric, expression: string): Figure {
  const { figure, limit } = readExpression(expression)
  const empty = { isEmpty: true, reason: NO_SAMPLES }
  const { passes, fails, count, rate, value } = metric
  if (passes !== undefined) {
    const [part, whole] = [numberOf(passes) ?? 0, (numberOf(passes) ?? 0) + (numberOf(fails) ?? 0)]
    return whole === 0 ? empty : { joins: limit ? { by: 'sum', part, whole, limit } : { by: 'nothing' } }
  }
  // A Counter without samples counts as 0: `errors count<10` holds without an error.
  if (count !== undefined && rate !== undefined)
    return { joins: joinsOfSum(figure === 'rate' ? rate : count, limit) }
  if (value !== undefined) {
    const isZero = [value, metric.min, metric.max].every((each) => each === 0)
    if (isZero) return { isEmpty: true, reason: ONLY_ZEROS }
    return { joins: GAUGES_OF_LOAD.includes(name) ? joinsOfSum(value, limit) : joinsOfRange(limit) }
  }
  if (!numberOf(count)) return empty
  if (figure === 'count') return { joins: joinsOfSum(count, limit) }
  const joins = figure === 'max' || figure === 'min' ? joinsOfExtreme(figure, limit) : joinsOfRange(limit)
  return joins === undefined ? {} : { joins }
}

function joinsOfSum(figure: unknown, limit: Limit | undefined): Joins {
  const part = numberOf(figure)
  return part === undefined || limit === undefined ? { by: 'nothing' } : { by: 'sum', part, limit }
}

const EXPRESSION = /^\s*(\w+|p\([^)]*\))\s*(<=|>=|===?|!=|<|>)\s*(\S+)\s*$/

/** `p(95) < 200`; without a limit if the form is not in k6's documentation. */
function readExpression(text: string): { figure: string; limit?: Limit } {
  const [, figure = '', operator = '', number = ''] = EXPRESSION.exec(text) ?? []
  if (number === '' || !Number.isFinite(Number(number))) return { figure }
  const limit = { operator: operator === '===' ? '==' : operator, numbers: [Number(number)] }
  return { figure, limit: limit as Limit }
}

function numberOf(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isFinite(value) ? value : undefined
}
