import type { JmxPlan } from './jmx-plan.js'

const MOST_USUAL = 1_000
const LONGEST_USUAL = 200

/** The labels that rows of the results can have. */
export interface Labels {
  /** What a row may be named after, and more. */
  readonly names: readonly string[]
  /** No other label is possible. */
  readonly isComplete: boolean
  /** Those that are worth suggesting. */
  readonly usual: readonly string[]
  /** They are the texts of a source, whatever these are for. */
  readonly isSource: boolean
}

const MAKES_ROWS = /Sampler|^TransactionController$/

export function labelsOf(plan: JmxPlan): Labels {
  const elements = plan.reachable.map((element) => ({ ...element, label: plan.evaluate(element.name) }))
  const rows = elements.filter(({ kind }) => MAKES_ROWS.test(kind))
  return {
    names: elements.flatMap(({ label }) => label ?? []),
    usual: worthSuggesting(rows.flatMap(({ label }) => label ?? [])),
    isSource: false,
    isComplete:
      rows.length > 0 &&
      !plan.isOpaque &&
      // Rows of redirects are then named after their addresses.
      !plan.properties.has('subresults.disable_renaming') &&
      rows.every(({ kind, label }) => label !== undefined && label !== '' && !isUnusual(kind)) &&
      elements.every(({ kind }) => kind !== 'IncludeController' && !kind.includes('.')) &&
      !plan.texts.some((text) => /SampleLabel/i.test(text))
  }
}

/** A few of them: comparing a misspelt label with all of a huge plan would take minutes. */
export function worthSuggesting(names: readonly string[]): string[] {
  return [...new Set(names)].filter(({ length }) => length <= LONGEST_USUAL).slice(0, MOST_USUAL)
}

/** They name their rows themselves. */
function isUnusual(kind: string): boolean {
  return /^(?:JUnitSampler|JavaSampler|AccessLogSampler)$/.test(kind)
}
