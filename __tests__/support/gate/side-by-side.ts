import type { BaselineSettings } from '../../../src/gate/settings/settings.js'
import type { BaselineThreshold } from '../../../src/thresholds/grammar/threshold.js'
import type { GateService, ServedRun } from './gate-service.js'

export const BASE_PARAMETERS = '-Jport=9001'
export const HEAD_PARAMETERS = '-Jport=9000, -Jpath=/shop'

export function sideBySide(rounds: number, changes: Partial<BaselineSettings> = {}): BaselineSettings {
  return {
    source: { kind: 'side-by-side', parameters: BASE_PARAMETERS, rounds },
    branch: undefined,
    noise: 0.05,
    onMissing: 'warn',
    onUnsure: 'warn',
    confirm: 0,
    ...changes
  }
}

/** `p95 <= baseline + 10%` */
export const P95_LINE: BaselineThreshold = {
  kind: 'baseline',
  metric: 'p95',
  percentile: 95,
  allowance: { share: 0.1 },
  text: 'p95 <= baseline + 10%'
} as unknown as BaselineThreshold

export function parametersOf({ fields }: ServedRun): string {
  return fields.find(([name]) => name === 'run[override_parameters]')?.[1] ?? ''
}

/** By the server that its parameters lead to. */
export function sideOf(run: ServedRun): 'base' | 'head' {
  return parametersOf(run).includes('9001') ? 'base' : 'head'
}

/** The sides in the order in which their runs were created. */
export function sidesIn(service: GateService): string {
  return service.runs
    .toReversed()
    .map((run) => sideOf(run).slice(0, 1).toUpperCase())
    .join('')
}
