import type { Processes } from '../../nodes/machine/processes.js'

/** Dependencies of finding and installing tools. */
export interface InstallPorts {
  readonly env: NodeJS.ProcessEnv
  readonly processes: Processes
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  /** Shows a line in place of the one before, if there is a terminal; without a line, nothing. */
  readonly progress?: ((line: string | undefined) => void) | undefined
  /** How often an installation reports its progress. */
  readonly progressEveryMs?: number
}
