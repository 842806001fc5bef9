import { readFile, stat } from 'node:fs/promises'
import { resolve } from 'node:path'
import { parseRegionsText } from '../gate/settings/region-settings.js'
import type { Regions } from '../regions/regions.js'
import { UsageError } from './arguments.js'
import type { Arguments, Flag } from './arguments.js'

export const REGIONS_FLAG: Flag & { readonly value: string } = {
  name: 'regions',
  value: 'file|yaml',
  about:
    'File with a YAML map from the names of regions to the places where their grids run, or the YAML itself: `kubernetes: { … }` for pods of a cluster, `processes: {}` for this machine. A grid in a region that is not in the map is refused. Default: none, and every region is this machine.'
}

/** The text of `--regions`: that of the file if it names one. */
export async function readRegionsFlag(args: Arguments, workspace: string): Promise<string> {
  const given = args.text('regions')
  if (given === '') return ''
  if (args.has('rehearse'))
    throw new UsageError(
      '--regions would have no effect together with --rehearse, which generates no load; remove one of the two'
    )
  const path = resolve(workspace, given)
  // A text may be too long for a path.
  const isFile = await stat(path).then(
    (found) => found.isFile(),
    () => false
  )
  if (isFile) return readFile(path, 'utf8')
  const isYaml = given.includes(':') || /^\s*[[{]/.test(given)
  if (!isYaml) throw new UsageError(`--regions: there is no file "${given}"`)
  return given
}

/** The same, parsed; every problem is reported. */
export async function readRegions(args: Arguments, workspace: string): Promise<Regions | undefined> {
  const text = await readRegionsFlag(args, workspace)
  if (!args.has('regions')) return undefined
  const { regions, problems } = parseRegionsText(text)
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `--regions: ${problem}`).join('\n'))
  return regions
}
