import type { EarlierResults } from '../analysis/evidence/own-rows.js'
import { ServiceClient, type ClientOptions } from '../client/client.js'
import type { TokenSource } from '../client/http/id-tokens.js'
import type { SavedState } from './saved-state.js'
import type { Settings } from './settings/settings.js'
import type { Credentials } from './settings/token-settings.js'
import type { QueueTime } from './run/watch-run.js'
import type { LocalService, Log, Ports } from './ports.js'

/** What every step of the gate works with. */
export interface Gate {
  readonly ports: Ports
  readonly settings: Settings
  readonly client: ServiceClient
  readonly saved: SavedState
  /** The embedded service, if the run is local. */
  readonly local: LocalService | undefined
  /** What the service's queue took of the timeout. */
  readonly queueTime?: QueueTime
  /** The results of the step's runs so far: no two of them are the same. */
  readonly earlierResults?: EarlierResults[]
  /** The plan's thread groups whose rows count for their labels only; absent where the plan is not known. */
  readonly asideGroups?: readonly string[]
  /** What wait-for took of the timeout. */
  readonly waitedMs?: number
}

/** Opens a client for the service, with the factory from the ports if there is one. */
export function openClient(ports: Pick<Ports, 'openClient'>, options: ClientOptions): ServiceClient {
  return ports.openClient?.(options) ?? new ServiceClient(options)
}

/** What a client sends: the API token, or ID tokens from whoever gives them here. */
export function tokenFor(
  { openIdTokens }: Pick<Ports, 'openIdTokens'>,
  { token, idToken }: Credentials
): string | TokenSource {
  if (idToken === undefined) return token
  if (openIdTokens === undefined) throw new Error('there are no ID tokens here')
  return openIdTokens(idToken.audience)
}

/** Logs where the API is, and saves it for the post step. */
export function noteAddress(
  log: Pick<Log, 'info'>,
  saved?: Pick<SavedState, 'note'>
): NonNullable<ClientOptions['onAddress']> {
  return (api, doubt) => {
    if (doubt === undefined) saved?.note({ address: api })
    log.info(doubt === undefined ? `The API of the service is at ${api}.` : describeDoubt(api, doubt))
  }
}

/** What the service warns of, such as that the token ends soon. */
export function noteWarning(log: Pick<Log, 'warning'>): NonNullable<ClientOptions['onWarning']> {
  return (words) => log.warning(`The service says: ${words}.`)
}

export function describeDoubt(api: string, doubt: string): string {
  return `The API of the service was not found: ${doubt}. Continuing with ${api}, as it is written in base-url.`
}
