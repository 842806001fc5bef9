import type { Clock } from '../../contract/clock.js'
import type { Engines } from '../engines/engine.js'
import { messageOf } from '../../contract/text.js'
import type { LoadNode } from '../nodes/load-node.js'
import { LoadRecorder } from '../nodes/machine/load-recorder.js'
import type { readLoad } from '../nodes/machine/load-sample.js'
import type { Turn, Sharing } from '../queue/queue.js'
import type { RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'
import type { Grids } from './grids.js'
import { Interruption, requireWritten, formatElapsed } from './interruption.js'
import { isOwn, makeReady, type Manner, type ReadyRun } from './make-ready.js'
import { NodeBook } from './node-book.js'
import { requireUser } from './removed-users.js'
import type { RunEndings } from './run-endings.js'
import { type NodeEnd, runOnGrids } from './run-on-grids.js'

interface Ports {
  readonly store: Store
  readonly grids: Grids
  readonly engines: Engines
  readonly readLoad: typeof readLoad
  readonly isRemoved: (id: number) => boolean
  readonly clock: Clock
  readonly log: (line: string) => void
}

/** How a run is executed. */
export interface Execution extends Manner {
  /** Fulfilled when its nodes may start to work. */
  readonly turn: Promise<Turn>
  readonly endings: RunEndings
}

/** The work of a run, with its end. */
interface Work {
  readonly nodes: readonly NodeEnd[]
  readonly problems: readonly string[]
  readonly losses: readonly string[]
  readonly doubts: readonly string[]
  readonly reasons: readonly Interruption[]
}

/** The service ends before the run has started: it stays in the queue for the next start. */
export class Postponed extends Error {
  override name = 'Postponed'
}

/** A run from the queue to its results. */
export async function executeRun(ports: Ports, run: RunRecord, how: Execution): Promise<void> {
  // The caller gets `queued` before anything happens.
  await new Promise((resolve) => setImmediate(resolve))
  let turn: Turn | undefined
  try {
    turn = await how.turn
  } catch (thrown) {
    if (thrown instanceof Postponed) {
      postpone(ports, run)
      return
    }
    const [reasons, problems] = thrown instanceof Interruption ? [[thrown], []] : [[], [messageOf(thrown)]]
    for (const problem of problems) ports.log(`run ${run.id} ends: ${problem}`)
    await endRun(ports, run, { ...how, work: { nodes: [], problems, losses: [], doubts: [], reasons } })
    return
  }
  try {
    const load = new LoadRecorder(ports)
    const work = await generateLoad(ports, run, { ...how, watch: (node) => load.watch(node) })
    if (run.startedMs === null && how.signal.reason instanceof Postponed) {
      await giveBack(ports, run)
      postpone(ports, run)
      return
    }
    const shared = describeSharing(turn.endLoad())
    await endRun(ports, run, {
      ...how,
      work: { ...work, doubts: [...load.judge(), ...work.doubts, ...shared] }
    })
  } finally {
    turn.leave()
  }
}

/** What was made ready for it is made again when its turn comes again: nothing ran on it. */
async function giveBack({ store, grids }: Ports, run: RunRecord): Promise<void> {
  const own = store.gridsOf(run).filter((grid) => isOwn(run, grid))
  await Promise.all(own.map((grid) => grids.closeNodes(grid)))
  for (const grid of own) grids.postpone(grid)
}

function postpone({ log }: Ports, run: RunRecord): void {
  log(`run ${run.id} stays in the queue for the next start`)
}

async function generateLoad(
  ports: Ports,
  run: RunRecord,
  how: Manner & { watch: (node: LoadNode) => LoadNode }
): Promise<Work> {
  const { signal, watch } = how
  const none = { nodes: [], losses: [], doubts: [], reasons: [] }
  try {
    // The nodes of one that is taken up may be there: they are opened first, so that they can be closed.
    if (!how.isTakenUp) requireUser(ports, run)
    for (const grid of ports.store.gridsOf(run)) if (isOwn(run, grid)) ports.grids.prepare(grid)
    const ready = await makeReady(ports, run, how)
    if (ready === undefined || signal.aborted) return { ...none, problems: [] }
    // Getting ready may have taken minutes.
    requireUser(ports, run)
    const book = begin(ports, run, ready)
    const nodes = await runOnGrids(ports, { run, ...ready, book, signal, watch })
    return { nodes, problems: [], ...judgeNodes(ports, run, { ready, book }), reasons: [] }
  } catch (thrown) {
    if (thrown instanceof Interruption) return { ...none, problems: [], reasons: [thrown] }
    ports.log(`run ${run.id} cannot continue: ${messageOf(thrown)}`)
    return { ...none, problems: [messageOf(thrown)] }
  }
}

/** The minutes of its grids begin, unless they have been going on. From here on the run is never started again: its tools may run. */
function begin(ports: Ports, run: RunRecord, { plan, grids }: ReadyRun): NodeBook {
  const isStarted = run.startedMs !== null
  run.toolVersion = plan.version
  for (const { grid } of grids) if (isOwn(run, grid)) ports.grids.start(grid)
  run.startedMs ??= ports.clock.now()
  const book = new NodeBook(run, grids)
  run.status = 'running'
  ports.store.saveRun(run)
  if (isStarted) return book
  try {
    requireWritten(ports.store, 'the run was not started')
  } catch (thrown) {
    run.startedMs = null
    throw thrown
  }
  return book
}

async function endRun(ports: Ports, run: RunRecord, how: Execution & { work: Work }): Promise<void> {
  const { store, grids, clock } = ports
  const { work, signal, endings } = how
  const own = store.gridsOf(run).filter((grid) => isOwn(run, grid))
  const reasons = [...work.reasons]
  if (run.startedMs === null && signal.reason instanceof Interruption) reasons.push(signal.reason)
  const findings = { problems: [...work.problems], losses: [...work.losses] }
  for (const interruption of interruptionsOf(work.nodes, reasons))
    findings[interruption.isAllowed ? 'losses' : 'problems'].push(interruption.describe(run.startedMs))
  const endedMs = clock.now()
  await Promise.all(own.map((grid) => grids.terminate(grid, 'run ended')))
  await endings.conclude(run, { ...findings, doubts: work.doubts, nodes: work.nodes, endedMs })
  // Not before the results are safe: a service killed meanwhile can still get them from the nodes.
  await Promise.all(own.map((grid) => grids.closeNodes(grid)))
}

/** What people should know of the nodes as a whole. */
function judgeNodes(
  { log }: Ports,
  run: RunRecord,
  { ready: { grids }, book }: { ready: ReadyRun; book: NodeBook }
): { doubts: string[]; losses: string[] } {
  const { spread } = book
  if (spread) log(`run ${run.id}: ${spread.words}`)
  const told = spread?.effect ? [`${spread.words}; ${spread.effect.words}`] : []
  const doubts = grids.flatMap(({ set }) => set?.doubts() ?? [])
  return spread?.effect?.isLoss ? { doubts, losses: told } : { doubts: [...doubts, ...told], losses: [] }
}

/** Each reason once. */
function interruptionsOf(nodes: readonly NodeEnd[], others: readonly Interruption[]): Interruption[] {
  return [...new Set([...nodes.flatMap(({ interruption }) => interruption ?? []), ...others])]
}

const MS_PER_SECOND = 1000

/** For the warnings of a run: two runs on the same cores slow each other down. */
function describeSharing(shared: readonly Sharing[]): string[] {
  return shared.map(({ runId, sharedMs }) => {
    const howLong = sharedMs < MS_PER_SECOND ? 'less than a second' : formatElapsed(sharedMs)
    return `this run shared the cores of this machine with run ${runId} for ${howLong}: its figures may be worse than those of a run alone`
  })
}
