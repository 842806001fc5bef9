import { createHash, randomUUID } from 'node:crypto'
import type { Clock } from '../../clock.js'
import type { Cluster } from '../kubernetes/cluster.js'
import type { ImageShell, LoadNode, NodeError, NodeFacts, ToolSearch } from '../load-node.js'
import { PodContact } from './work/pod-contact.js'
import { exportLines, podEnvironment } from './work/pod-environment.js'
import { POD_HOME, podPaths } from './work/pod-paths.js'
import { PodRecord } from './work/pod-record.js'
import { PodTurn } from './work/pod-turn.js'
import { POD_TIMINGS, type PodTimings } from './work/timings.js'

/** A pod of a grid. */
export interface PodNode extends LoadNode {
  /** Of its last work. */
  facts(): Pick<NodeFacts, 'startedMs' | 'endedMs' | 'throttled' | 'clockOffsetMs'>
  doubts(): readonly string[]
}

export interface PodNodeParts {
  readonly cluster: Cluster
  readonly pod: string
  /** The machine that it was scheduled to. */
  readonly nodeName: string
  readonly image: string
  readonly memoryBytes: number | undefined
  /** Aborted with a `NodeError` when the pod is lost. */
  readonly lost: AbortSignal
  /** Asks the cluster now. */
  readonly whyLost: () => Promise<NodeError | undefined>
  /** What was found in the image, for all nodes of the grid. */
  readonly found: Map<object, Promise<unknown>>
  readonly clock: Clock
  readonly log: (line: string) => void
  /** Of tests: where our folder is in the pod, and how long things may take. */
  readonly home?: string
  readonly timings?: PodTimings
}

/** A node that is a pod. It runs the supervisor, and everything else happens by exec. */
export function createPodNode(parts: PodNodeParts): PodNode {
  const paths = podPaths(parts.home ?? POD_HOME)
  const contact = new PodContact({ ...parts, timings: parts.timings ?? POD_TIMINGS })
  const env = podEnvironment(paths.home)
  const shell = imageShell(contact, parts.image, env)
  let record = new PodRecord(parts.pod, parts.nodeName)
  return {
    env,
    memoryBytes: parts.memoryBytes,
    outageMs: (parts.timings ?? POD_TIMINGS).giveUpMs,
    pathOf: (file) => paths.fileOf(file),
    find: <T>(search: ToolSearch<T>) => remember(parts.found, search, () => search.inImage(shell)),
    run: (command, signal) => {
      signal.throwIfAborted()
      record = new PodRecord(parts.pod, parts.nodeName)
      const turn = paths.turnOf(turnName(command.id ?? randomUUID()))
      return new PodTurn({ contact, paths, record, turn }, command, signal).run()
    },
    facts: () => record.facts(),
    doubts: () => record.doubts()
  }
}

/** Ids are plain; any other becomes so. */
function turnName(id: string): string {
  return /^[\w-]{1,100}$/.test(id) ? id : createHash('sha256').update(id).digest('hex')
}

function imageShell(contact: PodContact, image: string, env: NodeJS.ProcessEnv): ImageShell {
  return {
    name: `the image ${image}`,
    ask: async (script, args = []) => {
      const { code, stdout, stderr } = await contact.ask(`${exportLines(env)}${script}`, args)
      return { code, lines: `${stdout}\n${stderr}`.split(/\r?\n/).filter((line) => line !== '') }
    }
  }
}

/** A failure is not remembered: the next node may be luckier. */
function remember<T>(found: Map<object, Promise<unknown>>, key: object, find: () => Promise<T>): Promise<T> {
  const known = found.get(key) as Promise<T> | undefined
  if (known !== undefined) return known
  const finding = find()
  found.set(key, finding)
  finding.catch(() => found.delete(key))
  return finding
}
