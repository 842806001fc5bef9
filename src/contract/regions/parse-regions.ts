import {
  parseBoolean,
  parseChoice,
  parseDurationSeconds,
  parseInteger,
  parsePattern
} from '../setting-values.js'
import {
  describe,
  listOf,
  matching,
  parsing,
  readFields,
  readKeys,
  readMap,
  readText,
  take,
  within
} from './read-parts.js'
import type { Note } from './read-parts.js'
import { shorten } from '../text.js'

/** Where the nodes of grids run, by the name of their region. */
export type Regions = ReadonlyMap<string, Place>

export type Place = { readonly kind: 'processes' } | KubernetesPlace

/** A namespace of a Kubernetes cluster, and how pods are placed in it. */
export type KubernetesPlace = Readonly<ReturnType<typeof readKubernetes>>

export interface ParsedRegions {
  /** Not to be used if there are problems. */
  readonly regions: Regions
  readonly problems: readonly string[]
}

const KINDS = ['kubernetes', 'processes'] as const
const DEFAULT_START_TIMEOUT_SECONDS = 5 * 60
const LONGEST_KEY = 60

/** Reads the setting `regions`, parsed from YAML by the failsafe schema: every plain value is text. Collects every problem. */
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
    regions.set(name, readPlace(place, within(note, name)))
  }
  return { regions, problems }
}

function readPlace(value: unknown, note: Note): Place {
  const kinds = readKeys(value, KINDS, note)
  const [kind, ...others] = [...kinds.keys()]
  if (others.length > 0) note(`is both ${KINDS.join(' and ')}; remove one of the two`)
  if (kind === undefined)
    note('must be `kubernetes: { … }`, or `processes: {}` for processes on the machine of the service')
  if (kind === 'kubernetes') return readKubernetes(kinds.get(kind), within(note, kind))
  if (kind === 'processes') readKeys(kinds.get(kind), [], within(note, kind))
  return { kind: 'processes' }
}

/** A name of Kubernetes: a DNS subdomain. */
const NAME = /^(?=.{1,253}$)[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/
const LABEL = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/
const LABEL_VALUE = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/
const OF_A_LABEL = 'at most 63 letters, digits, - _ and .'

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
/** Above zero: cores, or thousandths of one. */
const CPU = /^(?=.*[1-9])(\d{1,6}(\.\d{1,3})?|\d{1,9}m)$/
/** With a unit: a bare number is bytes, which nobody means. */
const MEMORY = /^(?=.*[1-9])\d{1,12}(\.\d{1,3})?([KMGTPE]i|[kMGTPE])$/

const readName = matching(
  (text) => NAME.test(text),
  'a name in Kubernetes: lowercase letters, digits, - and .'
)

const KUBERNETES = {
  context: readText,
  namespace: matching(
    (text) => LABEL.test(text),
    'the name of a namespace: at most 63 lowercase letters, digits and -'
  ),
  image: matching(
    (text) => IMAGE.test(text),
    'the name of an image, such as registry.example/loadgate-node:1.2'
  ),
  'service-account': readName,
  'node-selector': readNodeSelector,
  tolerations: listOf(readToleration),
  // Names, or objects with a name as in a pod's specification.
  'image-pull-secrets': listOf((element, note) =>
    typeof element === 'string' ? readName(element, note) : readFields(element, { name: readName }, note).name
  ),
  'image-pull-policy': parsing((text) => parseChoice(text, ['Always', 'IfNotPresent', 'Never'])),
  'host-network': parsing(parseBoolean),
  'instance-types': readInstanceTypes,
  'start-timeout': parsing((text) => parseDurationSeconds(text, 1))
}
export const KUBERNETES_KEYS = Object.keys(KUBERNETES)

function readKubernetes(value: unknown, note: Note) {
  const read = readFields(value, KUBERNETES, note)
  return {
    kind: 'kubernetes' as const,
    /** A context of the kubeconfig; undefined for the current one. */
    context: read.context,
    /** Undefined for the context's. */
    namespace: read.namespace,
    /** Undefined for the project's own image of this version. */
    image: read.image,
    serviceAccount: read['service-account'],
    nodeSelector: read['node-selector'] ?? {},
    tolerations: read.tolerations ?? [],
    imagePullSecrets: read['image-pull-secrets'] ?? [],
    imagePullPolicy: read['image-pull-policy'],
    hostNetwork: read['host-network'] ?? false,
    instanceTypes: read['instance-types'] ?? new Map<string, Size>(),
    /** How long it may take until all pods of a grid run. */
    startTimeoutMs: (read['start-timeout'] ?? DEFAULT_START_TIMEOUT_SECONDS) * 1000
  }
}

/** What a node of an instance type gets, in Kubernetes' own quantities: requests and limits. */
type Size = Readonly<Record<'cpu' | 'memory', string>>

function readInstanceTypes(value: unknown, note: Note): ReadonlyMap<string, Size> {
  const types = new Map<string, Size>()
  for (const [name, given] of readMap(value, note) ?? []) {
    const inner = within(note, name)
    const keys = readKeys(given, ['cpu', 'memory'], inner)
    const amount = (key: 'cpu' | 'memory', pattern: RegExp, words: string): string | undefined =>
      take(keys.get(key), (text) => parsePattern(text, pattern, words), within(inner, key))
    const cpu = amount('cpu', CPU, 'cores, such as 4, 0.5 or 500m')
    const memory = amount('memory', MEMORY, 'an amount of memory with its unit, such as 8Gi or 512Mi')
    if (cpu !== undefined && memory !== undefined) types.set(name, { cpu, memory })
  }
  return types
}

/** A name, or a DNS subdomain, a slash and a name. */
function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse()
  const isPrefixed = prefix === undefined || NAME.test(prefix)
  return more.length === 0 && isPrefixed && name !== '' && LABEL_VALUE.test(name)
}

/** Labels of the machines on which pods may be placed. */
function readNodeSelector(value: unknown, note: Note): Record<string, string> {
  const labels: [string, string][] = []
  for (const [key, given] of readMap(value, note) ?? []) {
    if (!isLabelKey(key)) note(`"${shorten(key, LONGEST_KEY)}" is not the key of a label`)
    if (typeof given === 'string' && LABEL_VALUE.test(given)) labels.push([key, given])
    else note(`${key}: ${describe(given)} is not the value of a label: ${OF_A_LABEL}`)
  }
  return Object.fromEntries(labels)
}

/** A taint that pods tolerate. Kubernetes would refuse contradictions too, but only after everything else was prepared. */
function readToleration(value: unknown, note: Note): Record<string, string | number> {
  const problems: string[] = []
  const toleration = readFields(
    value,
    {
      key: matching(isLabelKey, `the key of a taint: ${OF_A_LABEL}`),
      operator: parsing((text) => parseChoice(text, ['Exists', 'Equal'])),
      value: matching((text) => LABEL_VALUE.test(text), `the value of a taint: ${OF_A_LABEL}`),
      effect: parsing((text) => parseChoice(text, ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])),
      tolerationSeconds: parsing((text) => parseInteger(text, { least: 0 }))
    },
    (problem) => void problems.push(problem)
  )
  const { key, operator, value: wanted, effect, tolerationSeconds } = toleration
  const contradictions = [
    key === undefined && operator !== 'Exists' && 'without a key, the operator must be Exists',
    operator === 'Exists' && wanted !== undefined && 'with the operator Exists there is no value',
    tolerationSeconds !== undefined &&
      effect !== 'NoExecute' &&
      'tolerationSeconds is for the effect NoExecute'
  ].filter((words) => words !== false)
  for (const problem of problems.length > 0 ? problems : contradictions) note(problem)
  return toleration as Record<string, string | number>
}
