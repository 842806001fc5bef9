import type { ScanResult } from '../counts/scan-result.js'
import type { AnyScope } from './measurements.js'

/** Whether a CSV may have samples of the scope. */
export function isInScope(scan: Pick<ScanResult, 'region' | 'grid'>, { region, grid }: AnyScope): boolean {
  return (region === undefined || scan.region === region) && (grid === undefined || scan.grid === grid)
}
