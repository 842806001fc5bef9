import type { BaselineSettings } from '../../../src/gate/settings/baseline-settings.js'
import type { BaselineThreshold } from '../../../src/analysis/thresholds/grammar/threshold.js'
import { type GateService, type ServedRun, CSV_HEADER } from './gate-service.js'

const BASE_PARAMETERS = '-Jport=9001'
export const HEAD_PARAMETERS = '-Jport=9000, -Jpath=/shop'

/** A plan that takes its server from the parameters. */
export const PLAN_WITH_PORT =
  '<jmeterTestPlan><hashTree><TestPlan testname="Shop"><stringProp name="TestPlan.address">${__P(port,80)}${__P(path,/)}</stringProp></TestPlan><hashTree/></hashTree></jmeterTestPlan>'

export function sideBySide(rounds: number, changes: Partial<BaselineSettings> = {}): BaselineSettings {
  return {
    source: { kind: 'side-by-side', parameters: BASE_PARAMETERS, rounds },
    branch: undefined,
    noise: 0.05,
    ignoredParameters: [],
    onMissing: 'warn',
    onUnsure: 'warn',
    confirm: 0,
    ...changes
  }
}

/** Enough samples beyond the percentile for it to be compared. */
export const MEDIAN_LINE: BaselineThreshold = {
  text: 'median <= baseline + 10%',
  line: 2,
  level: 'fail',
  metric: 'median',
  name: 'median',
  percentile: 50,
  selector: {},
  operator: '<=',
  allowance: { ratio: 0.1 }
}

export function parametersOf({ fields }: ServedRun): string {
  return fields.find(([name]) => name === 'run[override_parameters]')?.[1] ?? ''
}

/** By the server that its parameters lead to. */
export function sideOf(run: ServedRun): 'base' | 'head' {
  return parametersOf(run).includes('9001') ? 'base' : 'head'
}

/** The sides in the order in which their runs were created: `BH BH HB`. */
export function sidesIn(service: GateService): string {
  const sides = service.runs.toReversed().map((run) => (sideOf(run) === 'base' ? 'B' : 'H'))
  return sides.join('').replace(/..(?=.)/g, '$& ')
}

/** The number of the run among those that were created, from 1. */
export function ordinalOf(service: GateService, { id }: ServedRun): number {
  return service.runs.toReversed().findIndex((run) => run.id === id) + 1
}

/** A hundred samples in ten seconds, at a time of their own. */
export function segmentCsv(
  segment: number,
  {
    elapsedMs = 100,
    failures = 0,
    seconds = 10
  }: { elapsedMs?: number; failures?: number; seconds?: number } = {}
): string {
  const startMs = 1_760_000_000_000 + segment * 20_000 * Math.ceil(seconds / 15)
  const rows = Array.from({ length: 100 }, (_, row) => {
    const atMs = startMs + Math.floor((row * seconds * 1000) / 100)
    return `${atMs},${elapsedMs},checkout,200,OK,t-1,${row >= failures},512,5`
  })
  return `${[CSV_HEADER, ...rows].join('\n')}\n`
}
