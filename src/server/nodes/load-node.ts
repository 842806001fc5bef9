import type { ToolCommand, ToolExit } from './machine/processes.js'

/** A place where one node's processes run: this machine, for now. */
export interface LoadNode {
  /** Runs a command to its end. On abort its whole process group gets TERM and, if it does not exit, KILL. */
  run(command: ToolCommand, signal: AbortSignal): Promise<ToolExit>
}
