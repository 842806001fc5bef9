/* eslint-disable @typescript-eslint/no-confusing-void-expression -- a complaint returns undefined, for whoever reads to return */
import { type LineReader, readPlainNumber } from './line-reader.js'
import { suggestWord } from '../../../contract/nearest.js'
import { factsOf, type AllowanceUnit, type BaselineRule, type NamedMetric } from '../metrics.js'
import type { Allowance, BaselineThreshold } from './threshold.js'
import { quote } from '../quoting.js'

/** What is known about the line; without a rule only numbers are looked for. */
interface Subject {
  readonly metric: NamedMetric | undefined
  readonly rule: BaselineRule | undefined
  readonly isSignChecked: boolean
}

const ANY_EXAMPLE = '10%'

/** The direction in which a metric gets worse, and the operators that allow it to get better without limit; the usual one first. */
export function directionOf(metric: Pick<NamedMetric, 'metric'>): {
  readonly sign: '+' | '-'
  readonly operators: readonly BaselineThreshold['operator'][]
} {
  return factsOf(metric).better === 'lower'
    ? { sign: '+', operators: ['<=', '<'] }
    : { sign: '-', operators: ['>=', '>'] }
}

/** Reads what follows `baseline`: nothing, or a sign with one quantity or with the larger of two. */
export function readAllowance(reader: LineReader, subject: Subject): Allowance | undefined {
  const signAt = reader.skipSpace()
  if (reader.isAtEnd) return {}
  const { rule, metric } = subject
  const worse = rule && metric && directionOf(metric).sign
  const example = `baseline ${worse ?? '+'} ${rule?.example ?? ANY_EXAMPLE}`
  const sign = reader.expect(/[+-]/y, `${worse ?? '+ or -'} or the end of the line`, `such as ${example}`)
  if (sign === undefined) return undefined
  if (rule && metric && subject.isSignChecked && sign !== worse)
    reader.complain(
      signAt,
      `baseline ${sign} demands a ${factsOf(metric).better} ${metric.name} in every run, so one that is as good as before would fail: write baseline ${worse ?? ''} ${rule.example}`
    )
  const allowance = readQuantities(reader, subject)
  const restAt = reader.skipSpace()
  if (allowance && reader.sees(/[+-]/y)) {
    const larger = rule?.largerOfTwo === undefined ? '' : `; for the larger of two, write ${rule.largerOfTwo}`
    const words = `${reader.describeNext()} after the allowance; only one can follow baseline${larger}`
    reader.giveUp(restAt, words)
  }
  return allowance
}

function readQuantities(reader: LineReader, subject: Subject): Allowance | undefined {
  const at = reader.skipSpace()
  const name = reader.take(/[a-z]\w*\s*\(/iy)
  if (name === undefined) {
    const quantity = readQuantity(reader, subject)
    return quantity && { [quantity.kind]: quantity.value }
  }
  if (!/^max\s*\($/u.test(name)) {
    const known =
      subject.rule && subject.rule.largerOfTwo === undefined
        ? `write one allowance, such as ${subject.rule.example}`
        : `the only one is ${subject.rule?.largerOfTwo ?? 'max(10%, 20ms)'}, the larger of the two`
    return reader.giveUp(at, `unknown function ${quote(name.slice(0, -1).trim())}; ${known}`)
  }
  return readLargerOfTwo(reader, subject, at)
}

function readLargerOfTwo(reader: LineReader, subject: Subject, at: number): Allowance | undefined {
  const example = subject.rule?.largerOfTwo ?? 'max(10%, 20ms)'
  const first = readQuantity(reader, subject)
  if (!reader.expect(/,/y, 'a comma and a second allowance', `such as ${example}`)) return undefined
  const secondAt = reader.skipSpace()
  const second = readQuantity(reader, subject)
  if (!reader.expect(/\)/y, ')', `such as ${example}`) || !first || !second) return undefined
  const larger = first.value >= second.value ? first.text : second.text
  if (subject.rule?.largerOfTwo === undefined) {
    const name = subject.metric?.name ?? 'it'
    return reader.complain(
      at,
      `max() takes a share and an amount, and ${name} has only one kind: write ${larger}`
    )
  }
  if (first.kind === second.kind)
    return reader.complain(
      secondAt,
      `max() takes one share in % and one amount in ${listUnits(subject.rule.units.slice(1))}, not two of the same kind: write ${larger} alone, or ${example}`
    )
  return { [first.kind]: first.value, [second.kind]: second.value }
}

/** One of the two kinds, in base units. */
function readQuantity(reader: LineReader, { metric, rule }: Subject) {
  const at = reader.skipSpace()
  const digits = readPlainNumber(reader, 'an allowance', rule?.example ?? ANY_EXAMPLE)
  const beforeUnit = reader.at
  const unitAt = reader.skipSpace()
  const written = reader.take(/[^\s\d,;()"#+-][^\s,;()"#+-]*/y) ?? ''
  if (digits === undefined || !metric || !rule) return undefined

  const unit = rule.units.find((known) => known === written)
  if (unit === undefined)
    return reader.complain(written ? unitAt : beforeUnit, describeUnitProblem(metric, rule, digits, written))
  const kind = unit === '%' ? ('ratio' as const) : ('amount' as const)
  const quantity = { kind, value: toBaseUnit(digits, unit), text: digits + unit }
  if (rule.all !== undefined && unit === rule.units[0] && quantity.value >= 1) {
    const { called = metric.name, better } = factsOf(metric)
    const words = `${called} cannot ${better === 'lower' ? 'rise' : 'fall'} by ${rule.all} or more`
    return reader.complain(at, `${words}, so this would check nothing: write less, such as ${rule.example}`)
  }
  return quantity
}

function describeUnitProblem(
  { name }: NamedMetric,
  { units, example }: BaselineRule,
  digits: string,
  written: string
): string {
  if (units[0] === '')
    return written === '%'
      ? `% of a score is ambiguous; ${name} takes a plain difference: did you mean ${Number(`${digits}e-2`)}?`
      : `${name} takes no unit, but has ${quote(written)}; such as baseline - ${example}`
  if (written === '') {
    const guesses = units.slice(0, 2).map((unit) => digits + unit)
    return `${name} needs a unit here (${listUnits(units)}): did you mean ${guesses.join(' or ')}?`
  }
  const word = written.toLowerCase()
  const synonym = UNIT_SYNONYMS.get(word) ?? word
  if (units.includes('pp') && synonym === '%')
    return `${quote(written)} is ambiguous here, a share of the rate or percentage points: did you mean ${digits}pp?`
  if (synonym === 'pp' && !units.includes('pp'))
    return `${quote(written)} (percentage points) is for error_rate only; ${name} takes ${listUnits(units)}: did you mean ${digits}%?`
  const meant = units.find((known) => known === synonym) ?? suggestWord(written, units)
  return `unknown unit ${quote(written)}; ${name} takes ${listUnits(units)} here${meant ? `: did you mean "${meant}"?` : ''}`
}

/** `%, ms or s` */
function listUnits(units: readonly string[]): string {
  return units.length === 1
    ? (units[0] ?? '')
    : `${units.slice(0, -1).join(', ')} or ${units[units.length - 1] ?? ''}`
}

export function toBaseUnit(digits: string, unit: AllowanceUnit): number {
  if (unit === '%' || unit === 'pp') return Number(`${digits}e-2`)
  if (unit === 's') return Number(`${digits}e3`)
  if (unit === '/min') return Number(digits) / 60
  return Number(digits)
}

/** Other words for the same units; suggested, not accepted. */
export const UNIT_SYNONYMS: ReadonlyMap<string, AllowanceUnit> = new Map<string, AllowanceUnit>([
  ...['sec', 'second', 'seconds'].map((word) => [word, 's'] as const),
  ...['msec', 'millis', 'milliseconds'].map((word) => [word, 'ms'] as const),
  ...['percent', 'pct'].map((word) => [word, '%'] as const),
  ...['rps', 'req/s', '/sec'].map((word) => [word, '/s'] as const),
  ...['/m', 'rpm', 'req/min', '/minute'].map((word) => [word, '/min'] as const),
  ...['p.p.', 'ppt', 'pts', 'points'].map((word) => [word, 'pp'] as const)
])
