/** What a threshold can check; every `pNN` is a `percentile`. */
export type Metric =
  | 'apdex'
  | 'error_rate'
  | 'throughput'
  | 'mean'
  | 'median'
  | 'percentile'
  | 'min'
  | 'max'
  | 'samples'
  | 'failures'
  | 'concurrency'

export type Operator = '<' | '<=' | '>' | '>=' | '=='

/** A unit as written; empty for plain numbers. */
export type Unit = 'ms' | 's' | '%' | '/s' | '/min' | ''

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

/** One line that states what must hold. */
export interface Threshold {
  /** As written, without `warn:` (see `level`), comment and surrounding space. */
  readonly text: string
  /** Its line in the input, from 1. */
  readonly line: number
  readonly level: 'fail' | 'warn'
  readonly metric: Metric
  /** The metric's name as written: `p99.9`, `error_rate`. */
  readonly name: string
  /** Set for `percentile` and `median`; above 0, at most 100. */
  readonly percentile?: number
  readonly selector: Selector
  readonly operator: Operator
  /** The limit in base units: ms, a ratio from 0 to 1, per second, or plain. */
  readonly value: number
  readonly unit: Unit
}

/** A threshold's left-hand side without its selector. */
export type NamedMetric = Pick<Threshold, 'metric' | 'name' | 'percentile'>
