import {
  DEFAULT_STOP_AFTER_MIN,
  INFRASTRUCTURES,
  isId,
  MAX_STOP_AFTER_MIN,
  OPTIONAL_GRID_KEYS,
  REQUIRED_GRID_KEYS,
  type RequiredGridKey
} from '../../contract/vocabulary.js'
import type { GridChoice, GridSpecification } from '../../client/documents/requests.js'
import { describeUnknownKeys } from '../../contract/nearest.js'
import { parseChoice, parseInteger, parsePattern, type Parsed } from '../../contract/setting-values.js'
import { readYaml } from '../../contract/read-yaml.js'

interface GridListRules {
  /** The embedded service has a default for every key. */
  readonly defaults: Readonly<Partial<Record<RequiredGridKey, string>>>
  /** Keys may be left out: the service may have defaults for them, which is not known yet. */
  readonly mayLeaveOut?: boolean
  /** Where grids can run; undefined if that is not checked here. */
  readonly regions?: readonly string[] | undefined
  /** A grid must not stop before its run ends. */
  readonly durationSeconds: number | undefined
  /** Side by side: of all segments together, which share the grid. */
  readonly loadSeconds?: number | undefined
}

/** Where nothing but the service is known, which may have defaults of its own. */
export const SERVICE_RULES: GridListRules = {
  defaults: {
    infrastructure: 'demand',
    instance_quantity: '1',
    stop_after: String(DEFAULT_STOP_AFTER_MIN)
  },
  mayLeaveOut: true,
  durationSeconds: undefined
}

/** Reads the `grids` setting: YAML or JSON text, or the value parsed from a config file. */
export async function readGridList(given: unknown, rules: GridListRules) {
  const problems: string[] = []
  const list = typeof given === 'string' ? await parseText(given, problems) : given
  if (problems.length > 0) return { grids: [], problems }
  const noList = 'must be a list of grids, each a specification or a reference (`uuid: …`)'
  if (!Array.isArray(list) || list.length === 0) return { grids: [], problems: [noList] }
  const grids = list.map((element: unknown, index) =>
    readElement(element, rules, (problem) => problems.push(`element ${index + 1}: ${problem}`))
  )
  return { grids: grids.filter((grid) => grid !== undefined), problems }
}

async function parseText(text: string, problems: string[]): Promise<unknown> {
  const { value, problems: found } = await readYaml(text)
  problems.push(...found.map((problem) => `is not YAML or JSON: ${problem}`))
  return value
}

type Note = (problem: string) => void

function readElement(element: unknown, rules: GridListRules, note: Note): GridChoice | undefined {
  if (typeof element === 'string') return readReference(element, note)
  if (typeof element !== 'object' || element === null || Array.isArray(element)) {
    note('must be a map of keys, or the uuid of an existing grid')
    return undefined
  }
  const entries = Object.entries(element as Record<string, unknown>)
  for (const [key, value] of entries) if (typeof value !== 'string') note(`${key} must be a plain value`)
  const keys = Object.fromEntries(entries.map(([key, value]) => [key, String(value).trim()]))
  const { uuid, ...others } = keys
  if (uuid !== undefined) {
    const extra = Object.keys(others)
    if (extra.length > 0) note(`a reference by uuid takes no other keys, found ${extra.join(', ')}`)
    return readReference(uuid, note)
  }
  return readSpecification(keys, rules, note)
}

function readReference(id: string, note: Note): GridChoice | undefined {
  if (isId(id)) return { id }
  note(`"${id}" is not a grid's uuid; use only letters, digits, - and _`)
  return undefined
}

function readSpecification(
  given: Record<string, string>,
  rules: GridListRules,
  note: Note
): GridSpecification | undefined {
  const keys: Record<string, string> = { ...rules.defaults, ...given }
  const known = [...REQUIRED_GRID_KEYS, ...OPTIONAL_GRID_KEYS]
  const unknown = Object.keys(keys).filter((key) => !known.includes(key))
  if (unknown.length > 0) note(describeUnknownKeys(unknown, ['uuid', ...known]))
  const leftOut = REQUIRED_GRID_KEYS.filter((key) => ((rules.mayLeaveOut ? given : keys)[key] ?? '') === '')
  if (leftOut.length > 0 && !rules.mayLeaveOut) note(`missing ${leftOut.join(', ')}`)

  const region = keys.region ?? ''
  if (region !== '' && rules.regions?.includes(region) === false)
    note(`region "${region}" is not in regions, which has ${rules.regions.join(', ')}`)

  const take = <T>(key: string, parsed: Parsed<T>, fallback: T): T => {
    if (parsed.ok) return parsed.value
    if ((keys[key] ?? '') !== '') note(`${key}: "${keys[key] ?? ''}" is invalid; expected ${parsed.accepted}`)
    return fallback
  }
  const price = keys.aws_spot_price
  if (price !== undefined)
    take('aws_spot_price', parsePattern(price, /^\d+(\.\d+)?$/, 'a decimal number'), '')
  const stopAfter = parseInteger(keys.stop_after ?? '', { least: 1, most: MAX_STOP_AFTER_MIN })
  const stopAfterMinutes = take('stop_after', stopAfter, 0)
  const { durationSeconds, loadSeconds = durationSeconds } = rules
  if (stopAfterMinutes > 0 && loadSeconds !== undefined && stopAfterMinutes * 60 < loadSeconds)
    note(
      loadSeconds === durationSeconds
        ? `stop_after of ${stopAfterMinutes} min is shorter than the duration of ${durationSeconds} s: the grid would end before the run`
        : `stop_after of ${stopAfterMinutes} min is shorter than the ${loadSeconds} s of all runs of baseline: side-by-side, which share the grid`
    )
  return {
    infrastructure: take('infrastructure', parseChoice(keys.infrastructure ?? '', INFRASTRUCTURES), 'demand'),
    region,
    nodeCount: take('instance_quantity', parseInteger(keys.instance_quantity ?? '', { least: 1 }), 1),
    instanceType: keys.instance_type ?? '',
    stopAfterMinutes,
    options: Object.fromEntries(Object.entries(keys).filter(([key]) => OPTIONAL_GRID_KEYS.includes(key))),
    ...(leftOut.length > 0 && rules.mayLeaveOut && { leftOut })
  }
}
