import type { Scope, Figures } from '../../results/figures/measurements.js'
import type { Selector } from '../../thresholds/grammar/threshold.js'
import { describeUnmatched, findScopes, type Searched } from '../../thresholds/judge/scopes.js'
import type { OnStall } from '../../thresholds/judge/judgement.js'

export interface ComparedRun {
  /** The service's own figure, or the one computed from all samples. */
  readonly apdex: { readonly score: number; readonly targetMs: number } | undefined
  /** Epoch ms of its first start, if that is known. */
  readonly startMs?: number | undefined
  /** What it is a run of, if it was recorded. */
  readonly recorded?: { readonly commit: string; readonly atMs: number }
  readonly labels: readonly string[]
  readonly regions: readonly string[]
  /** Undefined if the scope has no samples, or none were recorded for it. */
  figures(scope: Scope): Figures | undefined
}

/** The runs of both sides. Where they are paired, each base run belongs to the head run in the same place. */
export interface Sides {
  readonly isPaired: boolean
  /** Oldest first. */
  readonly base: readonly ComparedRun[]
  readonly head: readonly ComparedRun[]
  /** How many pairs there were to be, complete or not. */
  readonly rounds?: number | undefined
  /** Whose runs the base is, if they were recorded. */
  readonly branch?: string | undefined
}

export function sidesOf(evidence: Compared): Sides {
  return evidence.kind === 'recorded'
    ? { isPaired: false, base: evidence.base, head: evidence.head, branch: evidence.branch }
    : {
        isPaired: true,
        base: evidence.pairs.map(({ base }) => base),
        head: evidence.pairs.map(({ head }) => head),
        rounds: evidence.rounds
      }
}

/** Every scope that a line matches on either side. A scope that older base runs alone have was removed before, by others. */
export function listScopes(selector: Selector, { head, base, isPaired }: Sides): Scope[] {
  const current = scopesIn(selector, [...head, ...(isPaired ? base : base.slice(-1))])
  return current.length > 0 ? current : scopesIn(selector, base)
}

export function describeNoScope(selector: Selector, { head }: Sides): string {
  const [first] = head
  const unmatched = first && describeUnmatched(selector, searched(first))
  return unmatched ?? 'there are no samples in any such combination'
}

function scopesIn(selector: Selector, runs: readonly ComparedRun[]): Scope[] {
  const found = new Map<string, Scope>()
  for (const run of runs)
    for (const { scope } of findScopes(selector, searched(run)))
      found.set(JSON.stringify([scope.label, scope.region]), scope)
  return [...found.values()]
}

/** Ids of grids change from run to run, so lines do not select by them. */
function searched(run: ComparedRun): Searched {
  return { labels: run.labels, regions: run.regions, grids: [], figures: (scope) => run.figures(scope) }
}

/** What lines that name `baseline` are judged by. */
export type ComparisonEvidence =
  | {
      readonly kind: 'recorded'
      /** Usable and comparable, oldest first. */
      readonly base: readonly ComparedRun[]
      /** The run, and those that confirmed it. */
      readonly head: readonly ComparedRun[]
      /** The base runs are those of this branch. */
      readonly branch?: string
    }
  | {
      readonly kind: 'side-by-side'
      readonly pairs: readonly { readonly base: ComparedRun; readonly head: ComparedRun }[]
      /** How many rounds there were, complete or not; by default as many as pairs. */
      readonly rounds?: number
    }
  | (NoBase & { readonly kind: 'none' })

export interface NoBase {
  readonly outcome: 'no baseline' | 'not comparable'
  /** One sentence: why, and what to do. */
  readonly reason: string
}

export type Compared = Exclude<ComparisonEvidence, { readonly kind: 'none' }>

export interface ComparisonRules {
  /** The assumed noise from run to run: 0.05 for `5%`. */
  readonly noise: number
  readonly onMissing: 'warn' | 'fail' | 'pass'
  readonly onUnsure: 'warn' | 'fail' | 'pass'
  /** `fail` by default. */
  readonly onStall?: OnStall
}
