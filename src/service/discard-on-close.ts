import { rm } from 'node:fs/promises'
import type { EmbeddedService } from './server.js'

interface GateServiceEnd {
  readonly withinMs?: number
  /** A folder for the samples that nobody has collected. */
  readonly keepSamplesIn?: string
}

/** A service for one gate: its data folder is removed when it closes, because everything worth keeping was collected. */
export function discardOnClose(
  service: EmbeddedService,
  dataDir: string
): Omit<EmbeddedService, 'close'> & { close(end?: GateServiceEnd): Promise<void> } {
  return {
    ...service,
    close: async ({ keepSamplesIn, ...end } = {}) => {
      await service.close(end)
      if (keepSamplesIn !== undefined) await service.keepSamples(keepSamplesIn)
      await rm(dataDir, { recursive: true, force: true })
    }
  }
}
