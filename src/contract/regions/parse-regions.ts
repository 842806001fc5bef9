import { parsePattern, parseInteger } from '../setting-values.js'
import {
  readChoice,
  readDurationMs,
  readFlag,
  readName,
  readNamespace,
  readText,
  take,
  isName,
  readKeys,
  readList,
  readMap,
  type Note,
  describe
} from './read-parts.js'
import type { KubernetesPlace, Place, Regions } from './regions.js'

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

/** Above zero: cores, or thousandths of one. */
const CPU = /^(?=.*[1-9])(\d{1,6}(\.\d{1,3})?|\d{1,9}m)$/
/** With a unit: a bare number is bytes, which nobody means. */
const MEMORY = /^(?=.*[1-9])\d{1,12}(\.\d{1,3})?([KMGTPE]i|[kMGTPE])$/

/** What the nodes of each instance type get. */
function readInstanceTypes(value: unknown, note: Note): KubernetesPlace['instanceTypes'] {
  const types = new Map<string, { cpu: string; memory: string }>()
  for (const [name, given] of readMap(value, note) ?? []) {
    const inner: Note = (problem) => note(`${name}: ${problem}`)
    const keys = readKeys(given, ['cpu', 'memory'], inner)
    const cpu = take(
      keys.get('cpu'),
      (text) => parsePattern(text, CPU, 'cores, such as 4, 0.5 or 500m'),
      (problem) => inner(`cpu: ${problem}`)
    )
    const memory = take(
      keys.get('memory'),
      (text) => parsePattern(text, MEMORY, 'an amount of memory with its unit, such as 8Gi or 512Mi'),
      (problem) => inner(`memory: ${problem}`)
    )
    if (cpu !== undefined && memory !== undefined) types.set(name, { cpu, memory })
  }
  return types
}

const LABEL_VALUE = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/

/** A name, or a DNS subdomain, a slash and a name. */
function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse()
  return (
    more.length === 0 && (prefix === undefined || isName(prefix)) && name !== '' && LABEL_VALUE.test(name)
  )
}

/** Labels of the machines on which pods may be placed. */
function readNodeSelector(value: unknown, note: Note): Record<string, string> {
  const labels: [string, string][] = []
  for (const [key, given] of readMap(value, note) ?? []) {
    if (!isLabelKey(key)) note(`${describe(key)} is not the key of a label`)
    if (typeof given === 'string' && LABEL_VALUE.test(given)) labels.push([key, given])
    else note(`${key}: ${describe(given)} is not the value of a label: at most 63 letters, digits, - _ and .`)
  }
  return Object.fromEntries(labels)
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

/** Taints that pods tolerate, as in a pod's specification. */
function readTolerations(value: unknown, note: Note): Record<string, string | number>[] {
  return readList(value, note).map((element, index) =>
    readToleration(element, (problem) => note(`element ${index + 1}: ${problem}`))
  )
}

function readToleration(value: unknown, note: Note): Record<string, string | number> {
  const problems: string[] = []
  const toleration = readTolerationKeys(value, (problem) => void problems.push(problem))
  for (const problem of problems.length > 0 ? problems : contradictionsIn(toleration)) note(problem)
  return toleration
}

function readTolerationKeys(value: unknown, note: Note): Record<string, string | number> {
  const keys = readKeys(value, ['key', 'operator', 'value', 'effect', 'tolerationSeconds'], note)
  const toleration: Record<string, string | number> = {}
  for (const [key, given] of keys) {
    const noteIt: Note = (problem) => note(`${key}: ${problem}`)
    const read = {
      key: () => readMatching(given, isLabelKey, 'the key of a taint', noteIt),
      operator: () => readChoice(given, ['Exists', 'Equal'], noteIt),
      value: () => readMatching(given, (text) => LABEL_VALUE.test(text), 'the value of a taint', noteIt),
      effect: () => readChoice(given, EFFECTS, noteIt),
      tolerationSeconds: () => take(given, (text) => parseInteger(text, { least: 0 }), noteIt)
    }[key]()
    if (read !== undefined) toleration[key] = read
  }
  return toleration
}

function readMatching(
  given: unknown,
  isValid: (text: string) => boolean,
  what: string,
  note: Note
): string | undefined {
  const text = readText(given, note)
  if (text === undefined || isValid(text)) return text
  note(`${describe(text)} is not ${what}: at most 63 letters, digits, - _ and .`)
  return undefined
}

/** Kubernetes would refuse them too, but only after everything else was prepared. */
function contradictionsIn(toleration: Readonly<Record<string, string | number>>): string[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration
  return [
    ...(key === undefined && operator !== 'Exists' ? ['without a key, the operator must be Exists'] : []),
    ...(operator === 'Exists' && value !== undefined ? ['with the operator Exists there is no value'] : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? ['tolerationSeconds is for the effect NoExecute']
      : [])
  ]
}
