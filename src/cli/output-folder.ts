import { readFile, readdir, stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { parseRegionsText } from '../gate/settings/target-settings.js'
import type { Regions } from '../contract/regions/regions.js'
import { UsageError, type Arguments } from './arguments.js'

/** What a run leaves behind, even a killed one. */
const OF_A_RUN = ['results', 'logs', 'service', 'report.html', 'verdict.json']
const ADVICE = 'give --output another folder, or remove what is there'

/** Where results go, relative to the current directory, unless `--output` says otherwise. */
export const OUTPUT_FOLDER = 'loadgate-results'

/** The CSVs of two runs in one folder would be judged as one run. */
export async function checkOutputFolder(folder: string): Promise<void> {
  // If it cannot be read, or is not a folder, writing to it will report that.
  const names: readonly string[] = await readdir(folder).catch(() => [])
  const found = OF_A_RUN.filter((name) => names.includes(name))
  if (found.length > 0)
    throw new UsageError(`${folder} contains ${found.join(', ')} of an earlier run; ${ADVICE}`)
}

/** A report of CSVs may be created again; the verdict of a run is evidence and stays. */
export async function checkReportFolder(folder: string): Promise<void> {
  const path = join(folder, 'verdict.json')
  const text = await readFile(path, 'utf8').catch(() => undefined)
  if (text !== undefined && !isOfReport(text))
    throw new UsageError(`${path} already exists, and may be the verdict of another run; ${ADVICE}`)
}

/** It names no run, and a gate without a run has judged nothing. */
function isOfReport(text: string): boolean {
  try {
    const { verdict, run } = (JSON.parse(text) ?? {}) as Readonly<Record<string, unknown>>
    return run === null && ['passed', 'failed', 'inconclusive'].includes(String(verdict))
  } catch {
    return false
  }
}

export const ABOUT_REGIONS =
  'File with a YAML map from the names of regions to the places where their grids run, or the YAML itself: `kubernetes: { … }` for pods of a cluster, `processes: {}` for this machine. A grid in a region that is not in the map is refused. Default: none, and every region is this machine.'

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
  const facts = await stat(path).catch(() => undefined)
  if (facts?.isFile()) return readFile(path, 'utf8')
  const isYaml = given.includes(':') || /^\s*[[{]/.test(given)
  if (!isYaml) throw new UsageError(`--regions: there is no file "${given}"`)
  return given
}

export async function readRegions(args: Arguments, workspace: string): Promise<Regions | undefined> {
  const text = await readRegionsFlag(args, workspace)
  if (!args.has('regions')) return undefined
  const { regions, problems } = await parseRegionsText(text)
  if (problems.length > 0) throw new UsageError(problems.map((problem) => `--regions: ${problem}`).join('\n'))
  return regions
}
