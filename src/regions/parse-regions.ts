import { readChoice, readDurationMs, readFlag, readName, readNamespace, readText } from './read-values.js'
import { readKeys, readList, readMap } from './read-parts.js'
import type { Note } from './read-parts.js'
import type { KubernetesPlace, Place, Regions } from './regions.js'
import { readInstanceTypes } from './instance-types.js'
import { readNodeSelector, readTolerations } from './scheduling.js'

export interface ParsedRegions {
  /** Not to be used if there are problems. */
  readonly regions: Regions
  readonly problems: readonly string[]
}

const KINDS = ['kubernetes', 'processes'] as const
export const KUBERNETES_KEYS = [
  'context',
  'namespace',
  'image',
  'service-account',
  'node-selector',
  'tolerations',
  'image-pull-secrets',
  'image-pull-policy',
  'host-network',
  'instance-types',
  'start-timeout'
] as const
const DEFAULT_START_TIMEOUT_MS = 5 * 60_000

/**
 * Reads the setting `regions`, parsed from YAML by the failsafe schema: every plain value is text. Collects every problem, so that
 * a file can be fixed in one go.
 */
export function parseRegions(value: unknown): ParsedRegions {
  const problems: string[] = []
  const note: Note = (problem) => void problems.push(problem)
  const named = readMap(value, note)
  if (named === undefined || named.size === 0)
    return {
      regions: new Map(),
      problems: [
        'must be a map from the names of regions to places, for example `eu-central-1: { kubernetes: { namespace: load } }`'
      ]
    }
  const regions = new Map<string, Place>()
  for (const [name, place] of named) {
    if (name.trim() === '') note('a region has an empty name')
    regions.set(
      name,
      readPlace(place, (problem) => note(`${name}: ${problem}`))
    )
  }
  return { regions, problems }
}

function readPlace(value: unknown, note: Note): Place {
  const kinds = readKeys(value, KINDS, note)
  const [kind, ...others] = [...kinds.keys()]
  if (others.length > 0) note(`is both ${KINDS.join(' and ')}; remove one of the two`)
  if (kind === undefined)
    note('must be `kubernetes: { … }`, or `processes: {}` for processes on the machine of the service')
  const inner: Note = (problem) => note(`${kind ?? ''}: ${problem}`)
  if (kind === 'kubernetes') return readKubernetes(kinds.get(kind), inner)
  if (kind === 'processes') readKeys(kinds.get(kind), [], inner)
  return { kind: 'processes' }
}

function readKubernetes(value: unknown, note: Note): KubernetesPlace {
  const keys = readKeys(value, KUBERNETES_KEYS, note)
  const take = <T>(
    key: (typeof KUBERNETES_KEYS)[number],
    read: (value: unknown, note: Note) => T
  ): T | undefined =>
    keys.has(key) ? read(keys.get(key), (problem) => note(`${key}: ${problem}`)) : undefined
  return {
    kind: 'kubernetes',
    context: take('context', readText),
    namespace: take('namespace', readNamespace),
    image: take('image', readImage),
    serviceAccount: take('service-account', readName),
    nodeSelector: take('node-selector', readNodeSelector) ?? {},
    tolerations: take('tolerations', readTolerations) ?? [],
    imagePullSecrets: take('image-pull-secrets', readSecretNames) ?? [],
    imagePullPolicy: take('image-pull-policy', (given, noteIt) =>
      readChoice(given, ['Always', 'IfNotPresent', 'Never'], noteIt)
    ),
    hostNetwork: take('host-network', readFlag) ?? false,
    instanceTypes: take('instance-types', readInstanceTypes) ?? new Map(),
    startTimeoutMs: take('start-timeout', readDurationMs) ?? DEFAULT_START_TIMEOUT_MS
  }
}

/** As registries and machines read it: a host, a path of lowercase names, a tag, a digest. */
const IMAGE = new RegExp(
  [
    /^(?:(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:]+\])(?::\d+)?\/)?/,
    /[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:\.|__?|-+)[a-z0-9]+)*)*/,
    /(?::\w[\w.-]{0,127})?(?:@[A-Za-z][\w.+-]*:[0-9A-Fa-f]{32,})?$/
  ]
    .map(({ source }) => source)
    .join('')
)

function readImage(value: unknown, note: Note): string | undefined {
  const image = readText(value, note)
  if (image !== undefined && !IMAGE.test(image))
    note(`"${image}" is not the name of an image, such as registry.example/loadgate-node:1.2`)
  return image
}

/** Names, or objects with a name as in a pod's specification. */
function readSecretNames(value: unknown, note: Note): string[] {
  return readList(value, note).flatMap((element, index) => {
    const inner: Note = (problem) => note(`element ${index + 1}: ${problem}`)
    if (typeof element === 'string') return readName(element, inner) ?? []
    const keys = readKeys(element, ['name'], inner)
    return keys.has('name') ? (readName(keys.get('name'), inner) ?? []) : []
  })
}
