import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { FINGERPRINT_KEYS, dataFileKey, parameterKey } from '../../baseline/document/fingerprint.js'
import type { Fingerprint } from '../../baseline/document/fingerprint.js'
import type { Run } from '../../service/documents/documents.js'
import { TOOLS, vocabularyOf } from '../../protocol/vocabulary.js'
import { isReference } from '../../service/documents/requests.js'
import { readParameters, splitParameters } from '../settings/override-parameters.js'
import { isSecret } from '../settings/secret-parameters.js'
import type { Settings } from '../settings/settings.js'
import { areAllOnClusters, describeRegions } from './region-fingerprint.js'
import { arch, availableParallelism, cpus, platform } from 'node:os'

/** Their values differ from run to run. */
const ADDRESS = /host|port|url/i
/** Stands for a value that does not count. */
const ANY = 'any'
const HASH_LENGTH = 32

/** What must be equal for two runs to be comparable. Where the load comes from this machine, the machine is part of it. */
export async function fingerprintOf(settings: Settings, machine: Machine): Promise<Fingerprint> {
  const { tool, threads, rampupSeconds, durationSeconds, warmUpMs, overrideParameters, target } = settings
  const parts: readonly (readonly [string, string | undefined])[] = [
    ...(await planParts(settings)),
    [FINGERPRINT_KEYS.tool, tool],
    [FINGERPRINT_KEYS.threads, threads?.toString()],
    [FINGERPRINT_KEYS.rampUp, rampupSeconds === undefined ? undefined : `${rampupSeconds} s`],
    [FINGERPRINT_KEYS.duration, durationSeconds === undefined ? undefined : `${durationSeconds} s`],
    [FINGERPRINT_KEYS.warmUp, warmUpMs === 0 ? undefined : `${warmUpMs / 1000} s`],
    [FINGERPRINT_KEYS.regions, describeRegions(settings)],
    ...parameterParts(overrideParameters ?? ''),
    ...(target.kind === 'local' && !areAllOnClusters(settings) ? machineParts(machine) : [])
  ]
  return Object.fromEntries(parts.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** Adds what is only known from the run itself: the version of its tool, and grids that are referenced. */
export function withFactsOf(
  run: Pick<Run, 'tool' | 'grids'>,
  fingerprint: Fingerprint,
  { serviceName }: Pick<Settings, 'serviceName'>
): Fingerprint {
  const version = versionIn(run.tool ?? '', serviceName)
  return {
    [FINGERPRINT_KEYS.grids]: describeGrids(run.grids),
    ...fingerprint,
    ...(version !== undefined && { [FINGERPRINT_KEYS.toolVersion]: version })
  }
}

/** A run's `tool` may have a version after its name, as in `jmeter-5.6.3`. The names contain hyphens too. */
function versionIn(tool: string, serviceName: string | undefined): string | undefined {
  const { tools } = vocabularyOf(serviceName)
  const name = [...tools, ...TOOLS].find((known) => tool.startsWith(`${known}-`))
  return name === undefined ? undefined : tool.slice(name.length + 1).trim() || undefined
}

/** The repeated run stands for its plan and its grids. */
async function planParts({ origin }: Settings): Promise<[string, string][]> {
  if (origin.kind !== 'files') return [[FINGERPRINT_KEYS.plan, `run ${origin.runId}`]]
  const [plan, ...data] = origin.paths
  const parts: [string, string][] = plan === undefined ? [] : [[FINGERPRINT_KEYS.plan, await hashFile(plan)]]
  for (const path of data) parts.push([dataFileKey(basename(path)), await hashFile(path)])
  const grids = origin.grids.flatMap((grid) => (isReference(grid) ? [] : [grid]))
  if (grids.length === origin.grids.length) parts.push([FINGERPRINT_KEYS.grids, describeGrids(grids)])
  return parts
}

interface GridShape {
  readonly region: string | undefined
  readonly instanceType: string | undefined
  readonly nodeCount: number | undefined
}

function describeGrids(grids: readonly GridShape[]): string {
  const shapes = grids.map(
    ({ region, instanceType, nodeCount }) =>
      `${nodeCount ?? '?'} × ${instanceType ?? '?'} in ${region ?? '?'}`
  )
  return shapes.sort().join(', ')
}

function parameterParts(text: string): [string, string][] {
  const others = splitParameters(text).filter((entry) => readParameters(entry).length === 0)
  const parts = readParameters(text).map((parameter): [string, string] => {
    const { name, value } = parameter
    // A secret must not be guessed from its hash.
    return [parameterKey(name), ADDRESS.test(name) || isSecret(parameter) ? ANY : hash(value)]
  })
  return others.length === 0 ? parts : [...parts, ['other parameters', hash(others.sort().join('\n'))]]
}

function machineParts({ system, cpu, cores }: Machine): [string, string][] {
  return [
    [FINGERPRINT_KEYS.system, system],
    [FINGERPRINT_KEYS.cpu, cpu],
    [FINGERPRINT_KEYS.cores, String(cores)]
  ]
}

/** Data files may be large. */
async function hashFile(path: string): Promise<string> {
  const hashing = createHash('sha256')
  await pipeline(createReadStream(path), hashing)
  return hashing.digest('hex').slice(0, HASH_LENGTH)
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, HASH_LENGTH)
}

/** Where the load is generated, if that is here. */
export interface Machine {
  readonly system: string
  readonly cpu: string
  readonly cores: number
}

export function readMachine(): Machine {
  return {
    system: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism()
  }
}
