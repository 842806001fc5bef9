import { parseRegions } from '../../contract/regions/parse-regions.js'
import type { ParsedRegions } from '../../contract/regions/parse-regions.js'
import type { Regions } from '../../contract/regions/regions.js'
import type { GateInputs } from './inputs.js'
import type { ServiceChoice } from './target-settings.js'
import { readYaml } from '../../contract/yaml-text.js'

/** Where the nodes of the embedded service run. Undefined if it was not given, or no region in it can be read. */
export function readRegions(inputs: GateInputs, { baseUrl, isLocal }: ServiceChoice): Regions | undefined {
  const given = inputs.structured('regions')
  if (given === '') return undefined
  // Where no token is given, the address may come from a variable that is empty too.
  if (!isLocal && baseUrl !== '')
    inputs.complain(
      'regions',
      'is for base-url: local only; the service at base-url decides itself where its grids run. Remove one of the two'
    )
  const { regions, problems } = typeof given === 'string' ? parseRegionsText(given) : parseRegions(given)
  for (const problem of problems) inputs.complain('regions', problem)
  return regions.size === 0 ? undefined : regions
}

/** Reads the setting from YAML. */
export function parseRegionsText(text: string): ParsedRegions {
  const { value, problems } = readYaml(text)
  if (problems.length === 0) return parseRegions(value)
  return { regions: new Map(), problems: problems.map((problem) => `is not YAML: ${problem}`) }
}
