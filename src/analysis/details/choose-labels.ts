import { MOST_DETAILED_LABELS } from '../../contract/verdict/limits.js'
import { matchesPieces } from '../../contract/text.js'
import type { Details } from '../outcome.js'
import type { Measurements } from '../results/figures/measurements.js'
import type { Threshold } from '../thresholds/grammar/threshold.js'

export type ChosenLabel = Pick<Details['labels'][number], 'label' | 'why'>

/** A pattern such as `*` matches every label, and there are other reasons to look at one. */
const MOST_MATCHED = 8

interface Candidate {
  readonly label: string
  readonly timeMs: number
  readonly failures: number
  readonly samples: number
}

/** The labels that matter most: those that thresholds name, and then the slowest, the most failing and the largest ones. */
export function chooseLabels(
  measurements: Pick<Measurements, 'labels' | 'figures'>,
  thresholds: readonly Pick<Threshold, 'selector'>[]
): ChosenLabel[] {
  const all = listCandidates(measurements)
  const patterns = thresholds.flatMap(({ selector: { label } }) => (label ? [label.pieces] : []))
  const slowest = order(all, ({ timeMs }) => timeMs)
  const failing = order(
    all.filter(({ failures }) => failures > 0),
    ({ failures }) => failures
  )
  const largest = order(all, ({ samples }) => samples)
  const chosen = new Map<string, ChosenLabel>()
  const take = (why: ChosenLabel['why'], candidates: readonly Candidate[], share: number): void => {
    const most = chosen.size + Math.ceil((MOST_DETAILED_LABELS - chosen.size) * share)
    for (const { label } of candidates)
      if (!chosen.has(label) && chosen.size < most) chosen.set(label, { label, why })
  }
  const named = (pieces: readonly string[]) => slowest.filter(({ label }) => matchesPieces(pieces, label))
  take('named', patterns.filter((pieces) => pieces.length === 1).flatMap(named), 1)
  take('named', patterns.flatMap(named), MOST_MATCHED / MOST_DETAILED_LABELS)
  take('slowest', slowest, 1 / 2)
  take('failing', failing, 1 / 2)
  take('largest', largest, 1)
  return [...chosen.values()]
}

function listCandidates({ labels, figures }: Pick<Measurements, 'labels' | 'figures'>): Candidate[] {
  return labels.flatMap((label) => {
    const found = figures({ label })
    if (found === undefined) return []
    const { samples, failures, meanMs = 0 } = found
    return [{ label, samples, failures, timeMs: found.percentileMs(95) ?? meanMs }]
  })
}

/** The largest first; labels come in a fixed order, which equal ones keep. */
function order(candidates: readonly Candidate[], sizeOf: (one: Candidate) => number): Candidate[] {
  return [...candidates].sort((one, other) => sizeOf(other) - sizeOf(one))
}
