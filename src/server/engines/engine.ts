import type { HostOverride } from './override-hosts.js'
import type { PropertyOverride } from './override-parameters.js'

/** The work of one node of a grid. */
export interface NodeOrder {
  /** The plan; its data files are next to it, and the folder belongs to this node. */
  readonly planFile: string
  /** Where the samples go: CSV in JMeter's columns, with a header. */
  readonly samplesFile: string
  /** Where the tool's own log goes. */
  readonly logFile: string
  /** Index among the nodes of the run, from 0. */
  readonly ordinal: number
  /** Identifies the node's lines in the log. */
  readonly nodeName: string
  readonly threads: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  readonly hosts: readonly HostOverride[]
  readonly properties: readonly PropertyOverride[]
}

/** How a node's work ended; `problem` is the tool's own error if it could not run the plan. */
export interface NodeOutcome {
  readonly problem: string | null
  /** Parts of the plan's load that were not generated although the tool ran to the end, one sentence each. */
  readonly losses?: readonly string[]
  /** What may be a mistake or intended, one sentence each. */
  readonly doubts?: readonly string[]
  /** The time span of the samples, if it differs from the duration of the work. */
  readonly span?: { readonly startMs: number; readonly endMs: number }
}

/** A load-test tool. To add another one, implement this in another file. */
export interface Engine {
  /** The tools it provides, as in `run[tool]`. */
  readonly tools: readonly string[]
  /** Its samples are synthetic; everything that shows them must say so. */
  readonly synthetic: boolean
  /** Finds or installs the tool and returns its version; called before every run, so it caches. */
  prepare(): Promise<string>
  /** Runs the plan to its end or until the signal aborts; samples recorded until then are kept. */
  runNode(order: NodeOrder, signal: AbortSignal): Promise<NodeOutcome>
}
