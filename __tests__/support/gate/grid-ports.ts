import type { GridStartPorts } from '../../../src/gate/grids/start-and-stop.js'
import type { GridStartSettings } from '../../../src/gate/grids/grid-settings.js'
import type { StepState } from '../../../src/gate/saved-state.js'
import { readAddress } from '../../../src/client/http/address.js'
import { openInProcess } from '../in-process.js'
import { ManualClock } from '../manual-clock.js'
import { LogBook, TOKEN } from './gate-ports.js'

/** What the steps that start and stop grids are handed, recorded. */
export interface GridPorts extends GridStartPorts {
  readonly log: LogBook
  readonly clock: ManualClock
  readonly cancellation: AbortController
  readonly states: StepState[]
  readonly outputs: string[]
}

export function makeGridPorts(changes: Partial<GridStartPorts> = {}): GridPorts {
  const cancellation = new AbortController()
  const states: StepState[] = []
  const outputs: string[] = []
  return {
    log: new LogBook(),
    clock: new ManualClock(),
    cancellation,
    cancelled: cancellation.signal,
    states,
    outputs,
    saveState: (state) => void states.push(state),
    openClient: openInProcess,
    setOutput: (_, value) => void outputs.push(value),
    ...changes
  } as GridPorts
}

export function gridServiceAt(url: string): GridStartSettings['service'] {
  return { address: readAddress(url), token: TOKEN, serviceName: undefined }
}
