import {
  INFRASTRUCTURES,
  MAX_STOP_AFTER_MIN,
  OPTIONAL_GRID_TEXTS,
  type Vocabulary
} from '../../contract/vocabulary.js'
import { checkRegion, mostNodesIn, type Places } from '../places.js'
import { checkApdexTarget } from '../runs/run-report.js'
import { refuseAll, RequestError } from '../errors.js'
import { isParams, type Param, type Params } from './nested-params.js'
import { type Engines, parseOverrideHosts, parseOverrideParameters } from '../engines/engine.js'
import type { GridWish } from '../store/store.js'
import type { GridSpec, RunRequest } from '../../contract/records.js'

const NAME = /^[A-Za-z0-9][\w.-]{0,99}$/

interface Reading {
  readonly place: string
  readonly problems: string[]
  readonly places: Places
}

/** Reads `grid[…]`; the error lists every problem. */
export function readGridSpec(params: Params, places: Places): GridSpec {
  const attributes = params.grid
  if (!isParams(attributes))
    throw new RequestError(422, 'grid is missing: send grid[region] and the other keys')
  const problems: string[] = []
  const spec = checkGrid(attributes, { place: 'grid', problems, places })
  if (problems.length > 0) throw refuseAll(problems)
  return spec
}

/** Reads `run[…]` and its list of grids; the error lists every problem. */
export function readRunRequest(
  params: Params,
  options: { words: Vocabulary; engines: Engines; fileNames: readonly string[]; places: Places }
): { request: RunRequest; grids: GridWish[] } {
  const { words } = options
  const attributes = params[words.run]
  const reader = new Reader(isParams(attributes) ? attributes : {}, words.run)
  const tool = readTool(reader, options)
  const hosts = parseOverrideHosts(reader.text('override_hosts') ?? '')
  const overrides = parseOverrideParameters(reader.text('override_parameters') ?? '')
  // An addition to the API: names of parameters whose values are secret.
  const secretNames = new Set((reader.text('secret_parameters') ?? '').split(/[\s,]+/))
  const request: RunRequest = {
    tool,
    name: reader.text('name'),
    notes: reader.text('notes'),
    project: reader.text('project'),
    tags: (reader.text('tag_list') ?? '').split(',').flatMap((tag) => tag.trim() || []),
    privacy: readPrivacy(reader),
    threads: reader.integer('threads', { least: 1 }),
    rampupSec: reader.integer('rampup', { least: 0 }),
    durationSec: reader.integer('duration', { least: 1 }),
    hosts: hosts.hosts,
    properties: overrides.properties.map((property) =>
      secretNames.has(property.name) ? { ...property, isSecret: true } : property
    )
  }
  const { problems } = reader
  problems.push(...hosts.problems, ...overrides.problems, ...checkApdexTarget(overrides.properties))
  if (options.fileNames.length === 0)
    problems.push(`${words.files} is missing: send the plan as ${words.files}[]`)
  else if (options.engines.tools.includes(tool))
    problems.push(...options.engines.of(tool).refuse({ ...request, fileNames: options.fileNames }))
  const place = `${words.run}[grids]`
  const grids = readGridWishes(reader.attributes.grids, { place, problems, places: options.places })
  if (problems.length > 0) throw refuseAll(problems)
  return { request, grids }
}

/** In the API document's own word, whatever the service calls it. */
function readTool(reader: Reader, { words, engines }: { words: Vocabulary; engines: Engines }): string {
  const given = reader.required('tool')
  const tool = words.toolOf(given)
  if (given === '' || (tool !== undefined && engines.tools.includes(tool))) return tool ?? ''
  const available = engines.tools.map((name) => words.toolName(name)).join(', ')
  reader.problems.push(
    tool === undefined
      ? `tool must be one of ${words.tools.join(', ')}, not "${given}"`
      : `tool ${given} is not available on this machine; this service runs ${available}`
  )
  return given
}

/** The API document names it `privacy_flag`, its examples send `privacy`. */
function readPrivacy(reader: Reader): 'public' | 'private' {
  const privacy = reader.text('privacy_flag') ?? reader.text('privacy') ?? 'private'
  if (privacy === 'public' || privacy === 'private') return privacy
  reader.problems.push(`privacy_flag must be public or private, not "${privacy}"`)
  return 'private'
}

function readGridWishes(param: Param | undefined, { place, ...rest }: Reading): GridWish[] {
  const { problems } = rest
  const list =
    isParams(param) && Object.keys(param).every((key) => /^\d+$/.test(key)) ? Object.values(param) : param
  if (!Array.isArray(list) || list.length === 0) {
    problems.push(`${place} is missing: send a list of specifications or uuids as ${place}[][<key>]`)
    return []
  }
  const wishes = list.flatMap((element: Param | undefined, index) =>
    readGridWish(element, { place: `grid ${index + 1}`, ...rest })
  )
  const uuids = wishes.flatMap((wish) => ('uuid' in wish ? [wish.uuid] : []))
  const repeated = uuids.filter((uuid, index) => uuids.indexOf(uuid) !== index)
  for (const uuid of new Set(repeated))
    problems.push(
      `${place} names grid ${uuid} more than once: a grid runs the plan once, and its samples count once`
    )
  return wishes
}

function readGridWish(element: Param | undefined, reading: Reading): GridWish | [] {
  const { place, problems } = reading
  if (typeof element === 'string' && element !== '') return { uuid: element }
  if (typeof element === 'string' || !isParams(element)) {
    problems.push(`${place} must be a specification or a uuid`)
    return []
  }
  const { uuid, ...rest } = element
  if (uuid === undefined) return { spec: checkGrid(element, reading) }
  if (typeof uuid !== 'string' || uuid === '') {
    problems.push(`${place}: uuid must be a string`)
    return []
  }
  if (Object.keys(rest).length > 0) {
    problems.push(
      `${place} has a uuid and ${Object.keys(rest).join(', ')} too: references and specifications in one form get merged; create the grids first and refer to all of them by uuid`
    )
  }
  return { uuid }
}

function checkGrid(attributes: Params, { place, problems, places }: Reading): GridSpec {
  const reader = new Reader(attributes, place, problems)
  const region = reader.identifier('region')
  const spec: GridSpec = {
    region,
    instanceQuantity: reader.requiredInteger('instance_quantity', {
      least: 1,
      most: mostNodesIn(region, places)
    }),
    stopAfterMin: reader.requiredInteger('stop_after', { least: 1, most: MAX_STOP_AFTER_MIN }),
    infrastructure: reader.oneOf('infrastructure', INFRASTRUCTURES),
    instanceType: reader.identifier('instance_type')
  }
  if (NAME.test(spec.region))
    problems.push(...checkRegion(spec.region, places).map((words) => `${place}: ${words}`))
  // They mean something in a cloud only; here they are checked to be texts and then left alone.
  for (const key of OPTIONAL_GRID_TEXTS) reader.text(key)
  return spec
}

/** Reads values from a group of parameters and collects every problem. */
class Reader {
  constructor(
    readonly attributes: Params,
    private readonly place: string,
    readonly problems: string[] = []
  ) {}

  refuse(key: string, wanted: string): void {
    this.problems.push(`${this.place}: ${key} must be ${wanted}`)
  }

  /** Forms send an empty string for an absent value. */
  text(key: string): string | null {
    const value = this.attributes[key]
    if (value === undefined || value === '') return null
    if (typeof value === 'string') return value
    this.refuse(key, 'a single string')
    return null
  }

  required(key: string): string {
    const text = this.text(key)
    if (text === null) this.problems.push(`${this.place}: ${key} is missing`)
    return text ?? ''
  }

  identifier(key: string): string {
    const text = this.required(key)
    if (text !== '' && !NAME.test(text)) this.refuse(key, `letters, digits, ".", "_" and "-", not "${text}"`)
    return text
  }

  oneOf<T extends string>(key: string, choices: readonly [T, ...T[]]): T {
    const text = this.required(key)
    const choice = choices.find((candidate) => candidate === text)
    if (choice === undefined && text !== '') this.refuse(key, `${choices.join(' or ')}, not "${text}"`)
    return choice ?? choices[0]
  }

  integer(key: string, range: { least: number; most?: number }): number | null {
    const text = this.text(key)
    if (text === null) return null
    const { least, most = 2_147_483_647 } = range
    const value = /^\d{1,10}$/.test(text) ? Number(text) : NaN
    if (value >= least && value <= most) return value
    this.refuse(key, `a whole number from ${least} to ${most}, not "${text}"`)
    return null
  }

  requiredInteger(key: string, range: { least: number; most: number }): number {
    return this.required(key) === '' ? 0 : (this.integer(key, range) ?? 0)
  }
}
