import { formatDuration, messageOf } from '../../contract/text.js'
import type { LoadNode } from '../nodes/load-node.js'
import { LoadRecorder } from '../nodes/machine/load-recorder.js'
import type { Turn, Sharing } from '../queue/queue.js'
import type { RunRecord } from '../../contract/records.js'
import { Interruption, requireWritten } from './interruption.js'
import { makeReady, type RunControl, type ReadyRun, type RunPorts } from './make-ready.js'
import { NodeBook } from './node-book.js'
import type { RunEnd, RunEndings } from './run-endings.js'
import { runOnGrids } from './run-on-grids.js'

export interface Execution extends RunControl {
  /** Fulfilled when its nodes may start to work. */
  readonly turn: Promise<Turn>
  readonly endings: RunEndings
}

type Work = Partial<RunEnd> & { readonly reason?: Interruption }

/** The service ends before the run has started, so that it stays in the queue for the next start. */
export class Postponed extends Error {
  override name = 'Postponed'
}

/** A run from the queue to its results. */
export async function executeRun(ports: RunPorts, run: RunRecord, how: Execution): Promise<void> {
  // The caller gets `queued` before anything happens.
  await new Promise((resolve) => setImmediate(resolve))
  let turn: Turn | undefined
  try {
    turn = await how.turn
    const load = new LoadRecorder(ports)
    const work = await generateLoad(ports, run, { ...how, watch: (node) => load.watch(node) })
    if (run.startedMs === null && how.signal.reason instanceof Postponed) await postpone(ports, run)
    else {
      const doubts = [...load.judge(), ...(work.doubts ?? []), ...describeSharing(ports, run, turn.endLoad())]
      await endRun(ports, run, how, { ...work, doubts })
    }
  } catch (thrown) {
    if (turn !== undefined) throw thrown
    if (thrown instanceof Postponed) await postpone(ports, run)
    else await endRun(ports, run, how, describeFailure(ports, run, thrown))
  } finally {
    turn?.leave()
  }
}

/** Its nodes are started again when its turn comes: nothing has run on them. */
async function postpone({ store, grids, log }: RunPorts, run: RunRecord): Promise<void> {
  const all = store.gridsOf(run)
  await Promise.all(all.map((grid) => grids.closeNodes(grid, run)))
  for (const grid of all) grids.postpone(grid)
  log(`run ${run.id} stays in the queue for the next start`)
}

/** Plans are code: those of a user who may not start them any more are not started. One that has started goes on. */
function requireUser({ clock, whyNotStart }: RunPorts, run: RunRecord): void {
  const what = run.startedMs === null ? whyNotStart(run) : undefined
  if (what !== undefined) throw new Interruption({ what, atMs: clock.now() })
}

/** A database may know less than its folder: whatever its record says, a run with results is never started. */
function requireFresh({ store, clock }: RunPorts, { id }: RunRecord): void {
  if (!store.folder.hasTraces(id)) return
  const what =
    'This run has run before, or was stopped, although the database has it as waiting: it was restored from an older copy, or the service was killed before it could record that. So it was not started again; what it left is kept.'
  throw new Interruption({ what, atMs: clock.now() })
}

async function generateLoad(
  ports: RunPorts,
  run: RunRecord,
  how: RunControl & { watch: (node: LoadNode) => LoadNode }
): Promise<Work> {
  const { signal, watch } = how
  try {
    // The nodes of a continued run may be there: they are opened first, so that they can be closed.
    if (!how.isContinued) {
      requireFresh(ports, run)
      requireUser(ports, run)
    }
    for (const grid of ports.store.gridsOf(run)) ports.grids.prepare(grid)
    const ready = await makeReady(ports, run, how)
    if (ready === undefined || signal.aborted) return {}
    // Getting ready may have taken minutes.
    requireUser(ports, run)
    const book = await begin(ports, run, ready)
    const nodes = await runOnGrids(ports, { run, ...ready, book, signal, watch })
    return { nodes, ...judgeNodes(ports, run, ready, book) }
  } catch (thrown) {
    return describeFailure(ports, run, thrown)
  }
}

function describeFailure({ log }: RunPorts, run: RunRecord, thrown: unknown): Work {
  if (thrown instanceof Interruption) return { reason: thrown }
  log(`run ${run.id} cannot continue: ${messageOf(thrown)}`)
  return { problems: [messageOf(thrown)] }
}

/** Starts the minutes of its grids, unless they are running already. From here on the run is never started again, because its tools may be running. */
async function begin(ports: RunPorts, run: RunRecord, { plan, grids }: ReadyRun): Promise<NodeBook> {
  const isStarted = run.startedMs !== null
  run.toolVersion = plan.version
  for (const { grid } of grids) ports.grids.start(grid)
  run.startedMs ??= ports.clock.now()
  const book = new NodeBook(run, grids)
  run.status = 'running'
  ports.store.saveRun(run)
  if (isStarted) return book
  try {
    await requireWritten(ports.store, 'the run was not started')
  } catch (thrown) {
    run.startedMs = null
    throw thrown
  }
  return book
}

async function endRun(ports: RunPorts, run: RunRecord, how: Execution, work: Work): Promise<void> {
  const { store, grids, clock } = ports
  const { signal, endings } = how
  const { nodes = [], problems = [], losses = [], doubts = [], reason } = work
  const all = store.gridsOf(run)
  const reasons = [...nodes.map(({ interruption }) => interruption), reason]
  if (run.startedMs === null && signal.reason instanceof Interruption) reasons.push(signal.reason)
  const findings = { problems: [...problems], losses: [...losses] }
  for (const interruption of new Set(reasons))
    if (interruption)
      findings[interruption.isAllowed ? 'losses' : 'problems'].push(interruption.describe(run.startedMs))
  const endedMs = clock.now()
  await Promise.all(all.map((grid) => grids.noteRunEnd(grid)))
  await endings.conclude(run, { ...findings, doubts, nodes, endedMs })
  // Not before the results are safe: a service killed meanwhile can still get them from the nodes.
  await Promise.all(all.map((grid) => grids.closeNodes(grid, run)))
}

/** What is worth reporting about the nodes as a whole. */
function judgeNodes({ log }: RunPorts, run: RunRecord, { grids }: ReadyRun, { spread }: NodeBook): Work {
  if (spread) log(`run ${run.id}: ${spread.words}`)
  const told = spread?.effect ? [`${spread.words}; ${spread.effect.words}`] : []
  const doubts = grids.flatMap(({ set }) => set?.doubts() ?? [])
  return spread?.effect?.isLoss ? { doubts, losses: told } : { doubts: [...doubts, ...told], losses: [] }
}

/** Warnings: two runs on the same cores slow each other down. */
function describeSharing(
  { isSeenAlike, store }: RunPorts,
  run: RunRecord,
  shared: readonly Sharing[]
): string[] {
  return shared.map(({ runId, sharedMs }) => {
    const other = isSeenAlike(run, store.run(runId)) ? `run ${runId}` : 'another run'
    const howLong = sharedMs < 1000 ? 'less than a second' : formatDuration(sharedMs)
    return `this run shared the cores of this machine with ${other} for ${howLong}: its figures may be worse than those of a run alone`
  })
}
