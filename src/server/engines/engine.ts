import type { LoadNode } from '../nodes/load-node.js'
import type { HostOverride } from './override-hosts.js'
import type { PropertyOverride } from './override-parameters.js'

/** What a run asks of its tool. */
export interface PlanRequest {
  /** As in `run[tool]`, in the API document's own word. */
  readonly tool: string
  /** The names of the uploaded files; the plan is the first. */
  readonly fileNames: readonly string[]
  readonly threads: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  readonly hosts: readonly HostOverride[]
  readonly properties: readonly PropertyOverride[]
}

/** A plan to make ready, once per run. */
export interface PlanToPrepare extends PlanRequest {
  /** The folder of the uploaded files. They are not to be changed: a repeat of the run needs them. */
  readonly uploadDir: string
  /** For whatever is compiled; it does not exist yet, and lives as long as the run's other files. */
  readonly buildDir: string
  /** One node of each grid, when they run; where nodes have to be started first, this takes a while. */
  readonly nodes: () => Promise<readonly LoadNode[]>
  /** Aborted when the run is stopped. */
  readonly signal: AbortSignal
}

/** Where a node stands among the others; indices count from 0. */
export interface NodePosition {
  readonly region: string
  /** Among the grids of the run. */
  readonly gridIndex: number
  /** Among the nodes of its grid. */
  readonly nodeIndex: number
  /** Among the nodes of the run. */
  readonly ordinal: number
}

/** The work of one node of a grid. */
export interface NodeOrder {
  /** Where its processes run. */
  readonly node: LoadNode
  readonly place: NodePosition
  /** The plan; its data files are next to it, and the folder belongs to this node. */
  readonly planFile: string
  /** Where the samples go: CSV in JMeter's columns, with a header. */
  readonly samplesFile: string
  /** Where the tool's own log goes. */
  readonly logFile: string
  /** Identifies the node's lines in the log. */
  readonly nodeName: string
  /** Random, and the same if the node's work is taken up by another service: tools mark their lines with it, and a plan cannot know it. */
  readonly mark: string
  /** This node's share. */
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

/** An installed tool and a plan that it can run: what every node of a run shares. */
export interface PreparedPlan {
  /** Of the tool, and of the browser if it drives one: figures of other versions are not comparable. */
  readonly version: string
  /** Runs the plan to its end or until the signal aborts; samples recorded until then are kept. */
  runNode(order: NodeOrder, signal: AbortSignal): Promise<NodeOutcome>
}

/** A load-test tool. To add another one, implement this in a folder of its own. */
export interface Engine {
  /** The tools it provides, as in `run[tool]`. */
  readonly tools: readonly string[]
  /** Its samples are synthetic; everything that shows them must say so. */
  readonly synthetic: boolean
  /** Why a run cannot even be created, one sentence each: a file of the wrong kind, an option that has no effect. */
  refuse(request: PlanRequest): string[]
  /** Finds or installs the tool, which it caches, and compiles the plan. A `ToolError` says what to do. */
  prepare(plan: PlanToPrepare): Promise<PreparedPlan>
}
