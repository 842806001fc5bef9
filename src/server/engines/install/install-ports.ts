import type { Processes } from '../../nodes/processes.js'

/** Dependencies of finding and installing tools. */
export interface InstallPorts {
  readonly env: NodeJS.ProcessEnv
  readonly processes: Processes
  readonly log: (line: string) => void
  readonly signal: AbortSignal
  /** How often an installation reports its progress. */
  readonly progressEveryMs?: number
}
