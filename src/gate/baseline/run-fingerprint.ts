import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { basename } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { arch, availableParallelism, cpus, platform } from 'node:os'
import {
  dataFileKey,
  hash,
  isAddress,
  parameterKey,
  pathOf,
  type Fingerprint
} from '../../analysis/baseline/document/fingerprint.js'
import type { Run } from '../../contract/api.js'
import { DEFAULT_APDEX_TARGET_MS } from '../../contract/setting-values.js'
import { TOOLS, vocabularyOf } from '../../contract/vocabulary.js'
import { isReference, type GridSpecification } from '../../client/documents/requests.js'
import { oddEntries, readParameters } from '../settings/override-parameters.js'
import { isSecret } from '../settings/secret-parameters.js'
import type { Settings } from '../settings/settings.js'
import type { Place, Regions } from '../../contract/regions/regions.js'

/** After the name of an address: what counts of it. */
const OF_PATH = ' (path)'
/** Stands for a value that does not count. */
const ANY = 'any'
const HASH_LENGTH = 32

/** What must be equal for two runs to be comparable. */
export async function fingerprintOf(
  settings: Settings,
  machine: Machine,
  asideGroups: readonly string[] = []
): Promise<Fingerprint> {
  const { tool, threads, rampupSeconds, durationSeconds, warmUpMs, overrideParameters, target } = settings
  const { origin, apdexTargetMs } = settings
  const used = settings.regions && listUsed(settings.regions, settings.origin)
  const parts: readonly (readonly [string, string | undefined])[] = [
    ...(await planParts(settings)),
    // Files say themselves which tool wrote them.
    ['tool', origin.kind === 'results' ? undefined : tool],
    ['threads', threads?.toString()],
    ['ramp-up', rampupSeconds === undefined ? undefined : `${rampupSeconds} s`],
    ['duration', durationSeconds === undefined ? undefined : `${durationSeconds} s`],
    ['warm-up', warmUpMs === 0 ? undefined : `${warmUpMs / 1000} s`],
    // Where there are any: earlier versions counted them in the overall figures.
    ...Object.entries(asidePart(asideGroups)),
    // The others have the target that the service had before there was an input for it.
    ['apdex target', apdexTargetMs === DEFAULT_APDEX_TARGET_MS ? undefined : `${apdexTargetMs} ms`],
    // Undefined without `regions`, so that runs recorded before are still comparable.
    ['regions', used?.map(describeRegion).sort().join(', ')],
    ...parameterParts(overrideParameters ?? '', settings.baseline),
    // Where the load comes from this machine, the machine is part of it.
    ...(target.kind === 'local' && !used?.every(({ place }) => place.kind === 'kubernetes')
      ? ([
          ['system', machine.system],
          ['CPU', machine.cpu],
          ['cores', String(machine.cores)]
        ] as const)
      : [])
  ]
  return Object.fromEntries(parts.flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])))
}

/** Adds what is only known from the run itself: the version of its tool, and grids that are referenced. */
export function withFactsOf(
  run: Pick<Run, 'tool' | 'grids' | 'asideGroups'>,
  fingerprint: Fingerprint,
  { serviceName, origin }: Pick<Settings, 'serviceName' | 'origin'>
): Fingerprint {
  const version = versionIn(run.tool ?? '', serviceName)
  return {
    grids: describeGrids(run.grids),
    ...fingerprint,
    ...asidePart(run.asideGroups ?? []),
    ...(origin.kind === 'results' && { tool: run.tool ?? 'unknown' }),
    ...(version !== undefined && { 'tool version': version })
  }
}

function asidePart({ length }: readonly string[]): Fingerprint {
  return length === 0 ? {} : { 'setUp and tearDown samples': 'count for their labels only' }
}

/** A run's `tool` may have a version after its name, as in `jmeter-5.6.3`. The names contain hyphens too. */
function versionIn(tool: string, serviceName: string | undefined): string | undefined {
  const { tools } = vocabularyOf(serviceName)
  const name = [...tools, ...TOOLS].find((known) => tool.startsWith(`${known}-`))
  return name === undefined ? undefined : tool.slice(name.length + 1).trim() || undefined
}

/** The repeated run stands for its plan and its grids. */
async function planParts({ origin }: Settings): Promise<[string, string][]> {
  if (origin.kind === 'results') return [['plan', 'results of another step']]
  if (origin.kind !== 'files') return [['plan', `run ${origin.runId}`]]
  const [plan, ...data] = origin.paths
  const parts: [string, string][] = plan === undefined ? [] : [['plan', await hashFile(plan)]]
  for (const path of data) parts.push([dataFileKey(basename(path)), await hashFile(path)])
  // What the service chooses is known from the run.
  const isChosen = (grid: GridSpecification): boolean => grid.region !== '' && grid.instanceType !== ''
  const grids = origin.grids.flatMap((grid) => (isReference(grid) || !isChosen(grid) ? [] : [grid]))
  if (grids.length === origin.grids.length) parts.push(['grids', describeGrids(grids)])
  return parts
}

function describeGrids(grids: readonly (GridSpecification | Run['grids'][number])[]): string {
  const shapes = grids.map(
    ({ region, instanceType, nodeCount }) => `${nodeCount ?? '?'} × ${instanceType ?? '?'} in ${region}`
  )
  return shapes.sort().join(', ')
}

function parameterParts(text: string, baseline: Settings['baseline']): [string, string][] {
  const others = oddEntries(text)
  const isIgnored = ignoredBy(baseline)
  const parts = readParameters(text)
    .filter(({ name }) => !isIgnored(name))
    .flatMap((parameter): [string, string][] => {
      const { name, value } = parameter
      const path = isAddress(name) ? pathOf(name, value) : undefined
      if (path === '') return []
      const key = parameterKey(path === undefined ? name : name + OF_PATH)
      // A secret must not be guessed from its hash.
      return [[key, isSecret(parameter) ? ANY : hash(path ?? value)]]
    })
  return others.length === 0 ? parts : [...parts, ['other parameters', hash(others.sort().join('\n'))]]
}

/** Whether a parameter is listed in `ignore-parameters`. */
export function ignoredBy({
  ignoredParameters
}: Pick<Settings['baseline'], 'ignoredParameters'>): (name: string) => boolean {
  const names = new Set(ignoredParameters.map((name) => name.toLowerCase()))
  return (name) => names.has(name.toLowerCase().replace(OF_PATH, ''))
}

/** Data files may be large. */
async function hashFile(path: string): Promise<string> {
  const hashing = createHash('sha256')
  await pipeline(createReadStream(path), hashing)
  return hashing.digest('hex').slice(0, HASH_LENGTH)
}

type Machine = ReturnType<typeof readMachine>

export function readMachine() {
  return {
    system: `${platform()} ${arch()}`,
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: availableParallelism()
  }
}

interface UsedRegion {
  readonly name: string
  readonly place: Place
  /** Undefined if any of them may be used. */
  readonly instanceTypes: readonly string[] | undefined
}

/** Those of the grids; all of them if a grid is only known by its id. */
function listUsed(regions: Regions, origin: Settings['origin']): UsedRegion[] {
  const grids = origin.kind === 'files' ? origin.grids : []
  const specified = grids.flatMap((grid) => (isReference(grid) ? [] : [grid]))
  const isKnown = specified.length > 0 && specified.length === grids.length
  return [...regions].flatMap(([name, place]): UsedRegion[] => {
    if (!isKnown) return [{ name, place, instanceTypes: undefined }]
    const types = specified.filter(({ region }) => region === name).map(({ instanceType }) => instanceType)
    return types.length === 0 ? [] : [{ name, place, instanceTypes: types }]
  })
}

function describeRegion({ name, place, instanceTypes: used }: UsedRegion): string {
  if (place.kind === 'processes') return `${name}: processes`
  const { image = 'the default image', nodeSelector, instanceTypes } = place
  const labels = Object.entries(nodeSelector).map(([key, value]) => `${key}=${value}`)
  const selector = labels.length === 0 ? [] : [`on ${labels.sort().join(' ')}`]
  const sizes = [...instanceTypes]
    .filter(([type]) => used?.includes(type) ?? true)
    .map(([type, { cpu, memory }]) => `${type} = ${cpu} CPU ${memory}`)
  return `${name}: pods (${[image, ...selector, ...sizes.sort()].join('; ')})`
}
