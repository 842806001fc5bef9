import { randomUUID } from 'node:crypto'
import type { Run } from '../service/documents.js'
import { RefusedError, madeNothing } from '../service/errors.js'
import { pauseBefore } from '../service/retries.js'
import type { RunRequest } from '../service/requests.js'
import { findMarkedRuns } from './find-run.js'
import type { Gate } from './gate.js'
import { settleGrids } from './make-grids.js'
import type { Origin } from './settings.js'
import { messageOf } from './trouble.js'

/** Only a request that cannot have had an effect is sent again, and not for ever. */
const MOST_ATTEMPTS = 5

/** The run to watch: made from files, repeated, or one that is there already. */
export async function startRun(gate: Gate, signal: AbortSignal): Promise<Run> {
  const { origin } = gate.settings
  switch (origin.kind) {
    case 'existing':
      return gate.client.showRun(origin.runId, signal)
    case 'repeat':
      return repeatRun(gate, origin.runId, signal)
    case 'files':
      return createRun(gate, origin, signal)
  }
}

async function createRun(
  gate: Gate,
  origin: Extract<Origin, { kind: 'files' }>,
  signal: AbortSignal
): Promise<Run> {
  const { settings, ledger } = gate
  const grids = await settleGrids(gate, origin.grids, signal)
  // Workflow, run, job and step are the same in all legs of a matrix, so the marker is random.
  const marker = `loadgate-${randomUUID()}`
  ledger.note({ marker, cleanupDue: true })
  const request: RunRequest = { ...settings, files: origin.paths, grids, tags: [...settings.tags, marker] }
  const run = await createOnce(gate, request, { marker, signal })
  ledger.note({ runId: run.id })
  return run
}

async function createOnce(
  gate: Gate,
  request: RunRequest,
  options: { marker: string; signal: AbortSignal }
): Promise<Run> {
  const { client, bench } = gate
  for (let attempt = 1; ; attempt++) {
    try {
      return await client.createRun(request, options.signal)
    } catch (thrown) {
      if (options.signal.aborted) throw thrown
      if (!madeNothing(thrown)) return reconcile(gate, options, thrown)
      if (attempt >= MOST_ATTEMPTS || !isWorthAnother(thrown)) {
        forgetMarker(gate)
        throw thrown
      }
      bench.log.info(`${messageOf(thrown)}; nothing was made, trying again.`)
      await bench.clock.sleep(pauseBefore(attempt + 1, thrown), options.signal)
    }
  }
}

/** Nothing was made, so there is no run to look for; grids may be there. */
function forgetMarker({ ledger }: Gate): void {
  ledger.note({ marker: undefined, cleanupDue: ledger.state.madeGrids.length > 0 })
}

function isWorthAnother(thrown: unknown): boolean {
  return !(thrown instanceof RefusedError) || thrown.status === 429
}

/** The reply was lost: one run with the marker is ours, none means that nothing was made, of several the oldest is kept. */
async function reconcile(
  { client, bench }: Gate,
  { marker, signal }: { marker: string; signal: AbortSignal },
  cause: unknown
): Promise<Run> {
  bench.log.warning(`${messageOf(cause)}. Looking for the run by its tag ${marker}.`)
  const found = await findMarkedRuns(client, marker, { clock: bench.clock, signal }).catch(
    (thrown: unknown) => {
      signal.throwIfAborted()
      throw new Error(
        `${messageOf(cause)}; and it could not be looked up whether the run was made: ${messageOf(thrown)}`,
        { cause }
      )
    }
  )
  const oldest = found.at(-1)
  if (oldest === undefined)
    throw new Error(`${messageOf(cause)}. No run with the tag ${marker} was found: nothing was started.`, {
      cause
    })
  for (const extra of found.slice(0, -1)) {
    bench.log.warning(`Run ${extra.id} carries the same tag; it is stopped.`)
    await client.stopRun(extra.id, signal).catch((thrown: unknown) => {
      signal.throwIfAborted()
      bench.log.warning(`Run ${extra.id} may still be running: ${messageOf(thrown)}. Stop it at the service.`)
    })
  }
  bench.log.info(`Run ${oldest.id} was made; it is taken up.`)
  return oldest
}

/** A repeat carries no marker, so a lost reply cannot be told from a run of somebody else's; it is never sent twice. */
async function repeatRun({ client, bench, ledger }: Gate, id: string, signal: AbortSignal): Promise<Run> {
  try {
    const run = await client.repeatRun(id, signal)
    ledger.note({ runId: run.id, cleanupDue: true })
    return run
  } catch (thrown) {
    if (!madeNothing(thrown))
      bench.log.warning(
        `Run ${id} may have been repeated although no usable reply came; look for it at the service. It is not sent again.`
      )
    throw thrown
  }
}
