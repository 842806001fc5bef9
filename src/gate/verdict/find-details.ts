import { readDetails } from '../../analysis/details/read-details.js'
import type { Details } from '../../analysis/outcome.js'
import type { Findings } from '../findings.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings/settings.js'

/** Reads the CSVs once more for the report. The verdict does not depend on it: without details, the log says why. */
export async function findDetails(
  { log, cancelled }: Pick<Ports, 'log' | 'cancelled'>,
  { thresholds }: Pick<Settings, 'thresholds'>,
  { collection }: Findings
): Promise<{ readonly details?: Details }> {
  if (collection === undefined || cancelled.aborted) return {}
  const { countedFiles = [], measurements } = collection
  const found = await readDetails(countedFiles, { measurements, thresholds })
  if (typeof found === 'object') return { details: found }
  log.debug(`The report has no details: ${found}`)
  return {}
}
