import {
  DEFAULT_STOP_AFTER_MIN,
  OPTIONAL_GRID_KEYS,
  REQUIRED_GRID_KEYS,
  type Vocabulary
} from '../../contract/vocabulary.js'
import { shorten, when } from '../../contract/text.js'
import { listCredentials } from './documents.js'
import { gridReference, gridRequest, readParameters, runRequest } from '../../contract/api/requests.js'
import { checkRegion, type Places } from '../places.js'
import { checkApdexTarget } from '../runs/run-report.js'
import { refuseAll, RequestError } from '../errors.js'
import { isParams, type Param, type Params } from './nested-params.js'
import { type Engines, parseOverrideHosts, parseOverrideParameters } from '../engines/engine.js'
import { findPlan } from '../engines/plan-file.js'
import type { GridWish } from '../store/store.js'
import type { GridSpec, RunRequest } from '../../contract/records.js'

interface Reading {
  readonly place: string
  readonly problems: string[]
  readonly places: Places
}

/** Reads `grid[…]`; the error lists every problem. */
export function readGridSpec(params: Params, places: Places): GridSpec {
  const attributes = params.grid
  if (!isParams(attributes))
    throw new RequestError(422, 'grid is missing: send grid[region] and the other keys that you need')
  const problems: string[] = []
  const spec = readSpec(attributes, { place: 'grid', problems, places })
  if (problems.length > 0) throw refuseAll(problems)
  return spec
}

/** Reads `run[…]` and its list of grids, and puts the plan first among the files; the error lists every problem. */
export function readRunRequest(
  params: Params,
  options: { words: Vocabulary; engines: Engines; fileNames: readonly string[]; places: Places }
): { request: RunRequest; grids: GridWish[]; fileNames: readonly string[] } {
  const { words, engines, places } = options
  const attributes = params[words.run]
  const given = isParams(attributes) ? attributes : {}
  // The elements of the list are read one by one, as what each of them is.
  const { values, problems: odd } = readParameters(runRequest(words), given, ['grids'])
  const hosts = parseOverrideHosts(values.override_hosts ?? '')
  const overrides = parseOverrideParameters(values.override_parameters ?? '')
  const secretNames = new Set((values.secret_parameters ?? '').split(/[\s,]+/))
  const tool = words.toolOf(values.tool ?? '')
  const request: RunRequest = {
    tool: tool ?? '',
    name: values.name ?? null,
    notes: values.notes ?? null,
    project: values.project ?? null,
    tags: (values.tag_list ?? '').split(',').flatMap((tag) => tag.trim() || []),
    // The API document names it `privacy_flag`, its examples send `privacy`.
    privacy: values.privacy_flag ?? values.privacy ?? 'private',
    threads: values.threads ?? null,
    rampupSec: values.rampup ?? null,
    durationSec: values.duration ?? null,
    hosts: hosts.hosts,
    properties: overrides.properties.map((property) =>
      secretNames.has(property.name) ? { ...property, isSecret: true } : property
    )
  }
  const problems = [
    ...odd.map((problem) => `${words.run}: ${problem}`),
    ...checkTags(request.tags),
    ...when(
      Math.max(request.properties.length, request.hosts.length) > MOST_OVERRIDES,
      `override_parameters and override_hosts must have at most ${MOST_OVERRIDES} entries each`
    ),
    ...[...hosts.problems, ...overrides.problems, ...checkApdexTarget(overrides.properties)]
  ]
  const plan = findPlan(request.tool, options.fileNames)
  const fileNames = 'name' in plan ? [...new Set([plan.name, ...options.fileNames])] : options.fileNames
  if (options.fileNames.length === 0)
    problems.push(`${words.files} is missing: send the plan as ${words.files}[]`)
  else if ('problem' in plan) problems.push(plan.problem)
  else if (tool !== undefined) problems.push(...checkPlan({ ...request, fileNames }, { words, engines }))
  const place = `${words.run}[grids]`
  const grids = readGridWishes(given.grids, { place, problems, places })
  if (problems.length > 0) throw refuseAll(problems)
  return { request, grids, fileNames }
}

/** The page of a run reads those of a hundred others. */
const MOST_OVERRIDES = 1000
const MOST_GRIDS = 100
const MOST_TAGS = 50
const LONGEST_TAG = 50

/** A gate adds one, by which it finds its run. */
function checkTags(tags: readonly string[]): string[] {
  return when(
    tags.length > MOST_TAGS + 1 || tags.some((tag) => tag.length > LONGEST_TAG),
    `tag_list must have at most ${MOST_TAGS} tags of at most ${LONGEST_TAG} characters each`
  )
}

function checkPlan(
  request: RunRequest & { fileNames: readonly string[] },
  { words, engines }: { words: Vocabulary; engines: Engines }
): string[] {
  if (engines.tools.includes(request.tool)) return engines.of(request.tool).refuse(request)
  const available = engines.tools.map((name) => words.toolName(name)).join(', ')
  return [
    `tool ${words.toolName(request.tool)} is not available on this machine; this service runs ${available}`
  ]
}

function readGridWishes(param: Param | undefined, { place, ...rest }: Reading): GridWish[] {
  const { problems } = rest
  const list =
    isParams(param) && Object.keys(param).every((key) => /^\d+$/.test(key)) ? Object.values(param) : param
  if (!Array.isArray(list) || list.length === 0) {
    problems.push(`${place} is missing: send a list of specifications or uuids as ${place}[][<key>]`)
    return []
  }
  if (list.length > MOST_GRIDS) {
    problems.push(`${place} must not have more than ${MOST_GRIDS} grids`)
    return []
  }
  const wishes = list.flatMap((element: Param | undefined, index) =>
    readGridWish(element, { place: `grid ${index + 1}`, ...rest })
  )
  problems.push(...findMixedKeys(list))
  const uuids = wishes.flatMap((wish) => ('uuid' in wish ? [wish.uuid] : []))
  const repeated = uuids.filter((uuid, index) => uuids.indexOf(uuid) !== index)
  for (const uuid of new Set(repeated))
    problems.push(
      `${place} names grid ${uuid} more than once: a grid runs the plan once, and its samples count once`
    )
  return wishes
}

/** A form with its keys in another order describes other grids than intended, and defaults would hide that. */
function findMixedKeys(list: readonly (Param | undefined)[]): string[] {
  const keysOf = (element: Params): string =>
    REQUIRED_GRID_KEYS.filter((key) => (element[key] ?? '') !== '').join(', ')
  const specs = list.flatMap((element, index) =>
    isParams(element) && element.uuid === undefined ? [{ number: index + 1, keys: keysOf(element) }] : []
  )
  const [first] = specs
  const other = specs.find(({ keys }) => keys !== first?.keys)
  if (first === undefined || other === undefined) return []
  return [
    `grid ${first.number} gives ${first.keys || 'nothing'}, and grid ${other.number} gives ${other.keys || 'nothing'}: all keys of a grid stand together in a form, and the grids of a run give the same keys`
  ]
}

function readGridWish(element: Param | undefined, reading: Reading): GridWish | [] {
  const { place, problems } = reading
  if (typeof element === 'string' && element !== '') return { uuid: element }
  if (typeof element === 'string' || !isParams(element)) {
    problems.push(`${place} must be a specification or a uuid`)
    return []
  }
  if (element.uuid === undefined) return { spec: readSpec(element, reading) }
  const others = Object.keys(element).filter((key) => key !== 'uuid')
  if (others.length > 0)
    problems.push(
      `${place} has a uuid and ${others.join(', ')} too: references and specifications in one form get merged; create the grids first and refer to all of them by uuid`
    )
  const { values, problems: odd } = readParameters(gridReference, element)
  problems.push(...odd.map((problem) => `${place}: ${problem}`))
  return values.uuid === undefined ? [] : { uuid: values.uuid }
}

function readSpec(attributes: Params, { place, problems, places }: Reading): GridSpec {
  const { values, problems: odd } = readParameters(gridRequest, attributes)
  const { region = places.regions?.[0] ?? 'local' } = values
  odd.push(...checkRegion(region, places))
  const { credential_id: credential } = values
  const ids = listCredentials().map(({ id }) => String(id))
  if (credential !== undefined && !ids.includes(credential))
    odd.push(
      `credential_id must be one of ${ids.join(', ')}, as in the account, not "${shorten(credential)}"`
    )
  const ignored = Object.keys(values).filter((key) => OPTIONAL_GRID_KEYS.includes(key))
  problems.push(...odd.map((problem) => `${place}: ${problem}`))
  return {
    region,
    instanceQuantity: values.instance_quantity ?? 1,
    stopAfterMin: values.stop_after ?? DEFAULT_STOP_AFTER_MIN,
    infrastructure: values.infrastructure ?? 'demand',
    instanceType: values.instance_type ?? 'default',
    ...(ignored.length > 0 && { ignored })
  }
}
