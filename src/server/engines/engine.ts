import type { HostOverride } from './override-hosts.js'
import type { PropertyOverride } from './override-parameters.js'

/** What one node of a grid is to do. */
export interface NodeOrder {
  /** The plan; its data files lie beside it, and the folder is the node's own. */
  readonly planFile: string
  /** Where the samples go: CSV in JMeter's columns, with a header. */
  readonly samplesFile: string
  /** Where the tool's own log goes. */
  readonly logFile: string
  /** Counts the nodes of the run, from 0. */
  readonly ordinal: number
  /** Tells the node's lines from those of others. */
  readonly nodeName: string
  readonly threads: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  readonly hosts: readonly HostOverride[]
  readonly properties: readonly PropertyOverride[]
}

/** How a node's work ended; `problem` holds the tool's own words when it could not run the plan. */
export interface NodeOutcome {
  readonly problem: string | null
  /** Parts of the plan's load that were not made although the tool went on to its end, a sentence each. */
  readonly losses?: readonly string[]
  /** What may be a mistake and may be meant, a sentence each. */
  readonly doubts?: readonly string[]
  /** The span of the samples, where it is not the time that the work took. */
  readonly span?: { readonly startMs: number; readonly endMs: number }
}

/** A load-test tool. A second one is a second file that implements this. */
export interface Engine {
  /** The tools it stands for, as in `run[tool]`. */
  readonly tools: readonly string[]
  /** Its samples are made up, and everything that shows them has to say so. */
  readonly synthetic: boolean
  /** Finds or installs the tool and answers its version; called before every run, so it remembers. */
  prepare(): Promise<string>
  /** Runs the plan to its end, or until the signal is aborted; what was measured until then is kept. */
  runNode(order: NodeOrder, signal: AbortSignal): Promise<NodeOutcome>
}
