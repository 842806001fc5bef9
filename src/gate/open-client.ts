import { ServiceClient } from '../service/client.js'
import type { ClientOptions } from '../service/client.js'
import type { Ports } from './ports.js'

/** Opens a client for the service, with the factory from the ports if there is one. */
export function openClient(ports: Pick<Ports, 'openClient'>, options: ClientOptions): ServiceClient {
  return ports.openClient?.(options) ?? new ServiceClient(options)
}
