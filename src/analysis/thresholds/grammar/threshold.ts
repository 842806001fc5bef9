import type { NamedMetric, Unit } from '../metrics.js'

export type Operator = '<' | '<=' | '>' | '>=' | '=='

/** In the order in which scopes are searched: few grids first, then the many labels. */
export const SELECTOR_KEYS = ['grid', 'region', 'label'] as const

export type SelectorKey = (typeof SELECTOR_KEYS)[number]

/** A value of a selector: the literal pieces between its `*`; a single piece means equality. */
export interface Pattern {
  /** As written between the quotes, including escapes. */
  readonly text: string
  readonly pieces: readonly string[]
}

/** Patterns by key; an absent key means all samples, not each value of it. */
export type Selector = Readonly<Partial<Record<SelectorKey, Pattern>>>

interface ThresholdLine extends NamedMetric {
  /** As written, without `warn:` (see `level`), comment and surrounding space. */
  readonly text: string
  readonly line: number
  readonly level: 'fail' | 'warn'
  readonly selector: Selector
}

/** A line with a limit of its own: `p95 < 800ms`. */
export interface AbsoluteThreshold extends ThresholdLine {
  readonly operator: Operator
  /** The limit in base units: ms, a ratio from 0 to 1, per second, or plain. */
  readonly value: number
  readonly unit: Unit
}

/** A line that compares with earlier runs: `p95 <= baseline + max(10%, 20ms)`. */
export interface BaselineThreshold extends ThresholdLine {
  readonly operator: Exclude<Operator, '=='>
  readonly allowance: Allowance
}

/** How much worse than the baseline a figure may be; where both are given, the larger one applies. Both absent: not at all. */
export interface Allowance {
  /** Relative to the baseline: 0.1 for `10%`. */
  readonly ratio?: number
  /** In base units: ms, a ratio for `pp`, per second, or plain. */
  readonly amount?: number
}

export type Threshold = AbsoluteThreshold | BaselineThreshold

/** What the plan itself says must hold, judged by its tool: a threshold of k6, an assertion of Gatling. */
export interface ToolThreshold extends Pick<ThresholdLine, 'text' | 'line' | 'level'> {
  readonly isToolLine: true
}

export function isBaselineThreshold(threshold: Threshold | ToolThreshold): threshold is BaselineThreshold {
  return 'allowance' in threshold
}

export function isAbsoluteThreshold(threshold: Threshold | ToolThreshold): threshold is AbsoluteThreshold {
  return 'value' in threshold
}
