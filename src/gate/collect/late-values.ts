import type { ResultLink, Run } from '../../service/documents/documents.js'
import { pauseBetweenLooks } from '../../service/retry-pause.js'
import { RETRY, retry } from '../../service/retry.js'
import { stateOfApdex } from '../../evidence/apdex.js'
import { gridIdOf } from './expected-grids.js'
import type { Gate } from '../gate.js'
import { joinRemoteErrors } from '../../evidence/remote-errors.js'
import { hasEnded, phaseOf } from '../run/run-status.js'
import { formatDuration } from '../../values/durations.js'
import { messageOf } from '../errors.js'

/** What is still missing in a run as last seen. */
export interface Lack {
  readonly what: string
  readonly isNeeded: boolean
  /** How long to wait for it, if not until the signal is aborted. */
  readonly longestMs?: number
}

/** How long to wait for a value that no threshold needs. */
const OPTIONAL_PATIENCE_MS = 10_000

/** Polls a run that has ended until nothing is missing, since values arrive late. */
export async function lookAgain(
  { client, ports: { clock, log } }: Gate,
  first: Run,
  options: { signal: AbortSignal; lackOf: (run: Run) => Lack | undefined; onSeen: (run: Run) => void }
): Promise<{ seen: Run; doubts: string[] }> {
  const { signal, lackOf, onSeen } = options
  let run = first
  let sinceMs = clock.now()
  let awaited: string | undefined
  for (let looks = 1; ; looks++) {
    const lack = lackOf(run)
    if (lack === undefined) return { seen: run, doubts: [] }
    const longestMs = lack.isNeeded ? lack.longestMs : OPTIONAL_PATIENCE_MS
    if (lack.what !== awaited) {
      const limit = longestMs === undefined ? '' : `, for ${formatDuration(longestMs)} at most`
      const words = `Run ${run.id} has ended; waiting for ${lack.what}${limit}.`
      if (lack.isNeeded) log.info(words)
      else log.debug(words)
      sinceMs = clock.now()
      awaited = lack.what
    }
    const leftMs = longestMs === undefined ? Infinity : sinceMs + longestMs - clock.now()
    if (leftMs <= 0) return { seen: run, doubts: [] }
    try {
      await clock.sleep(Math.min(pauseBetweenLooks(looks), leftMs), signal)
      const look = () => client.showRun(first.id, signal)
      const refusalMs = lack.isNeeded ? Math.min(RETRY.collect.refusalMs, leftMs) : leftMs
      const policy = { ...RETRY.collect, transientMs: leftMs, refusalMs }
      run = joinLooks(run, await retry(look, policy, { clock, signal, overWith: asError }))
      onSeen(run)
    } catch (thrown) {
      const isTold = lack.isNeeded && thrown !== signal.reason
      return { seen: run, doubts: isTold ? [`The run could not be read again: ${messageOf(thrown)}`] : [] }
    }
  }
}

/** The service's error, rather than the timeout. */
export function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(messageOf(failure), { cause: failure })
}

/** Reads the run one last time, after everything else is downloaded: the service may add to a run after reporting it as finished. */
export async function lookOnceMore(
  { client, ports: { clock, log } }: Gate,
  seen: Run,
  signal: AbortSignal
): Promise<Run> {
  try {
    const look = () => client.showRun(seen.id, signal)
    return joinLooks(seen, await retry(look, RETRY.lastLook, { clock, signal }))
  } catch (thrown) {
    log.debug(`Run ${seen.id} could not be read once more: ${messageOf(thrown)}`)
    return seen
  }
}

/** Nothing reported once gets lost; a reply from before the end is ignored. */
function joinLooks(seen: Run, next: Run): Run {
  if (!hasEnded(next.status)) return seen
  return {
    ...next,
    // Of two final statuses the worse one counts.
    status: phaseOf(seen.status) === 'ended abnormally' ? seen.status : next.status,
    apdex:
      stateOfApdex(seen.apdex) === 'there' && stateOfApdex(next.apdex) !== 'there'
        ? seen.apdex
        : (next.apdex ?? seen.apdex),
    remoteErrors: joinRemoteErrors(seen.remoteErrors, next.remoteErrors),
    startedMs: next.startedMs ?? seen.startedMs,
    stoppedMs: next.stoppedMs ?? seen.stoppedMs,
    grids: [...next.grids, ...seen.grids.filter(({ id }) => !next.grids.some((grid) => grid.id === id))],
    results: joinLinks(seen.results, next.results)
  }
}

/**
 * For each grid, the links of the reply that has more of them, or else of the later one: links may be signed anew for each reply, and
 * one CSV must not count twice. Known links keep their position.
 */
function joinLinks(seen: readonly ResultLink[], next: readonly ResultLink[]): ResultLink[] {
  const grids = new Set([...seen, ...next].map(({ href }) => gridIdOf(href)))
  return [...grids].flatMap((grid) => {
    const [before, now] = [seen, next].map((links) => links.filter(({ href }) => gridIdOf(href) === grid))
    if (before === undefined || now === undefined || before.length > now.length) return before ?? []
    const isKept = ({ href }: ResultLink): boolean => now.some((link) => link.href === href)
    const isNew = ({ href }: ResultLink): boolean => !before.some((link) => link.href === href)
    return [...before.filter(isKept), ...now.filter(isNew)]
  })
}
