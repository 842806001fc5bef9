import type { ServiceClient } from '../service/client.js'
import type { Ledger } from './saved-state.js'
import type { Settings } from './settings/settings.js'
import type { LocalService, Workbench } from './ports.js'

/** What every part of the story has at hand. */
export interface Gate {
  readonly bench: Workbench
  readonly settings: Settings
  readonly client: ServiceClient
  readonly ledger: Ledger
  /** The embedded service, if the run is done here. */
  readonly local: LocalService | undefined
}
