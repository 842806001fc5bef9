import { availableParallelism } from 'node:os'
import type { LoadNode, NodeFacts, NodePlace, NodeSet, ToolSearch } from '../load-node.js'
import type { Processes } from './processes.js'

interface MachineParts {
  readonly processes: Pick<Processes, 'run'>
  readonly env: NodeJS.ProcessEnv
}

/** This machine: a node is a process on it. */
export function createMachinePlace(parts: MachineParts): NodePlace {
  return {
    name: 'this machine',
    outlivesService: false,
    open: ({ quantity }) => Promise.resolve(openSet(quantity, parts))
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

function openSet(quantity: number, parts: MachineParts): NodeSet {
  const facts: NodeFacts = {
    ...{ place: 'this machine', startedMs: null, cpuLimit: availableParallelism() },
    ...{ restarts: null, throttled: null, clockOffsetMs: 0 }
  }
  return {
    nodes: Array.from({ length: quantity }, () => createMachineNode(parts)),
    factsOf: () => facts,
    doubts: () => [],
    close: () => Promise.resolve()
  }
}
