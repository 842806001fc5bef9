import type { Scope } from '../../results/figures/measurements.js'
import type { BaselineThreshold } from '../../thresholds/grammar/threshold.js'
import { formatValue } from '../../thresholds/format.js'
import type { UncomparedScope } from './compare-scope.js'
import { hasSamples } from './read-run.js'
import type { Sides } from './sides.js'

type Problem = Omit<UncomparedScope, 'scope'>

/** Why the two sides of a scope cannot be compared, before any figure is read. */
export function checkSides(threshold: BaselineThreshold, scope: Scope, sides: Sides): Problem | undefined {
  const isApdex = threshold.metric === 'apdex'
  // A service's apdex may come without CSVs.
  const isServiceApdex = isApdex && Object.keys(scope).length === 0
  return (
    (isServiceApdex ? undefined : checkSamples(scope, sides)) ?? (isApdex ? checkTargets(sides) : undefined)
  )
}

function checkSamples(scope: Scope, { head, base }: Sides): Problem | undefined {
  const isInHead = head.some((run) => hasSamples(run, scope))
  const isInBase = base.some((run) => hasSamples(run, scope))
  if (isInHead && isInBase) return undefined
  if (!isInHead && !isInBase) return notComparable('cannot be compared: there are no samples on either side')
  const part = namePart(scope)
  if (isInHead) {
    const words = part === undefined ? 'no base run has samples' : `${part} is new, no base run has it`
    return { outcome: 'no baseline', words: `has no baseline: ${words}` }
  }
  const words = part === undefined ? '' : `${part} is gone, `
  return notComparable(`cannot be compared: ${words}the baseline has samples of it and this run has none`)
}

function namePart(scope: Scope): string | undefined {
  if (scope.label !== undefined) return 'the label'
  return scope.region === undefined ? undefined : 'the region'
}

function checkTargets({ head, base }: Sides): Problem | undefined {
  const [here, there] = [head, base].map((runs) => [
    ...new Set(runs.flatMap(({ apdex }) => apdex?.targetMs ?? []))
  ])
  const [target, ...others] = here ?? []
  if (target === undefined) return notComparable('is unknown: this run has no apdex')
  if (others.length > 0)
    return notComparable(`cannot be compared: the runs have different targets, ${list(here ?? [])}`)
  const known = there ?? []
  if (known.length === 0)
    return { outcome: 'no baseline', words: 'has no baseline: no base run has an apdex' }
  if (known.includes(target)) return undefined
  return notComparable(
    `cannot be compared: its target is ${list([target])} in this run and ${list(known)} in the baseline`
  )
}

function list(targets: readonly number[]): string {
  return targets.map((target) => formatValue('mean', target)).join(' and ')
}

function notComparable(words: string): Problem {
  return { outcome: 'not comparable', words }
}
