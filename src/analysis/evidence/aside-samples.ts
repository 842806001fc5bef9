import { count, joinWords } from '../../contract/text.js'
import { OF_ASIDE } from '../results/counts/error-table.js'
import { sumSamples } from '../results/figures/sample-figures.js'
import { partsOfLoad, type SamplePart, type ScanResult } from '../results/counts/scan-result.js'
import { groupByGrid } from './grid-times.js'
import { quote } from '../thresholds/quoting.js'

const SHOWN = 3

/** What the rows of setUp and tearDown groups were, in a sentence: a warning if any failed, as no overall figure shows that. */
export function describeAside(scans: readonly ScanResult[]): Record<'warnings' | 'notes', string[]> {
  const parts = scans.flatMap(listAside)
  const { samples, failures } = sumParts(parts)
  if (samples === 0) return { warnings: [], notes: [] }
  const counted = `${count(samples, 'sample')} of setUp and tearDown thread groups ${samples === 1 ? 'counts' : 'count'} for ${samples === 1 ? 'its label' : 'their labels'} only, not overall`
  if (failures === 0) return { warnings: [], notes: [`${counted}.`] }
  const failed = samples === 1 ? 'It failed' : `${failures.toLocaleString('en-US')} of them failed`
  return { warnings: [`${counted}. ${failed}: ${describeErrors(parts)}.`], notes: [] }
}

/** Grids that prepared a load and did not generate it, in sentences: the others' figures are not those of the requested load. */
export function findOnlyAside(scans: readonly ScanResult[]): string[] {
  return groupByGrid(scans).flatMap(([grid, own]) => {
    const isAside = sumParts(own.flatMap(listAside)).samples > 0
    if (!isAside || sumParts(own.flatMap(partsOfLoad)).samples > 0) return []
    return [
      `All samples of grid ${grid} are of setUp and tearDown thread groups, so it has no part in the figures. Check what kept its load from starting.`
    ]
  })
}

function listAside({ parts }: ScanResult): SamplePart[] {
  return parts.filter(({ isAside }) => isAside === true)
}

function sumParts(parts: readonly SamplePart[]): { samples: number; failures: number } {
  return sumSamples(parts.flatMap((part) => part.labels.map((_, label) => ({ part, label }))))
}

/** By label, the most frequent first. */
function describeErrors(parts: readonly SamplePart[]): string {
  const failures = new Map<string, { count: number; why: string }>()
  const add = (label: string, more: number, why: string): void => {
    const known = failures.get(label)
    failures.set(label, { count: more + (known?.count ?? 0), why: known?.why ?? why })
  }
  for (const { errors } of parts) {
    for (const { label, code, message, count: times } of errors.counts)
      add(label, times, `${code} ${message}`.replace(OF_ASIDE.trimStart(), '').trim())
    for (const { label, count: times } of errors.rest) add(label, times, '')
  }
  const sorted = [...failures].sort(([, one], [, other]) => other.count - one.count)
  const words = sorted.map(([label, { why }]) => `${quote(label)}${why && ` (${why})`}`)
  return joinWords(words, SHOWN, words.length === SHOWN + 1 ? 'more label' : 'more labels')
}
