import { ServiceClient } from '../service/client.js'
import type { ClientOptions } from '../service/client.js'
import type { Workbench } from './ports.js'

/** A client for the service, by the workbench's own way to it where it has one. */
export function openClient(bench: Pick<Workbench, 'openClient'>, options: ClientOptions): ServiceClient {
  return bench.openClient?.(options) ?? new ServiceClient(options)
}
