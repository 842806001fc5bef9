import { dirname, join } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import type { NodeOrder, NodeOutcome, PreparedPlan } from '../engines/engine.js'
import { redactLog } from '../engines/redact-log.js'
import { formatDuration, messageOf } from '../../contract/text.js'
import { type LoadNode, NodeError, withRun } from '../nodes/load-node.js'
import type { GridRecord, RunRecord } from '../../contract/records.js'
import type { Interruption } from './interruption.js'
import type { RunPorts } from './make-ready.js'
import { readRunSecrets } from './row-secrets.js'
import { nameOfNode, type NodeBook, type RunGrid, shareThreads } from './node-book.js'

interface RunWork {
  readonly run: RunRecord
  readonly plan: PreparedPlan
  readonly grids: readonly RunGrid[]
  readonly book: NodeBook
  readonly signal: AbortSignal
  /** The same node, with its tools watched while they run. */
  readonly watch: (node: LoadNode) => LoadNode
}

/** The work of one node; its signal aborts with its grid too. */
interface NodeWork extends RunWork {
  readonly gate: StartGate
  /** Whether it has gone through the gate. */
  readonly start: { hasPassed: boolean }
  readonly node: LoadNode | undefined
  readonly grid: GridRecord
  readonly gridIndex: number
  readonly index: number
  /** Among all nodes of the run. */
  readonly ordinal: number
  readonly threads: number | null
  /** For all nodes with work together. */
  readonly share: { readonly allThreads: number | null; readonly nodeCount: number }
}

export interface NodeEnd {
  readonly grid: GridRecord
  readonly index: number
  /** It had nothing to do. */
  readonly isIdle: boolean
  readonly outcome: NodeOutcome
  readonly interruption: Interruption | undefined
}

/** Runs the plan on every node of every grid until the node, the grid or the run ends. Returns when all have ended. */
export async function runOnGrids(ports: RunPorts, work: RunWork): Promise<NodeEnd[]> {
  const { run, signal } = work
  const shares = work.grids.map(({ grid }) => shareThreads(grid.spec, run.request.threads))
  const working = shares.flat().filter((threads) => threads !== 0)
  const allThreads = working.reduce<number | null>(
    (sum, threads) => (sum === null || threads === null ? null : sum + threads),
    0
  )
  const gate = createGate(ports, work, working.length)
  const ofGrids = work.grids.map(({ grid, set }, gridIndex) => {
    const before = shares.slice(0, gridIndex).flat().length
    // The reason is that of the first signal to abort.
    const either = AbortSignal.any([signal, ports.grids.endSignal(grid)])
    const nodes = (shares[gridIndex] ?? []).map((threads, index) =>
      endNode(ports, {
        ...{ ...work, signal: either, gate, start: { hasPassed: threads === 0 }, node: set?.nodes[index] },
        ...{ grid, gridIndex, index, ordinal: before + index, threads },
        share: { allThreads, nodeCount: working.length }
      })
    )
    return ports.grids.follow(grid, Promise.all(nodes))
  })
  return (await Promise.all(ofGrids)).flat()
}

/** If a run is continued whose nodes were told to start, those that do not know it yet must not wait for the others. */
function createGate({ store, clock }: RunPorts, { run, book }: RunWork, count: number): StartGate {
  if (run.goMs !== undefined) return StartGate.opened()
  return new StartGate(count, () => {
    run.goMs = clock.now()
    book.noteGo(run.goMs)
    store.saveRun(run)
  })
}

/** An exception is this node's problem; the others continue once all have started, and nothing is left running. */
async function endNode(ports: RunPorts, work: NodeWork): Promise<NodeEnd> {
  const { run, grid, index, threads, gate, start, book, signal } = work
  let outcome: NodeOutcome
  let hasThrown = false
  try {
    outcome = await runNode(ports, work)
  } catch (thrown) {
    const isCalledOff = signal.aborted && thrown === signal.reason
    outcome = { problem: isCalledOff ? null : describeFailure(ports, work, thrown) }
    hasThrown = true
  }
  outcome = await strikeSecrets(outcome, ports, run)
  if (hasThrown && outcome.problem !== null) ports.log(`run ${run.id} cannot continue: ${outcome.problem}`)
  if (!start.hasPassed) {
    if (outcome.problem === null) gate.leave()
    else gate.fail(`${nameOfNode(grid, index)} failed before the start`)
  }
  book.noteEnd(grid, index, ports.clock.now())
  const interruption = signal.aborted ? (signal.reason as Interruption) : undefined
  return { grid, index, isIdle: threads === 0 || outcome.isIdle === true, outcome, interruption }
}

/** Everyone who sees the run reads it, whatever the plan has printed of what it was given. */
async function strikeSecrets(
  outcome: NodeOutcome,
  { store }: RunPorts,
  run: RunRecord
): Promise<NodeOutcome> {
  const { problem, losses = [], doubts = [] } = outcome
  if (problem === null && losses.length === 0 && doubts.length === 0) return outcome
  const secrets = await readRunSecrets(run, store)
  const strike = (text: string): string => redactLog(text, secrets)
  return {
    ...outcome,
    problem: problem && strike(problem),
    losses: losses.map(strike),
    doubts: doubts.map(strike)
  }
}

/** A lost node is reported with its share of the load. */
function describeFailure({ clock }: RunPorts, work: NodeWork, thrown: unknown): string {
  const lost = nodeErrorOf(thrown)
  if (lost === undefined) return messageOf(thrown)
  const { run, grid, index, book, threads, share } = work
  book.update(grid, index)
  const record = book.of(grid, index)
  const startedMs = record?.startedMs ?? run.goMs
  const elapsedMs = startedMs === undefined ? undefined : clock.now() - startedMs
  const why = /[.!?]$/.test(lost.message) ? lost.message : `${lost.message}.`
  const words = `${why} ${describeLostShare({ ...share, threads, elapsedMs })}.`
  if (record) record.lost = words
  const isNamed = words.startsWith(`Node ${index + 1} of `)
  return isNamed ? words : `${nameOfNode(grid, index)}: ${words}`
}

function nodeErrorOf(thrown: unknown): NodeError | undefined {
  if (thrown instanceof NodeError) return thrown
  return thrown instanceof Error && thrown.cause !== undefined ? nodeErrorOf(thrown.cause) : undefined
}

async function runNode(ports: RunPorts, work: NodeWork): Promise<NodeOutcome> {
  const { run, grid, index, threads, node, signal } = work
  const nodeName = `${grid.spec.region} ${grid.id.slice(0, 6)} node ${index + 1}`
  if (threads === 0) {
    ports.log(`${nodeName}: no threads left for it, so it stays idle`)
    return { problem: null }
  }
  if (node === undefined) {
    signal.throwIfAborted()
    throw new NodeError('its grid has fewer nodes than it should have')
  }
  const files = ports.store.folder.nodeFiles({ runId: run.id, gridId: grid.id, index })
  const { workDir, samplesFile, logFile } = files
  makeFolder(dirname(logFile))
  // Each node has its own files, which its plan may write to.
  await ports.store.folder.copyUploads(run, workDir)
  if (signal.aborted) return { problem: null }
  const { rampupSec, durationSec, hosts, properties } = run.request
  const planFile = join(workDir, run.files[0]?.name ?? '')
  return work.plan.runNode(
    {
      node: startTogether(ports, { ...work, node }),
      place: { region: grid.spec.region, gridIndex: work.gridIndex, nodeIndex: index, ordinal: work.ordinal },
      ...{ planFile, samplesFile, logFile, nodeName, mark: `${run.mark ?? run.id}${work.ordinal + 1}` },
      whole: describeWhole(grid, run),
      ...{ threads, rampupSec, durationSec, hosts, properties }
    },
    signal
  )
}

/** Each node of a hosted grid has all threads, as if it were alone. */
function describeWhole({ spec }: GridRecord, { request }: RunRecord): NodeOrder['whole'] {
  const isShared = spec.infrastructure !== 'hosted'
  const working = shareThreads(spec, request.threads).filter((threads) => threads !== 0)
  return { nodes: isShared ? working.length : 1, threads: request.threads }
}

/** The same node; its command has the run's id, and starts when all nodes are ready. */
function startTogether({ clock }: RunPorts, work: NodeWork & { node: LoadNode }): LoadNode {
  const { run, grid, index, node, gate, start, book } = work
  const watched = work.watch(node)
  let commands = 0
  return withRun(node, async (command, signal) => {
    commands += 1
    const id = commands === 1 ? run.id : `${run.id}-${commands}`
    const exit = await watched.run(
      {
        ...command,
        id,
        onStart: (groupId) => {
          const record = book.of(grid, index)
          if (record && commands === 1) record.startedMs = clock.now()
          command.onStart?.(groupId)
        },
        whenReady: async () => {
          await command.whenReady?.()
          await gate.pass(signal)
          start.hasPassed = true
        }
      },
      signal
    )
    // A command that an earlier service started does not ask again.
    start.hasPassed = true
    return exit
  })
}

/** The load that a lost node had: `5 of 20 threads, 25% of the load, were lost after 32 s`. */
export function describeLostShare(
  loss: Pick<NodeWork, 'threads'> & NodeWork['share'] & { readonly elapsedMs: number | undefined }
): string {
  const { threads, allThreads, nodeCount, elapsedMs } = loss
  const isKnown = threads !== null && allThreads !== null
  const [lost, all, noun] = isKnown ? [threads, allThreads, 'thread'] : [1, nodeCount, 'node']
  const when = elapsedMs === undefined ? 'before the start' : `after ${formatDuration(elapsedMs)}`
  const verb = lost === 1 ? 'was' : 'were'
  return `${lost} of ${all} ${noun}${all === 1 ? '' : 's'}, ${describeShare(lost / all)} of the load, ${verb} lost ${when}`
}

function describeShare(share: number): string {
  const percent = Math.floor(share * 100 + 1e-9)
  return share === 1 ? 'all' : percent === 0 ? 'less than 1%' : `${percent}%`
}

/** Lets the nodes of a run start together: it opens when all that have work are ready, or never, if one fails before that. */
export class StartGate {
  readonly #opening: Promise<void>
  #open: () => void = () => undefined
  #refuse: (reason: Error) => void = () => undefined
  #waiting = 0
  #gone = 0
  #isDecided = false

  constructor(
    private readonly count: number,
    private readonly onOpen: () => void
  ) {
    this.#opening = new Promise((open, refuse) => {
      this.#open = open
      this.#refuse = refuse
    })
    this.#opening.catch(() => undefined)
  }

  /** For a run whose nodes were told to start before: each node continues at once. */
  static opened(): StartGate {
    const gate = new StartGate(0, () => undefined)
    gate.#waiting = 1
    gate.#openIfComplete()
    return gate
  }

  /** Fulfilled when all nodes may start; rejected with the reason of the signal, or because another node has failed. */
  pass(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return Promise.reject(signal.reason as Error)
    this.#waiting += 1
    this.#openIfComplete()
    return new Promise((start, refuse) => {
      const abort = (): void => {
        if (!this.#isDecided) this.#waiting -= 1
        refuse(signal.reason as Error)
      }
      signal.addEventListener('abort', abort, { once: true })
      this.#opening.then(start, refuse)
    })
  }

  /** A node has ended before it got here, because it had nothing to start or was cancelled: the others do not wait for it. */
  leave(): void {
    this.#gone += 1
    this.#openIfComplete()
  }

  /** A node has failed before it got here: none of them starts. */
  fail(reason: string): void {
    this.#isDecided = true
    this.#refuse(new Error(`no node was started, because ${reason}`))
  }

  #openIfComplete(): void {
    if (this.#isDecided || this.#waiting === 0 || this.#waiting + this.#gone < this.count) return
    this.#isDecided = true
    this.onOpen()
    this.#open()
  }
}
