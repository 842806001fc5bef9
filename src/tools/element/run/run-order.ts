import type { HostRule } from './host-rules.js'

/** The work of one process: a compiled script, its users and where their rows go. */
export interface RunOrder {
  readonly mode: 'run'
  /** Where it writes what is meant for whoever started this process. */
  readonly messagesFile: string
  /** The compiled script. */
  readonly plan: string
  /** As the script is called in messages. */
  readonly scriptName: string
  /** Where the uploaded files are. */
  readonly folder: string
  /** For the browser's profile; whoever started this process removes it. */
  readonly workDir: string
  readonly samplesFile: string
  readonly logFile: string
  /** The folder whose node_modules has the browser library. */
  readonly modules: string
  /** The browser's executable. */
  readonly browser: string
  readonly hosts: readonly HostRule[]
  readonly users: number
  readonly rampupMs: number
  /** Null if only the script limits it. */
  readonly durationMs: number | null
  /** How long steps may take to finish when the time is over, or as long as the script's waitTimeout if that is longer. */
  readonly graceMs: number
}
