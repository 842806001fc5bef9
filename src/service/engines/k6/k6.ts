import { resolve } from 'node:path'
import { variableOf } from '../../../analysis/plans/check/source-plan.js'
import { ToolError } from '../../errors.js'
import type { ImageShell, ToolSearch } from '../../nodes/load-node.js'
import { findOnce, joinVersions, type Engine, type PlanRequest } from '../engine.js'
import { readEnvironmentFile, refuseVariable } from '../environment-file.js'
import { requireImageNode } from '../image/image-program.js'
import type { InstallPorts } from '../install/run-to-end.js'
import { programsHere, programsIn, type ProgramSource } from '../program-source.js'
import { type K6Tool, runOnNode } from './run-node.js'

/** Runs scripts of k6, a process per node. */
export function createK6Engine(ports: InstallPorts): Engine {
  const search: ToolSearch<K6Tool> = {
    here: findOnce(async () => ({ ...(await findK6(programsHere(ports))), node: process.execPath })),
    inImage: async (image: ImageShell) => ({
      ...(await findK6(programsIn(image))),
      node: await requireImageNode(image, 'k6')
    })
  }
  return {
    tools: ['k6'],
    refuse,
    prepare: async (plan) => {
      const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
      const nodes = await plan.nodes()
      const tools = await Promise.all(nodes.map((node) => node.find(search)))
      return {
        version: joinVersions(tools.map(({ version }) => version)),
        runNode: async (order, signal) =>
          runOnNode({ tool: await order.node.find(search), variables }, { order, signal, ports })
      }
    }
  }
}

function refuse({ fileNames, properties }: PlanRequest): string[] {
  const [script = ''] = fileNames
  const isScript = /\.(?:[cm]?[jt]s|tar)$/i.test(script) && !/\.d\.ts$/i.test(script)
  const wrongFile = `${script} is not a script of k6, which is JavaScript or TypeScript (.js or .ts), or an archive of \`k6 archive\` (.tar): send one`
  const wrongNames = properties.flatMap(({ kind, name }) => {
    const refusal = refuseVariable(name) ?? refuseVariable(variableOf(name))
    return refusal === undefined ? [] : [`override_parameters: -${kind}${name}: ${refusal}`]
  })
  return isScript ? wrongNames : [wrongFile, ...wrongNames]
}

const LEAST_MAJOR = 1
const ADVICE =
  'Install k6 1.0 or later: the step `uses: grafana/setup-k6-action@v1` in a workflow, a package (https://grafana.com/docs/k6), or `go install go.k6.io/k6@latest`; or set K6 to its path'

/** `K6`, or `k6` on the PATH. Nothing is downloaded: k6 is under a licence of its own. */
export async function findK6(source: ProgramSource): Promise<Omit<K6Tool, 'node'>> {
  const { image } = source
  const where = image === undefined ? '' : ` in ${image}`
  const { K6 } = await source.variables(['K6'])
  const [k6] = await source.find([K6 ? (image === undefined ? resolve(K6) : K6) : 'k6'])
  if (k6 === undefined)
    throw new ToolError(
      K6
        ? `K6 is ${K6}${where}, but there is no program: point it to k6, or unset it`
        : `There is no k6${where}: K6 is not set, and no k6 is on the PATH. ${ADVICE}`
    )
  const { lines, how } = await source.askVersion(k6)
  const [, version, major] = /^k6(?:\.exe)? v?((\d+)\.\d+\.\d+[\w.+-]*)/m.exec(lines.join('\n')) ?? []
  if (version === undefined)
    throw new ToolError(
      `${k6}${where} does not say which k6 it is (${how}): ${(lines[0] ?? 'no output').slice(0, 200)}. ${ADVICE}`
    )
  if (Number(major) < LEAST_MAJOR)
    throw new ToolError(`${k6}${where} is k6 ${version}, which is too old. ${ADVICE}`)
  return { k6, version }
}
