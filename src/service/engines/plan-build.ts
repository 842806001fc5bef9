import { constants } from 'node:fs'
import { copyFile, readFile, rename, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder, removeFolder } from '../../contract/files.js'
import { quote } from '../../contract/regions/regions.js'
import { ToolError } from '../errors.js'
import type { LoadNode, NodeExit } from '../nodes/load-node.js'
import type { PlanToPrepare } from './engine.js'
import { fingerprint } from './install/jars/jar-list.js'
import { jvmFolders } from './tool-environment.js'

/**
 * Where a plan is built: on a node that runs it, never beside a service whose nodes are elsewhere. A compiler runs what the plan brings
 * (macros of Scala, plugins of javac in a jar), and reads any file that a script imports.
 */
export interface BuildPlace {
  readonly node: LoadNode
  /** Of this machine, for this build alone: what is in it when the build ends stays with the run. */
  readonly folder: string
  /** The uploaded files, copied: a compiler could change them. Removed after the build. */
  readonly filesDir: string
  readonly signal: AbortSignal
}

/**
 * Builds a plan once for each of the tools that run it, on the first node that has it. What `build` returns is kept beside the files: a
 * service that continues the run finds it there, because the nodes are at work.
 */
export async function buildForTools<Tool extends object, Built>(
  plan: PlanToPrepare,
  nodes: readonly { readonly node: LoadNode; readonly tool: Tool }[],
  build: (place: BuildPlace, tool: Tool) => Promise<Built>
): Promise<(tool: Tool) => { readonly built: Built; readonly folder: string }> {
  const builds = new Map<string, Promise<Built>>()
  const folderOf = (tool: Tool): string => join(plan.buildDir, fingerprint([JSON.stringify(tool)]))
  for (const { node, tool } of nodes) {
    const folder = folderOf(tool)
    if (!builds.has(folder))
      builds.set(
        folder,
        buildOnce(plan, folder, (filesDir) => build({ node, folder, filesDir, signal: plan.signal }, tool))
      )
  }
  const done = new Map<string, Built>()
  for (const [folder, built] of await Promise.all(
    [...builds].map(async ([folder, building]) => [folder, await building] as const)
  ))
    done.set(folder, built)
  return (tool) => {
    const folder = folderOf(tool)
    const built = done.get(folder)
    if (built === undefined) throw new Error(`the plan was not built for ${JSON.stringify(tool)}`)
    return { built, folder }
  }
}

async function buildOnce<Built>(
  { uploadDir, fileNames }: PlanToPrepare,
  folder: string,
  build: (filesDir: string) => Promise<Built>
): Promise<Built> {
  // Beside the folder, which others may write to.
  const record = `${folder}.json`
  const known = await readFile(record, 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known) as Built
  await removeFolder(folder)
  const filesDir = join(folder, 'files')
  makeFolder(filesDir)
  for (const name of fileNames)
    await copyFile(join(uploadDir, name), join(filesDir, name), constants.COPYFILE_FICLONE)
  const built = await build(filesDir)
  await removeFolder(filesDir)
  await writeFile(`${record}.new`, JSON.stringify(built))
  await rename(`${record}.new`, record)
  return built
}

/** Commands one after the other; their words are programs, options and paths of the node. */
interface Build {
  readonly commands: readonly (readonly string[])[]
  /** Files of this machine that they read, beside the plan's. */
  readonly brings: readonly string[]
  /** Folders of this machine that they write to: made by their user, removed afterwards. */
  readonly folders: readonly string[]
  /** A file of this machine that is made. */
  readonly product?: string | undefined
}

interface BuildEnd {
  /** Which of the commands failed; undefined if none did. */
  readonly failed: number | undefined
  /** What each of them printed. */
  readonly lines: readonly (readonly string[])[]
}

const NEXT = 'loadgate: the next command'
/** The exit code if the first command fails; those of the next ones follow. */
const FIRST_FAILED = 101
const LIMIT_MS = 10 * 60_000
/** Of all that is printed: a plan may print without end. */
const MOST_CHARACTERS = 16 * 1024 ** 2

export async function runBuild(place: BuildPlace, build: Build): Promise<BuildEnd> {
  const { node, filesDir } = place
  const tempDir = tempOf(place)
  if (build.product !== undefined) makeFolder(dirname(build.product), { mode: 0o755 })
  const { takeLine, lines } = collectLines()
  const exit = await withinLimit(place, (signal) =>
    node.run(
      {
        file: '/bin/sh',
        args: ['-c', scriptOf(place, { ...build, folders: [tempDir, ...build.folders] })],
        cwd: node.pathOf(filesDir),
        env: buildEnvironment(node, tempDir),
        starts: build.commands.map(([program = '']) => program),
        brings: [filesDir, ...build.brings],
        follows: [],
        collects: build.product === undefined ? [] : [build.product],
        tempDir,
        onLine: takeLine
      },
      signal
    )
  )
  for (const made of [tempDir, ...build.folders]) await removeFolder(made)
  if (exit.code === 0) return { failed: undefined, lines }
  const failed = (exit.code ?? 0) - FIRST_FAILED
  if (failed >= 0 && failed < build.commands.length) return { failed, lines }
  return { failed: lines.length - 1, lines: [...lines.slice(0, -1), [...(lines.at(-1) ?? []), how(exit)]] }
}

function tempOf({ folder }: BuildPlace): string {
  return join(folder, 'temp')
}

/** The words that start a program in Java of the node, whose home and temporary files are the build's. */
export function javaOf(place: BuildPlace, java: string): string[] {
  return [java, ...jvmFolders(buildEnvironment(place.node, tempOf(place)))]
}

function how({ code, signal }: NodeExit): string {
  return signal === null
    ? `The compiler ended with exit code ${code}`
    : `The compiler was killed by ${signal}`
}

function scriptOf({ node }: BuildPlace, { commands, folders }: Build): string {
  const steps = commands.map(
    (words, index) => `${words.map(quote).join(' ')} || exit ${FIRST_FAILED + index}\n`
  )
  const made = folders
    .map((path) => quote(node.pathOf(path)))
    .map((folder) => `[ -d ${folder} ] || mkdir -p ${folder} || exit 1\n`)
  // One stream, so that lines stay in their order.
  return `exec 2>&1\n${made.join('')}${steps.join(`echo '${NEXT}'\n`)}`
}

function collectLines(): { takeLine: (line: string) => void; lines: string[][] } {
  const lines: string[][] = [[]]
  let room = MOST_CHARACTERS
  const takeLine = (line: string): void => {
    room -= line.length + 1
    if (line === NEXT) lines.push([])
    else if (room >= 0) lines.at(-1)?.push(line)
  }
  return { takeLine, lines }
}

/** A compiler needs nothing of a machine's variables but these; its home is a folder that goes with it. */
const KEPT = /^(?:PATH|LANG|LANGUAGE|LC_\w+)$/

export function buildEnvironment(node: LoadNode, home: string): NodeJS.ProcessEnv {
  const kept = Object.entries(node.env).filter(([name]) => KEPT.test(name))
  const path = node.pathOf(home)
  return { ...Object.fromEntries(kept), HOME: path, TMPDIR: path }
}

/** Nothing else ends a compiler that waits forever: the minutes of a grid count from the start of the load. */
export async function withinLimit(
  { signal }: BuildPlace,
  run: (signal: AbortSignal) => Promise<NodeExit>,
  limitMs = LIMIT_MS
): Promise<NodeExit> {
  const limit = AbortSignal.timeout(limitMs)
  const late = (): ToolError =>
    new ToolError(`The plan was not compiled within ${limitMs / 60_000} minutes: does it end?`)
  try {
    const exit = await run(AbortSignal.any([signal, limit]))
    signal.throwIfAborted()
    if (limit.aborted) throw late()
    return exit
  } catch (thrown) {
    if (limit.aborted && !signal.aborted) throw late()
    throw thrown
  }
}
