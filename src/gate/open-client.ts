import { ServiceClient } from '../service/client.js'
import type { ClientOptions } from '../service/client.js'
import type { Ports } from './ports.js'

/** A client for the service, by the workbench's own way to it where it has one. */
export function openClient(ports: Pick<Ports, 'openClient'>, options: ClientOptions): ServiceClient {
  return ports.openClient?.(options) ?? new ServiceClient(options)
}
