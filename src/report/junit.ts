import { formatActual, formatMargin } from '../analysis/thresholds/format.js'
import type { Judgement } from '../analysis/thresholds/judge/judgement.js'
import { isDecisive, isNotJudged } from '../analysis/thresholds/judge/judge.js'
import { REHEARSAL, type Outcome, type Verdict } from '../analysis/outcome.js'
import { when } from '../contract/text.js'
import { lineOf } from './rows.js'
import { describeStalls } from './stalls.js'
import { warmUpSentence, listWarnings } from './sentences.js'

/** How a test case ended that did not pass. */
interface CaseResult {
  readonly kind: 'failure' | 'error' | 'skipped'
  readonly type: string
  readonly message: string
  readonly details?: readonly string[]
}

type Case = readonly [name: string, result: CaseResult | undefined]

/** What the file says of a gate that has no outcome. */
export type JUnitOutcome = Pick<Outcome, 'verdict' | 'reason'> & Partial<Outcome>

const MOST_NAME = 500
const MOST_TEXT = 4000
const CUT_OFF: readonly Verdict[] = ['timed-out', 'error', 'cancelled']

/**
 * The outcome as JUnit XML, which most CI systems show: one test case per threshold. Where they say nothing, or the run is no evidence,
 * the case `the run` has the error, so that nothing is green by itself. The element order and attributes are those that every version
 * of Jenkins' schema accepts. `redact` takes secrets out of a text.
 */
export function renderJUnit(outcome: JUnitOutcome, redact = (text: string) => text): string {
  const write: typeof shorten = (text, most) => escapeXml(shorten(redact(text), most))
  const cases = [
    ...runCase(outcome),
    ...(outcome.judgements ?? []).map((line): Case => [lineOf(line), resultOf(line, outcome)])
  ]
  const count = (kind: CaseResult['kind']): number =>
    cases.filter(([, result]) => result?.kind === kind).length
  const totals = `tests="${cases.length}" failures="${count('failure')}" errors="${count('error')}"`
  const seconds = secondsOf(outcome).toFixed(3)
  const { startedMs } = outcome.run ?? {}
  const timestamp =
    startedMs === undefined ? '' : ` timestamp="${new Date(startedMs).toISOString().slice(0, 19)}"`
  const name = write(suiteName(outcome), MOST_NAME)
  const className = write(suiteName(outcome).replaceAll('.', '_'), MOST_NAME)
  return `${[
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="loadgate" ${totals} time="${seconds}">`,
    `  <testsuite name="${name}" ${totals} skipped="${count('skipped')}" time="${seconds}"${timestamp}>`,
    '    <properties>',
    ...propertiesOf(outcome).map(
      ([key, value]) => `      <property name="${key}" value="${write(value, MOST_NAME)}"/>`
    ),
    '    </properties>',
    ...cases.flatMap((one) => renderCase(one, className, write)),
    `    <system-out>${write(linesOf(outcome).join('\n'))}</system-out>`,
    '  </testsuite>',
    '</testsuites>'
  ].join('\n')}\n`
}

function renderCase([name, result]: Case, className: string, write: typeof shorten): string[] {
  const start = `    <testcase name="${write(name, MOST_NAME)}" classname="${className}" time="0"`
  if (result === undefined) return [`${start}/>`]
  const { kind, type, message, details = [] } = result
  const text = write([message, ...details].join('\n'))
  // The oldest schema allows text only here, and Jenkins reads it.
  const attributes = kind === 'skipped' ? '' : ` type="${type}" message="${write(message)}"`
  return [`${start}>`, `      <${kind}${attributes}>${text}</${kind}>`, '    </testcase>']
}

/** Only where the thresholds do not say it all. */
function runCase(outcome: JUnitOutcome): Case[] {
  const { verdict, reason, judgements = [] } = outcome
  const end = (kind: CaseResult['kind'], type: string, message = reason): Case[] => [
    ['the run', { kind, type, message }]
  ]
  if (verdict === 'skipped' || verdict === 'detached') return end('skipped', verdict)
  if (isNoEvidence(outcome)) return end('error', verdict)
  if (judgements.length > 0) return []
  return end('error', 'no thresholds', `Nothing was judged: ${reason} Give at least one threshold.`)
}

/** Cut off, or inconclusive for another reason than a threshold. */
function isNoEvidence({ verdict, reason, judgements = [] }: JUnitOutcome): boolean {
  if (verdict !== 'inconclusive') return CUT_OFF.includes(verdict)
  return !judgements.some(
    (judgement) =>
      judgement.verdict === 'inconclusive' && isDecisive(judgement) && reason.includes(judgement.reason)
  )
}

function resultOf(judgement: Judgement, outcome: JUnitOutcome): CaseResult | undefined {
  const { verdict, threshold, reason, comparison } = judgement
  const base = { type: 'threshold', message: reason, details: detailsOf(judgement, outcome) }
  if (verdict === 'passed') return unlessReal(judgement, outcome)
  if (threshold.level === 'warn') return { ...base, kind: 'skipped', message: `Warning only: ${reason}` }
  if (isNotJudged(judgement) && !isDecisive(judgement))
    return { ...base, kind: 'skipped', message: `Not judged: ${reason}` }
  // What is missing from the run may be the very difference from the baseline.
  const isBroken = verdict === 'failed' && !(comparison !== undefined && isNoEvidence(outcome))
  return { ...base, kind: isBroken ? 'failure' : 'error' }
}

/** Undefined for a threshold that holds in a whole run: in a part of it, in failures, or in what is not real, nothing is green. */
function unlessReal({ doubt }: Judgement, outcome: JUnitOutcome): CaseResult | undefined {
  const skip = (message: string): CaseResult => ({ kind: 'skipped', type: 'threshold', message })
  if (isNoEvidence(outcome))
    return skip(`It holds in what was measured, which is not enough: ${outcome.reason}`)
  if (doubt !== undefined) return skip(`It holds, which means nothing: ${doubt}`)
  if (outcome.stoppedEarly !== undefined)
    return skip('It holds in what was measured until the gate stopped the run early.')
  return outcome.rehearsal ? skip(`It holds in a ${REHEARSAL}, which measures nothing.`) : undefined
}

function detailsOf(judgement: Judgement, { run }: JUnitOutcome): string[] {
  const actual = formatActual(judgement)
  const margin = formatMargin(judgement)
  return [
    ...when(actual !== '', `Actual value: ${actual}${margin === '' ? '' : `, ${margin}`}`),
    ...when(judgement.scopesChecked > 1, `Scopes checked: ${judgement.scopesChecked}`),
    ...when(run?.url !== undefined, `Run: ${run?.url}`)
  ]
}

/** The same for every run of a gate, so that CI systems can show how its cases fared before. */
function suiteName({ run }: JUnitOutcome): string {
  return run?.name === undefined || run.name === 'loadgate' ? 'loadgate' : `loadgate ${run.name}`
}

function propertiesOf({ verdict, run, apdex, rehearsal }: JUnitOutcome): [string, string][] {
  const all: [string, string | undefined][] = [
    ['verdict', verdict],
    ['run-id', run?.id],
    ['run-url', run?.url],
    ['tool', run?.tool],
    ['apdex', apdex === undefined ? undefined : String(apdex.score)],
    ['rehearsal', rehearsal ? REHEARSAL : undefined]
  ]
  return all.flatMap(([name, value]): [string, string][] => (value === undefined ? [] : [[name, value]]))
}

function linesOf(outcome: JUnitOutcome): string[] {
  const { verdict, reason, warnings = [], remoteErrors = [], notes = [], judgements = [] } = outcome
  return [
    `${verdict.toUpperCase()}: ${reason}`,
    ...[warmUpSentence(outcome) ?? []].flat(),
    ...[describeStalls({ ...outcome, judgements })?.sentence ?? []].flat(),
    ...listWarnings({ warnings, remoteErrors }).map((line) => `Warning: ${line}`),
    ...notes
  ]
}

/** By the service's times; otherwise by the span of the samples. */
function secondsOf({ run, measurements }: JUnitOutcome): number {
  if (run?.startedMs !== undefined && run.stoppedMs !== undefined)
    return Math.max(0, run.stoppedMs - run.startedMs) / 1000
  const { samples = 0, throughput } = measurements?.figures({}) ?? {}
  return throughput === undefined || throughput === 0 ? 0 : samples / throughput
}

function shorten(text: string, most = MOST_TEXT): string {
  return text.length > most ? `${text.slice(0, most - 1)}…` : text
}

/** What XML 1.0 has no way to write, escaped or not: most control characters, halves of surrogate pairs, two non-characters. */
const ILLEGAL =
  // eslint-disable-next-line no-control-regex -- control characters are what is looked for
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g
const MARKUP = /[&<>"'\r\n\t]/g

/** Any text, for an attribute or as content. What cannot be written in XML is left out. */
function escapeXml(text: string): string {
  return text.replace(ILLEGAL, '').replace(MARKUP, (sign) => `&#${sign.charCodeAt(0)};`)
}
