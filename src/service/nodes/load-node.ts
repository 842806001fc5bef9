import type { GridSpec, NodeRecord } from '../../contract/records.js'

export interface NodeExit {
  readonly code: number | null
  readonly signal: string | null
}

/** A command on a node. Its paths are paths on the node (`pathOf`), those of its files are of this machine. */
export interface NodeCommand {
  /** Identifies the work: a node never does the same work twice, and can continue it. */
  readonly id?: string
  readonly file: string
  readonly args: readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  /** Called with each line of its output, from the first one. */
  readonly onLine: (line: string) => void
  /** Programs and tools of the node that it starts or reads itself, apart from `file`. */
  readonly starts?: readonly string[]
  /** Files and folders of this machine that it reads: they are on the node when it starts. */
  readonly brings: readonly string[]
  /** Files that it writes and that are read here while it runs: they grow on this machine as they grow on the node. */
  readonly follows: readonly string[]
  /** Files that it writes and that are read here when it has ended; one that does not exist is left out. */
  readonly collects: readonly string[]
  /** For its temporary files: should this process be killed, the folder goes with the command. */
  readonly tempDir?: string
  /** Its results are always complete: where it may exit slowly, a stop is a KILL, not a TERM after which it could go on unrecorded. */
  readonly canBeKilled?: boolean
  /** Called with the id of its process group, where it has one on this machine. */
  readonly onStart?: (groupId: number) => void
  /** Called when everything is ready to start it; it starts when the promise is fulfilled, and not at all if it is rejected. */
  readonly whenReady?: () => Promise<void>
}

/** A shell in a node's image, for short questions. */
export interface ImageShell {
  /** For messages: `the image registry.example/node:1`. */
  readonly name: string
  /** Runs a script of POSIX sh with arguments, and returns the lines of both its outputs. */
  ask(script: string, args?: readonly string[]): Promise<{ code: number; lines: readonly string[] }>
}

/** Two ways to find a tool: the node knows which one applies. */
export interface ToolSearch<T> {
  readonly here: () => Promise<T>
  /** Finds it in an image; a `ToolError` says what is missing there. */
  readonly inImage: (image: ImageShell) => Promise<T>
}

/** A place where one node's processes run: this machine, or a pod. */
export interface LoadNode {
  /** What every tool gets from its environment there; a tool's own variables are added to it. */
  readonly env: NodeJS.ProcessEnv
  readonly memoryBytes: number | undefined
  /** How long its files may stop growing here while its command runs, because it cannot be reached; undefined if that cannot happen. */
  readonly outageMs?: number
  /** Where a file or folder of this machine is on the node. */
  pathOf(file: string): string
  /** Finds a tool on it; what was found is remembered for all nodes of its grid. */
  find<T>(search: ToolSearch<T>): Promise<T>
  /** Runs a command to its end, with its files. An abort sends TERM, then KILL (see `canBeKilled`). A lost node is a `NodeError`. */
  run(command: NodeCommand, signal: AbortSignal): Promise<NodeExit>
}

/** The same node, with another way to run commands. */
export function withRun(node: LoadNode, run: LoadNode['run']): LoadNode {
  return { ...node, run }
}

type Known = 'place' | 'startedMs' | 'cpuLimit' | 'restarts' | 'throttled' | 'clockOffsetMs'

/**
 * What is known about a node; it stays with the run. `throttled` is the share of the run in which its CPU was throttled. `clockOffsetMs` is
 * its clock minus this machine's, to be subtracted from the times of its samples; 0 within the error of the measurement.
 */
export interface NodeFacts extends Readonly<Pick<NodeRecord, Known>> {
  /** What the place calls it, if it has a name there: the pod's. */
  readonly name?: string
  /** When its tool ended, by this machine's clock; undefined or null where the place does not know. */
  readonly endedMs?: number | null
}

export interface NodeSet {
  readonly nodes: readonly LoadNode[]
  factsOf(index: number): NodeFacts
  /** What is worth reporting about the nodes as a whole, one sentence each: a clock that is off, starts far apart. */
  doubts(): readonly string[]
  /** Ends everything that runs on them and closes them; never throws. */
  close(): Promise<void>
}

/** The nodes of a run in one of its grids. */
export interface NodesInUse {
  readonly runId: string
  readonly gridId: string
}

export interface NodeSetRequest
  extends NodesInUse, Pick<GridSpec, 'region' | 'instanceType' | 'stopAfterMin'> {
  readonly tool: string
  readonly quantity: number
  /** Take the nodes that an earlier service started, with what runs on them; if there are none any more, that is a `NodeError`. */
  readonly isContinued: boolean
}

/** Where the nodes of a region's grids run. */
export interface NodePlace {
  /** For people: `this machine`, `namespace load of the cluster load-eu`. */
  readonly name: string
  /** Whether its nodes outlive this process, so that a run can be continued. */
  readonly outlivesService: boolean
  /** How many nodes it has at a time; undefined leaves it to the queue. */
  readonly mostNodes?: number
  /** Starts nodes, and returns when all of them run. A `NodeError` says why they do not, in the cluster's words. */
  open(request: NodeSetRequest, signal: AbortSignal): Promise<NodeSet>
}

/** A node, or all nodes of a grid, cannot be used or was lost. */
export class NodeError extends Error {
  override name = 'NodeError'
}
