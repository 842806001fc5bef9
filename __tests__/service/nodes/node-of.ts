import { toolEnvironment } from '../../../src/service/engines/tool-environment.js'
import type { LoadNode } from '../../../src/service/nodes/load-node.js'
import { createMachineNode } from '../../../src/service/nodes/machine/machine-place.js'
import type { Processes } from '../../../src/service/nodes/machine/processes.js'

/** A node on this machine that runs commands in its own way. */
export function nodeOf(processes: Pick<Processes, 'run'>, env: NodeJS.ProcessEnv = process.env): LoadNode {
  return createMachineNode({ processes, env: toolEnvironment(env) })
}
