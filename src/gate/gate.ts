import type { ServiceClient } from '../service/client.js'
import type { SavedState } from './saved-state.js'
import type { Settings } from './settings/settings.js'
import type { LocalService, Ports } from './ports.js'

/** What every part of the story has at hand. */
export interface Gate {
  readonly ports: Ports
  readonly settings: Settings
  readonly client: ServiceClient
  readonly saved: SavedState
  /** The embedded service, if the run is done here. */
  readonly local: LocalService | undefined
}
