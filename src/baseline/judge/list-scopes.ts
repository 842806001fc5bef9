import type { Scope } from '../../results/figures/measurements.js'
import type { Selector } from '../../thresholds/grammar/threshold.js'
import { describeUnmatched, findScopes, type Searched } from '../../thresholds/judge/scopes.js'
import type { ComparedRun } from '../compared-run.js'
import type { Sides } from './sides.js'

/** Every scope that a line matches on either side. A scope that older base runs alone have was removed before, by others. */
export function listScopes(selector: Selector, { head, base, isPaired }: Sides): Scope[] {
  const current = scopesIn(selector, [...head, ...(isPaired ? base : base.slice(-1))])
  return current.length > 0 ? current : scopesIn(selector, base)
}

/** Why a line matches nothing at all. */
export function describeNoScope(selector: Selector, { head }: Sides): string {
  const [first] = head
  const unmatched = first && describeUnmatched(selector, searched(first))
  return unmatched ?? 'there are no samples in any such combination'
}

function scopesIn(selector: Selector, runs: readonly ComparedRun[]): Scope[] {
  const found = new Map<string, Scope>()
  for (const run of runs) {
    for (const { scope } of findScopes(selector, searched(run))) {
      found.set(JSON.stringify([scope.label, scope.region]), scope)
    }
  }
  return [...found.values()]
}

/** Ids of grids change from run to run, so lines do not select by them. */
function searched(run: ComparedRun): Searched {
  return { labels: run.labels, regions: run.regions, grids: [], figures: (scope) => run.figures(scope) }
}
