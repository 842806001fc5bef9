import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findPrograms, readVariables, runInImage } from './ask-image.js'

const LEAST_MAJOR = 20
const IN_OPT = '/opt/node/bin/node'

/** Finds Node for `what`, in `NODE_HOME`, on the PATH or in /opt/node. */
export async function requireImageNode(image: ImageShell, what: string): Promise<string> {
  const { NODE_HOME } = await readVariables(image, ['NODE_HOME'])
  const [node] = await findPrograms(image, NODE_HOME ? [`${NODE_HOME}/bin/node`] : ['node', IN_OPT])
  if (node === undefined)
    throw new ToolError(
      NODE_HOME
        ? `${what} needs Node, and in ${image.name} NODE_HOME is ${NODE_HOME}, where there is no bin/node: correct the image's NODE_HOME, or unset it to use the node on the PATH`
        : `${what} needs Node, and ${image.name} has none: there is no node on its PATH, and no ${IN_OPT}; use an image with Node 24`
    )
  const { lines, how } = await runInImage(image, [node, '--version'])
  const [version, major] = /^v(\d+)\.\d+\.\d+.*$/.exec(lines.at(-1)?.trim() ?? '') ?? []
  if (version === undefined)
    throw new ToolError(
      `${what} needs Node, and ${node} of ${image.name} does not print its version (${how}): ${lines.slice(0, 3).join(' ').slice(0, 300) || 'no output'}`
    )
  if (Number(major) < LEAST_MAJOR)
    throw new ToolError(
      `${what} needs Node ${LEAST_MAJOR} or later, and ${node} of ${image.name} is ${version}; use an image with Node 24`
    )
  return node
}
