import { availableParallelism } from 'node:os'
import {
  type LoadNode,
  type NodeExit,
  type NodeFacts,
  type NodePlace,
  type NodeSet,
  type ToolSearch,
  withRun
} from '../load-node.js'
import type { Isolation, IsolatedNode } from './isolation.js'
import type { Processes } from './processes.js'

interface MachineParts {
  readonly processes: Pick<Processes, 'run'>
  readonly env: NodeJS.ProcessEnv
}

/** This machine: a node is a process on it. */
export function createMachinePlace(
  parts: MachineParts & { readonly isolation?: Isolation | undefined }
): NodePlace {
  return {
    name: 'this machine',
    outlivesService: false,
    open: ({ quantity, runId }) => {
      const { isolation, ...rest } = parts
      const isolated: IsolatedNode[] = []
      const create = (): LoadNode => {
        const node = createMachineNode(rest)
        if (isolation === undefined) return node
        const own = isolation.nodeOf(runId)
        isolated.push(own)
        return isolate(node, own)
      }
      const nodes = Array.from({ length: quantity }, create)
      return Promise.resolve(openSet(nodes, () => isolated.forEach(({ close }) => close())))
    }
  }
}

/** A node on this machine; `env` is what tools get. */
export function createMachineNode({ processes, env }: MachineParts): LoadNode {
  return {
    env,
    memoryBytes: undefined,
    pathOf: (file) => file,
    find: <T>({ here }: ToolSearch<T>) => here(),
    run: (command, signal) => processes.run(command, signal)
  }
}

/** The same node, whose commands have a home, temporary files and, if the service is root, a user of their own. */
function isolate(node: LoadNode, { env, prepare }: IsolatedNode): LoadNode {
  return withRun({ ...node, env: { ...node.env, ...env } }, async (command, signal): Promise<NodeExit> => {
    const isolated = await prepare(command)
    return node.run({ ...command, ...isolated.command }, signal).finally(isolated.end)
  })
}

function openSet(nodes: readonly LoadNode[], close: () => void): NodeSet {
  const facts: NodeFacts = {
    ...{ place: 'this machine', startedMs: null, cpuLimit: availableParallelism() },
    ...{ restarts: null, throttled: null, clockOffsetMs: 0 }
  }
  return {
    nodes,
    factsOf: () => facts,
    doubts: () => [],
    close: () => {
      close()
      return Promise.resolve()
    }
  }
}
