import { ALLOWANCE_UNIT_SYNONYMS, type AllowanceUnit, type BaselineRule } from './baseline-rules.js'
import { type LineReader, readPlainNumber } from './line-reader.js'
import { UNIT_SYNONYMS } from './metrics.js'
import { suggestWord } from '../../../contract/nearest.js'
import type { Allowance, NamedMetric } from './threshold.js'
import { quote } from '../quoting.js'

/** What is known of the line; without a rule only numbers are looked for. */
interface Subject {
  readonly metric: NamedMetric | undefined
  readonly rule: BaselineRule | undefined
  readonly isSignChecked: boolean
}

/** One of the two kinds, in base units. */
interface Quantity {
  readonly kind: keyof Allowance
  readonly value: number
  readonly text: string
}

const ANY_EXAMPLE = '10%'

/** Reads what follows `baseline`: nothing, or a sign with one quantity or with the larger of two. */
export function readAllowance(reader: LineReader, subject: Subject): Allowance | undefined {
  reader.skipSpace()
  if (reader.isAtEnd) return {}
  const { rule } = subject
  const signAt = reader.at
  const sign = reader.take(/[+-]/y)
  if (sign === undefined) {
    const accepted = rule?.sign ?? '+ or -'
    const example = `baseline ${rule?.sign ?? '+'} ${rule?.example ?? ANY_EXAMPLE}`
    reader.giveUp(
      signAt,
      `expected ${accepted} or the end of the line, but ${reader.describeNext()}; such as ${example}`
    )
    return undefined
  }
  if (rule && subject.isSignChecked && sign !== rule.sign) {
    reader.complain(
      signAt,
      `baseline ${sign} demands a ${rule.better} ${subject.metric?.name ?? 'figure'} in every run, so one that is as good as before would fail: write baseline ${rule.sign} ${rule.example}`
    )
  }
  const allowance = readQuantities(reader, subject)
  reader.skipSpace()
  if (allowance && reader.sees(/[+-]/y)) {
    const larger = rule?.largerOfTwo === undefined ? '' : `; for the larger of two, write ${rule.largerOfTwo}`
    reader.giveUp(
      reader.at,
      `${reader.describeNext()} after the allowance; only one can follow baseline${larger}`
    )
  }
  return allowance
}

function readQuantities(reader: LineReader, subject: Subject): Allowance | undefined {
  reader.skipSpace()
  const at = reader.at
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
    reader.giveUp(at, `unknown function ${quote(name.slice(0, -1).trim())}; ${known}`)
    return undefined
  }
  return readLargerOfTwo(reader, subject, at)
}

function readLargerOfTwo(reader: LineReader, subject: Subject, at: number): Allowance | undefined {
  const example = subject.rule?.largerOfTwo ?? 'max(10%, 20ms)'
  const first = readQuantity(reader, subject)
  if (!takeMark(reader, ',', example)) return undefined
  reader.skipSpace()
  const secondAt = reader.at
  const second = readQuantity(reader, subject)
  if (!takeMark(reader, ')', example)) return undefined
  if (!first || !second) return undefined
  const larger = first.value >= second.value ? first.text : second.text
  if (subject.rule?.largerOfTwo === undefined) {
    const name = subject.metric?.name ?? 'it'
    reader.complain(at, `max() takes a share and an amount, and ${name} has only one kind: write ${larger}`)
    return undefined
  }
  if (first.kind === second.kind) {
    reader.complain(
      secondAt,
      `max() takes one share in % and one amount in ${listUnits(subject.rule.units.slice(1))}, not two of a kind: write ${larger} alone, or ${example}`
    )
    return undefined
  }
  return { [first.kind]: first.value, [second.kind]: second.value }
}

function takeMark(reader: LineReader, mark: ',' | ')', example: string): boolean {
  reader.skipSpace()
  if (reader.take(mark === ',' ? /,/y : /\)/y) !== undefined) return true
  const expected = mark === ',' ? 'a comma and a second allowance' : ')'
  reader.giveUp(reader.at, `expected ${expected}, but ${reader.describeNext()}; such as ${example}`)
  return false
}

function readQuantity(reader: LineReader, { metric, rule }: Subject): Quantity | undefined {
  reader.skipSpace()
  const at = reader.at
  const example = rule?.example ?? ANY_EXAMPLE
  const digits = readPlainNumber(reader, { subject: 'an allowance', example })
  const beforeUnit = reader.at
  reader.skipSpace()
  const unitAt = reader.at
  const written = reader.take(/[^\s\d,;()"#+-][^\s,;()"#+-]*/y) ?? ''
  if (digits === undefined || !metric || !rule) return undefined

  const unit = rule.units.find((known) => known === written)
  if (unit === undefined) {
    reader.complain(written ? unitAt : beforeUnit, describeUnitProblem(metric, { rule, digits, written }))
    return undefined
  }
  const quantity = { kind: kindOf(unit), value: toBaseUnit(digits, unit), text: digits + unit }
  const { tooMuch } = rule
  if (quantity.kind === tooMuch?.of && quantity.value >= tooMuch.from) {
    reader.complain(at, `${tooMuch.words}, so this would check nothing: write less, such as ${rule.example}`)
    return undefined
  }
  return quantity
}

function describeUnitProblem(
  { metric, name }: NamedMetric,
  { rule, digits, written }: { rule: BaselineRule; digits: string; written: string }
): string {
  const { units } = rule
  if (metric === 'apdex') {
    return written === '%'
      ? `% of a score is ambiguous; apdex takes a plain difference: did you mean ${Number(`${digits}e-2`)}?`
      : `apdex takes no unit, but has ${quote(written)}; such as baseline - ${rule.example}`
  }
  if (written === '') {
    const guesses = units.slice(0, 2).map((unit) => digits + unit)
    return `${name} needs a unit here (${listUnits(units)}): did you mean ${guesses.join(' or ')}?`
  }
  const word = written.toLowerCase()
  const synonym = ALLOWANCE_UNIT_SYNONYMS.get(word) ?? UNIT_SYNONYMS.get(word) ?? word
  if (metric === 'error_rate' && synonym === '%') {
    return `${quote(written)} is ambiguous here, a share of the rate or percentage points: did you mean ${digits}pp?`
  }
  if (synonym === 'pp' && metric !== 'error_rate') {
    return `${quote(written)} (percentage points) is for error_rate only; ${name} takes ${listUnits(units)}: did you mean ${digits}%?`
  }
  const meant = units.find((known) => known === synonym) ?? suggestWord(written, units)
  return `unknown unit ${quote(written)}; ${name} takes ${listUnits(units)} here${meant ? `: did you mean "${meant}"?` : ''}`
}

/** `%, ms or s` */
function listUnits(units: readonly string[]): string {
  return units.length === 1
    ? (units[0] ?? '')
    : `${units.slice(0, -1).join(', ')} or ${units[units.length - 1] ?? ''}`
}

function kindOf(unit: AllowanceUnit): keyof Allowance {
  return unit === '%' ? 'ratio' : 'amount'
}

function toBaseUnit(digits: string, unit: AllowanceUnit): number {
  if (unit === '%' || unit === 'pp') return Number(`${digits}e-2`)
  if (unit === 's') return Number(`${digits}e3`)
  if (unit === '/min') return Number(digits) / 60
  return Number(digits)
}
