import type { Address } from '../../client/http/address.js'
import { isReference, type GridChoice, type GridSpecification } from '../../client/documents/requests.js'
import { readGridList } from '../settings/grid-list.js'
import { parseServiceAddress, parseServiceName, tokenProblem } from '../settings/service-values.js'
import { parseBoolean, parseDurationSeconds, type Parsed } from '../../contract/setting-values.js'
import { SettingsError } from '../errors.js'

/** The inputs of the action that starts grids. */
export const GRID_START_INPUTS = ['base-url', 'token', 'grids', 'timeout', 'service-name', 'keep'] as const
/** The inputs of the action that stops them. */
export const GRID_STOP_INPUTS = ['base-url', 'token', 'grids', 'timeout', 'service-name'] as const

export type GridInputName = (typeof GRID_START_INPUTS)[number]

type Defaults = Readonly<Partial<Record<GridInputName, string>>>
export const GRID_START_DEFAULTS: Defaults = { timeout: '15m', keep: 'false' }
export const GRID_STOP_DEFAULTS: Defaults = { timeout: '10m' }

export interface GridService {
  readonly address: Address
  readonly token: string
  readonly serviceName: string | undefined
}

export interface GridStartSettings {
  readonly service: GridService
  readonly grids: readonly GridSpecification[]
  readonly timeoutMs: number
  /** Leave the grids running at the end of the job. */
  readonly keep: boolean
}

export interface GridStopSettings {
  readonly service: GridService
  readonly ids: readonly string[]
  readonly timeoutMs: number
}

/** Gives the trimmed value of an input; empty if it was not given. */
export type ReadGridInput = (name: GridInputName) => string

/** Collects every problem, so that a workflow can be fixed in one push. */
export function readGridStartSettings(read: ReadGridInput): GridStartSettings {
  const inputs = new GridInputs(read, GRID_START_DEFAULTS)
  const service = inputs.service()
  const grids = inputs.grids('is empty; give a list of specifications (`region`, `instance_quantity`, …)')
  const timeoutMs = inputs.timeoutMs()
  const keep = inputs.take('keep', parseBoolean) ?? false
  for (const { id } of grids.filter(isReference))
    inputs.complain(
      'grids',
      `"${id}" is the uuid of an existing grid, and grid-start only creates grids; give a specification, or give the uuid to loadgate itself`
    )
  return inputs.checked({
    service,
    grids: grids.filter((grid) => !isReference(grid)) as GridSpecification[],
    ...{ timeoutMs, keep }
  })
}

/** Undefined if there are no grids to stop; then nothing else is needed, so that the step also works after a start that never came that far. */
export function readGridStopSettings(read: ReadGridInput): GridStopSettings | undefined {
  const given = read('grids')
  if (given === '' || /^\[\s*\]$/.test(given)) return undefined
  const inputs = new GridInputs(read, GRID_STOP_DEFAULTS)
  const service = inputs.service()
  const grids = inputs.grids('')
  const timeoutMs = inputs.timeoutMs()
  if (!grids.every(isReference))
    inputs.complain(
      'grids',
      'contains a specification; a grid to stop is given by its uuid, as in the output grids of grid-start'
    )
  const ids = [...new Set(grids.filter(isReference).map(({ id }) => id))]
  return inputs.checked({ service, ids, timeoutMs })
}

class GridInputs {
  readonly #problems: string[] = []
  readonly #read: ReadGridInput
  readonly #defaults: Defaults

  constructor(read: ReadGridInput, defaults: Defaults) {
    this.#read = read
    this.#defaults = defaults
  }

  complain(name: GridInputName, problem: string): void {
    this.#problems.push(`${name}: ${problem}`)
  }

  take<T>(name: GridInputName, parse: (text: string) => Parsed<T>): T | undefined {
    const text = this.#read(name) || (this.#defaults[name] ?? '')
    if (text === '') return undefined
    const parsed = parse(text)
    if (parsed.ok) return parsed.value
    this.complain(name, `"${text}" is invalid; expected ${parsed.accepted}`)
    return undefined
  }

  timeoutMs(): number {
    return (this.take('timeout', (text) => parseDurationSeconds(text, 1)) ?? 0) * 1000
  }

  grids(emptyProblem: string): readonly GridChoice[] {
    const given = this.#read('grids')
    if (given === '') {
      this.complain('grids', emptyProblem)
      return []
    }
    const { grids, problems } = readGridList(given, { defaults: {}, durationSeconds: undefined })
    for (const problem of problems) this.complain('grids', problem)
    return grids
  }

  service(): GridService {
    const token = this.#read('token')
    const problem = token === '' ? 'is empty; set it to the API token, from a secret' : tokenProblem(token)
    const address = this.#address()
    if (problem !== undefined) this.complain('token', problem)
    return { address, token, serviceName: this.take('service-name', parseServiceName) }
  }

  /** The settings, if there is no problem with them. */
  checked<T>(settings: T): T {
    if (this.#problems.length > 0) throw new SettingsError(this.#problems)
    return settings
  }

  #address(): Address {
    const given = this.#read('base-url')
    const parsed = addressOf(given)
    if ('address' in parsed) return parsed.address
    this.complain('base-url', parsed.problem)
    return { api: '', origin: '' }
  }
}

function addressOf(given: string): ReturnType<typeof parseServiceAddress> {
  if (given === '') return { problem: 'is empty; give the address of the service (https://…)' }
  if (given === 'local')
    return {
      problem:
        'local has no grids that another step could use: the embedded service ends with its step, and its grids with it; ' +
        'start a service that stays with `loadgate serve` and give its address'
    }
  return parseServiceAddress(given)
}
