import type { Figures, Measurements, Scope } from '../../results/figures/measurements.js'
import type { Judgement } from './judgement.js'
import { factsOf, type NamedMetric } from '../metrics.js'
import { quote } from '../quoting.js'

type Counted = Pick<Figures, 'samples' | 'failures'>

/** More than half of the samples. */
export function mostlyFailed({ samples, failures }: Counted): boolean {
  return failures * 2 > samples
}

/** `so response times say little` */
export function sayLittle(line: Pick<NamedMetric, 'metric' | 'name'>): string {
  return factsOf(line).isTime ? 'response times say little' : `${line.name} says little`
}

/** Whether the gate already fails because of its failures, so that nothing depends on meaningless figures. */
export function failsForFailures(judgements: readonly Judgement[]): boolean {
  return judgements.some(
    ({ verdict, threshold }) =>
      verdict === 'failed' && threshold.level === 'fail' && factsOf(threshold).showsFailures
  )
}

/** Why a figure of a scope proves nothing: it is that of failed requests. Undefined if it is fine. */
export function doubtFailed(
  line: Pick<NamedMetric, 'metric' | 'name'>,
  figures: Counted,
  { errors, scope }: { readonly errors: Measurements['errors']; readonly scope: Scope }
): string | undefined {
  if (!factsOf(line).needsSuccess || !mostlyFailed(figures)) return undefined
  const [first] = errors(scope)
  const words = first && [first.code, first.message].filter((text) => text.trim() !== '').map(quote)
  const most = words === undefined || words.length === 0 ? '' : `, most often with ${words.join(' ')}`
  return `${figures.failures} of ${figures.samples} samples failed${most}, so ${sayLittle(line)}`
}
