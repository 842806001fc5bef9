import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  type LoadNode,
  type NodeCommand,
  NodeError,
  type NodeExit,
  type NodePlace,
  type NodesInUse,
  type NodeSet
} from '../../src/service/nodes/load-node.js'
import type { Places } from '../../src/service/places.js'

export interface SurvivingOptions {
  /** Everything about the nodes is in it, so that another process finds them again. */
  readonly folder: string
  readonly regions: readonly string[]
  /** What the clocks of the nodes are ahead. */
  readonly offsetMs?: number
}

export interface SurvivingPlaces extends Places {
  /** The nodes in use at each clearing. */
  readonly cleared: NodesInUse[][]
  /** As if the service was killed: from now on it changes nothing of the nodes. */
  detach(): void
}

interface Link {
  isCut: boolean
}

const LOOK_EVERY_MS = 10
/** In a folder of the turn, $0. The group's id comes first: whoever sees that it has started can end it. */
const RUN = [
  'echo $$ > "$0/pid"; date +%s%3N > "$0/started.new"; mv "$0/started.new" "$0/started"',
  'cd "$1"; shift; "$@" > "$0/output" 2>&1',
  'echo $? > "$0/ended.new"; mv "$0/ended.new" "$0/ended"'
].join('\n')

/**
 * Places whose nodes are processes of this machine that outlive the service, as pods do: what is known of the nodes of a run's grid
 * is in a folder of its own. `lose` lets a node fail with words, `refuse` keeps a region from starting nodes.
 */
export function createSurvivingPlaces(options: SurvivingOptions): SurvivingPlaces {
  const cleared: NodesInUse[][] = []
  const link: Link = { isCut: false }
  const places = new Map(options.regions.map((region) => [region, createPlace(region, options, link)]))
  return {
    cleared,
    detach: () => {
      link.isCut = true
    },
    regions: [...places.keys()],
    placeOf: (region) => places.get(region),
    clearAway: async (inUse) => {
      cleared.push([...inUse])
      const kept = new Set(inUse.map(nodesFolder))
      for (const name of foldersIn(options.folder))
        if (!kept.has(name)) closeFolder(join(options.folder, name))
    }
  }
}

/** The node with this number, from 1, of the grid is lost, with these words. */
export function lose(folder: string, gridId: string, number: number, words: string): void {
  const name = foldersIn(folder).find((each) => each.endsWith(gridId)) ?? ''
  writeFileSync(join(folder, name, String(number), 'lost'), words)
}

/** Grids of the region cannot start, with these words. */
export function refuse(folder: string, region: string, words: string): void {
  writeFileSync(join(folder, `${region}.refused`), words)
}

/** The ids of the grids that still have nodes, once for each run on them. */
export function gridsWithNodes(folder: string): string[] {
  return foldersIn(folder).map((name) => name.split('-')[1]!)
}

/** Where the nodes of a run's grid are. */
export function nodesFolder({ runId, gridId }: NodesInUse): string {
  return `${runId}-${gridId}`
}

function foldersIn(folder: string): string[] {
  return readdirSync(folder).filter((name) => /^[\da-f]{24}-[\da-f]{24}$/.test(name))
}

function createPlace(region: string, { folder, offsetMs = 0 }: SurvivingOptions, link: Link): NodePlace {
  return {
    name: `nodes that survive in ${region}`,
    outlivesService: true,
    open: async ({ quantity, isContinued, ...whose }) => {
      const dir = join(folder, nodesFolder(whose))
      const refusal = join(folder, `${region}.refused`)
      if (existsSync(refusal)) throw new NodeError(readFileSync(refusal, 'utf8'))
      if (isContinued && !existsSync(dir)) throw new NodeError('they are gone')
      if (!isContinued)
        for (let number = 1; number <= quantity; number++)
          mkdirSync(join(dir, String(number)), { recursive: true })
      return createSet(dir, { quantity, offsetMs, link })
    }
  }
}

function createSet(
  dir: string,
  { quantity, offsetMs, link }: { quantity: number; offsetMs: number; link: Link }
): NodeSet {
  const dirs = Array.from({ length: quantity }, (_, index) => join(dir, String(index + 1)))
  return {
    nodes: dirs.map((each) => createNode(each, link)),
    factsOf: (index) => ({
      ...{ place: `node-${index + 1} on the machine here`, name: `node-${index + 1}` },
      ...{ startedMs: startOf(dirs[index]!), cpuLimit: 1, restarts: 0, throttled: 0.25 },
      clockOffsetMs: offsetMs
    }),
    doubts: () => (offsetMs > 1000 ? ['the clock of node-1 is ahead'] : []),
    close: async () => {
      if (!link.isCut) closeFolder(dir)
    }
  }
}

function closeFolder(dir: string): void {
  turnsOf(dir).flatMap(turnsOf).forEach(end)
  if (existsSync(dir)) renameSync(dir, `${dir}.closed-${randomUUID()}`)
}

function createNode(dir: string, link: Link): LoadNode {
  return {
    env: { PATH: process.env.PATH },
    memoryBytes: undefined,
    pathOf: (file) => file,
    find: ({ here }) => here(),
    run: (command, signal) => runTurn(dir, command, { signal, link })
  }
}

async function runTurn(
  dir: string,
  command: NodeCommand,
  { signal, link }: { signal: AbortSignal; link: Link }
): Promise<NodeExit> {
  const turn = join(dir, command.id ?? 'nobody')
  const lost = join(dir, 'lost')
  const requireNode = (): void => {
    if (existsSync(lost)) throw new NodeError(readFileSync(lost, 'utf8'))
  }
  requireNode()
  if (!existsSync(join(turn, 'started'))) {
    await command.whenReady?.()
    signal.throwIfAborted()
    mkdirSync(turn, { recursive: true })
    const { file, args, cwd, env } = command
    const script = ['-c', RUN, turn, cwd, file, ...args]
    // By this name: tests that kill a service end the shells that it runs as /bin/sh with it.
    spawn('sh', script, { env, detached: true, stdio: 'ignore' }).unref()
  }
  try {
    while (!existsSync(join(turn, 'ended'))) {
      requireNode()
      if (signal.aborted) return { code: null, signal: 'SIGTERM' }
      await sleep(LOOK_EVERY_MS)
    }
  } finally {
    if (!link.isCut) end(turn)
  }
  for (const line of readFileSync(join(turn, 'output'), 'utf8').split('\n')) command.onLine(line)
  return { code: Number(readFileSync(join(turn, 'ended'), 'utf8')), signal: null }
}

function startOf(dir: string): number | null {
  const started = turnsOf(dir).map((turn) => join(turn, 'started'))
  const last = started.filter((file) => existsSync(file)).at(-1)
  return last === undefined ? null : Number(readFileSync(last, 'utf8'))
}

function turnsOf(dir: string): string[] {
  const names = existsSync(dir) ? readdirSync(dir, { withFileTypes: true }) : []
  return names.filter((name) => name.isDirectory()).map(({ name }) => join(dir, name))
}

function end(turn: string): void {
  const pid = join(turn, 'pid')
  if (existsSync(join(turn, 'ended')) || !existsSync(pid)) return
  try {
    process.kill(-Number(readFileSync(pid, 'utf8')), 'SIGKILL')
  } catch {
    // It has ended.
  }
}
