import { readFile } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import type { ToolSearch, ImageShell } from '../../nodes/load-node.js'
import { type Engine, type PlanRequest, findOnce, joinVersions } from '../engine.js'
import { readEnvironmentFile, refuseVariable } from '../environment-file.js'
import { installPackages, type PackageLock } from '../install/install-packages.js'
import type { InstallPorts } from '../install/run-to-end.js'
import { makeFolder, removeFolder } from '../../../contract/files.js'
import { ToolError } from '../../errors.js'
import { type BuildPlace, buildEnvironment, buildForTools, withinLimit } from '../plan-build.js'
import { CHROME_ON_MAC, IN_OPT, requireImageNode } from '../image/image-program.js'
import { programsHere, programsIn, type ProgramSource } from '../program-source.js'
import { runScript, runTool } from './run-script.js'

/** Runs scripts for Element in Chrome or Chromium: a browser per node, a context per user. `packageNames`: further names of the API. */
export function createBrowserEngine(
  ports: InstallPorts,
  { packageNames = [] }: { packageNames?: readonly string[] } = {}
): Engine {
  return { tools: ['service-chrome'], refuse, prepare: prepareWith(ports, packageNames) }
}

function refuse({ fileNames, properties }: PlanRequest): string[] {
  const [script = ''] = fileNames
  const isScript = /\.(ts|js)$/i.test(script) && !/\.d\.ts$/i.test(script)
  const wrongFile = `${script} is not a script for service-chrome, which is TypeScript or JavaScript (.ts or .js) that imports @flood/element: send one`
  const wrongNames = properties.flatMap(({ kind, name }) => {
    const refusal = refuseVariable(name)
    return refusal === undefined ? [] : [`override_parameters: -${kind}${name}: ${refusal}`]
  })
  return isScript ? wrongNames : [wrongFile, ...wrongNames]
}

/** A browser puts sockets into its temporary folder, whose path must be short. */
const IMAGE_TEMP = '/tmp'
const SHOWN_LINES = 5

function prepareWith(ports: InstallPorts, packageNames: readonly string[]): Engine['prepare'] {
  return async (plan) => {
    const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
    const search: ToolSearch<BrowserTool> = {
      // Browsers update themselves: they are looked for in each run.
      here: findOnce(async () => ({
        node: process.execPath,
        browser: await findBrowser(programsHere(ports))
      })),
      inImage: findBrowserInImage
    }
    const opened = await plan.nodes()
    const nodes = await Promise.all(opened.map(async (node) => ({ node, tool: await node.find(search) })))
    const tools = nodes.map(({ tool }) => tool)
    for (const words of new Set(tools.map(describeTool))) ports.log(`service-chrome: using ${words}`)
    const modules = await installPackages(BROWSER_PACKAGES, ports)
    const buildOf = await buildForTools(plan, nodes, (place, tool) =>
      compileScript(place, { tool, modules, packageNames, scriptName: plan.fileNames[0] ?? '' })
    )
    const playwright = join(modules, 'node_modules', 'playwright-core', 'package.json')
    const { version } = JSON.parse(await readFile(playwright, 'utf8')) as { version: string }
    return {
      version: `Playwright ${version}, ${joinVersions(tools.map(({ browser }) => browser.version))}`,
      runNode: async (order, signal) => {
        const tool = await order.node.find(search)
        const { browser, node } = tool
        const file = scriptIn(buildOf(tool).folder)
        const script = { file, modules, browser: browser.path, node, tempDir: tempDirOf(tool), variables }
        return runScript(script, order, { signal, ports: { log: ports.log } })
      }
    }
  }
}

function tempDirOf({ image }: BrowserTool): string | undefined {
  return image === undefined ? undefined : IMAGE_TEMP
}

function scriptIn(folder: string): string {
  return join(folder, 'out', 'plan.mjs')
}

function describeTool({ browser: { version, path, origin }, image }: BrowserTool): string {
  return `${version} (${path}${image === undefined ? '' : ` of ${image}`}, ${origin})`
}

/** playwright-core, which drives the browser, and esbuild, which compiles a script: as WebAssembly, for nodes of any kind. */
export const BROWSER_PACKAGES: PackageLock = {
  name: 'browser-engine',
  what: 'the packages for service-chrome (playwright-core, esbuild-wasm)',
  folder: 'packages/browser'
}

const MOST_PROBLEMS = 100

/** Compiles the script and what it imports into one module, on a node; throws the compiler's own lines. */
async function compileScript(
  place: BuildPlace,
  given: { tool: BrowserTool; modules: string; packageNames: readonly string[]; scriptName: string }
): Promise<Record<string, never>> {
  const { node, folder, filesDir } = place
  const { tool, modules, packageNames, scriptName } = given
  const compiler = join(modules, 'node_modules', 'esbuild-wasm')
  const [outFile, home] = [scriptIn(folder), join(folder, 'home')]
  for (const made of [dirname(outFile), home]) makeFolder(made, { mode: 0o755 })
  const problems: string[] = []
  const lines: string[] = []
  const exit = await withinLimit(place, (signal) =>
    runTool(
      {
        beside: folder,
        order: () => ({
          ...{ mode: 'compile', script: node.pathOf(join(filesDir, scriptName)), packageNames },
          ...{ outFile: node.pathOf(outFile), compiler: node.pathOf(compiler) }
        }),
        brings: [filesDir, compiler],
        collects: [outFile],
        cwd: filesDir,
        ...{ node: tool.node, tempDir: tempDirOf(tool) },
        onLine: (line) => {
          if (lines.length < SHOWN_LINES) lines.push(line)
        },
        onMessage: (message) => {
          if (message.kind === 'problem' && problems.length < MOST_PROBLEMS) problems.push(message.text)
        }
      },
      { ...node, env: buildEnvironment(node, home) },
      signal
    )
  )
  await removeFolder(home)
  if (problems.length > 0) throw new ToolError(`${scriptName} does not compile:\n${problems.join('\n')}`)
  if (exit.code !== 0)
    throw new ToolError(
      `The compiler of ${scriptName} failed (${exit.signal ?? `exit code ${exit.code}`}): ${lines.join('\n')}`
    )
  return {}
}

interface BrowserTool {
  readonly image?: string
  readonly browser: Awaited<ReturnType<typeof findBrowser>>
  readonly node: string
}

export async function findBrowserInImage(image: ImageShell): Promise<BrowserTool> {
  const node = await requireImageNode(image, 'service-chrome')
  return { image: image.name, node, browser: await findBrowser(programsIn(image)) }
}

/** The leanest first: many users fit into a machine. */
const NAMES = [
  ...['chromium-headless-shell', 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']
]
const ADVICE =
  'On Debian: apt-get install chromium-headless-shell (or chromium); on macOS: brew install --cask google-chrome; runners hosted by GitHub have google-chrome. Or set CHROME to the path of the browser'

/** Finds the browser for scripts: `CHROME`, on the PATH, `CHROME_BIN`, an application of macOS, or below /opt in an image. */
export async function findBrowser(source: ProgramSource) {
  const { path, origin } = await locate(source)
  const { code, lines, how } = await source.askVersion(path)
  const version = lines.find((line) => /\d+\.\d+\.\d+/.test(line))?.trim()
  if (code === 0 && version !== undefined) return { path, origin, version }
  const where = source.image === undefined ? '' : ` of ${source.image}`
  throw failure(
    source,
    `The browser ${path}${where} (${origin}) does not start (${how}): ${(lines[0] ?? 'no output').slice(0, 200)}`
  )
}

async function locate(source: ProgramSource): Promise<{ path: string; origin: string }> {
  const { CHROME, CHROME_BIN } = await source.variables(['CHROME', 'CHROME_BIN'])
  const { image } = source
  const elsewhere = image === undefined ? CHROME_ON_MAC : IN_OPT.CHROME
  const chosen = async (variable: string, given: string): Promise<{ path: string; origin: string }> => {
    const [path] = await source.find([image === undefined ? resolve(given) : given])
    if (path !== undefined) return { path, origin: `from ${variable}` }
    const where = image === undefined ? '' : `In ${image} `
    throw failure(
      source,
      `${where}${variable} is ${given}, but there is no program: point it to a browser, or unset it`
    )
  }
  if (CHROME) return chosen('CHROME', CHROME)
  const [onPath] = await source.find(NAMES)
  if (onPath !== undefined) return { path: onPath, origin: 'on the PATH' }
  if (CHROME_BIN) return chosen('CHROME_BIN', CHROME_BIN)
  const [path] = await source.find(elsewhere ?? [])
  if (path !== undefined) return { path, origin: image === undefined ? 'an application' : 'in /opt' }
  const where = image === undefined ? '' : ` in ${image}`
  throw failure(
    source,
    `There is no Chrome or Chromium${where}: neither CHROME nor CHROME_BIN is set, and none of ${NAMES.join(', ')} is on the PATH`
  )
}

function failure({ image }: ProgramSource, words: string): ToolError {
  return new ToolError(
    image === undefined ? `${words}. ${ADVICE}` : `${words}; use an image that has one, or set CHROME in it`
  )
}
