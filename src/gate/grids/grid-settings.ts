import { isReference, type GridSpecification } from '../../client/documents/requests.js'
import { readGridList, SERVICE_RULES } from '../settings/grid-list.js'
import { GRID_START_INPUTS, GRID_STOP_INPUTS, type GridInputName } from '../../contract/inputs.js'
import { Inputs } from '../settings/inputs.js'
import { parseServiceAddress } from '../settings/target-settings.js'
import { readGivenToken } from '../settings/token-settings.js'

export type GridStartSettings = Readonly<Awaited<ReturnType<typeof readGridStartSettings>>>
export type GridStopSettings = Readonly<NonNullable<Awaited<ReturnType<typeof readGridStopSettings>>>>

type ReadGridInput = (name: GridInputName) => string

/** Whether GitHub gives the job ID tokens. */
interface Offer {
  readonly offersIdTokens: boolean
}

const NO_OFFER: Offer = { offersIdTokens: false }

/** Collects every problem, so that a workflow can be fixed in one push. */
export async function readGridStartSettings(read: ReadGridInput, offer = NO_OFFER) {
  const inputs = new Inputs(GRID_START_INPUTS, read)
  const { grids, service } = await readCommon(inputs, offer)
  const timeoutMs = inputs.take('timeout') * 1000
  const keep = inputs.take('keep')
  for (const { id } of grids.filter(isReference))
    inputs.complain(
      'grids',
      `"${id}" is the uuid of an existing grid, and grid-start only creates grids; give a specification, or give the uuid to loadgate itself`
    )
  const specified = grids.filter((grid) => !isReference(grid)) as GridSpecification[]
  return inputs.checked({ service, grids: specified, timeoutMs, keep })
}

/** Undefined if there are no grids to stop; nothing else is required then, so that the step also works after a start that failed early. */
export async function readGridStopSettings(read: ReadGridInput, offer = NO_OFFER) {
  const given = read('grids')
  if (given === '' || /^\[\s*\]$/.test(given)) return undefined
  const inputs = new Inputs(GRID_STOP_INPUTS, read)
  const { grids, service } = await readCommon(inputs, offer)
  const timeoutMs = inputs.take('timeout') * 1000
  if (!grids.every(isReference))
    inputs.complain(
      'grids',
      'contains a specification; a grid to stop is given by its uuid, as in the output grids of grid-start'
    )
  const ids: readonly string[] = [...new Set(grids.filter(isReference).map(({ id }) => id))]
  return inputs.checked({ service, ids, timeoutMs })
}

interface GridInputs {
  text(name: 'base-url' | 'token' | 'oidc-audience' | 'grids'): string
  complain(name: 'base-url' | 'token' | 'oidc-audience' | 'grids', problem: string): void
  take(name: 'service-name'): string | undefined
}

/** What both actions take. */
async function readCommon(inputs: GridInputs, offer: Offer) {
  const service = readService(inputs, offer)
  const given = inputs.text('grids')
  const { grids, problems } = await readGridList(given === '' ? [{}] : given, SERVICE_RULES)
  for (const problem of problems) inputs.complain('grids', problem)
  return { service, grids }
}

function readService(inputs: GridInputs, { offersIdTokens }: Offer) {
  const token = inputs.text('token')
  const parsed = addressOf(inputs.text('base-url'))
  if ('problem' in parsed) inputs.complain('base-url', parsed.problem)
  if (token === '') inputs.complain('token', 'is empty; set it to the API token, from a secret, or to oidc')
  const address = 'address' in parsed ? parsed.address : { api: '', origin: '' }
  const credentials = readGivenToken(inputs, token, { origin: address.origin, offersIdTokens })
  return { address, ...credentials, serviceName: inputs.take('service-name') }
}

function addressOf(given: string): ReturnType<typeof parseServiceAddress> {
  if (given === '') return { problem: 'is empty; give the address of the service (https://…)' }
  const local =
    'local has no grids that another step could use: the embedded service ends with its step, and its grids with it; ' +
    'start a service that stays with `loadgate serve` and give its address'
  return given === 'local' ? { problem: local } : parseServiceAddress(given)
}
