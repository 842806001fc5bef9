import { join } from 'node:path'
import { makeFolder } from '../../../files/make-folder.js'
import { ToolError } from '../../errors.js'
import type { PlanToPrepare } from '../engine.js'
import type { InstallPorts } from '../install/install-ports.js'
import { createMachineNode } from '../../nodes/machine/machine-place.js'
import { toolEnvironment } from '../tool-environment.js'
import { runTool } from './tool-process.js'

/** Compiles the script and what it imports into one module; throws the compiler's own lines. */
export async function compileScript(
  plan: PlanToPrepare,
  tool: { modules: string; packageNames: readonly string[] },
  ports: InstallPorts
): Promise<string> {
  const [scriptName = ''] = plan.fileNames
  const outFile = join(plan.buildDir, 'plan.mjs')
  makeFolder(plan.buildDir)
  const problems: string[] = []
  const lines: string[] = []
  const exit = await runTool(
    {
      order: () => ({ mode: 'compile', script: join(plan.uploadDir, scriptName), outFile, ...tool }),
      cwd: plan.buildDir,
      onLine: (line) => void lines.push(line),
      onMessage: (message) => {
        if (message.kind === 'problem') problems.push(message.text)
      }
    },
    createMachineNode({ processes: ports.processes, env: toolEnvironment(ports.env) }),
    plan.signal
  )
  plan.signal.throwIfAborted()
  if (problems.length > 0) throw new ToolError(`${scriptName} does not compile:\n${problems.join('\n')}`)
  if (exit.code !== 0)
    throw new ToolError(
      `The compiler of ${scriptName} failed (${exit.signal ?? `exit code ${exit.code}`}): ${lines.slice(0, 5).join('\n')}`
    )
  return outFile
}
