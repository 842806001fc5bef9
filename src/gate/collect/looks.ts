import type { ResultLink, Run } from '../../service/documents/documents.js'
import { pauseBetweenLooks } from '../../service/retry-pause.js'
import { RETRY, retry } from '../../service/retry.js'
import type { RetryPolicy } from '../../service/retry.js'
import { stateOfApdex } from '../../evidence/apdex.js'
import type { GridHealth } from '../../evidence/grid-health.js'
import { joinRemoteErrors } from '../../evidence/remote-errors.js'
import { formatDuration } from '../../values/durations.js'
import { messageOf } from '../errors.js'
import { findMissing, gridIdOf } from './expected-grids.js'
import type { ExpectedGrid } from './expected-grids.js'
import type { FetchedGrid } from './fetch-results.js'
import type { Gate } from '../gate.js'
import { isCompleteAtEnd, sourcesIn } from './grid-fetches.js'
import type { GridFetches } from './grid-fetches.js'
import { hasEnded, phaseOf } from '../run/run-status.js'

export interface LookOptions {
  readonly signal: AbortSignal
  readonly expected: readonly ExpectedGrid[]
  /** False when the verdict does not depend on what is collected. */
  readonly isPatient: boolean
  readonly health: GridHealth
  readonly fetches: GridFetches
}

/** What two looks agree on, or the last one within the time. */
export interface Looked {
  readonly run: Run
  readonly fetched: readonly FetchedGrid[]
  readonly doubts: readonly string[]
}

/** How long to wait for a value that no threshold needs. */
const OPTIONAL_PATIENCE_MS = 10_000
/** Few services compute it longer than this after the end; many never give one. */
const APDEX_PATIENCE_MS = 2 * 60_000

/**
 * Values arrive late, links are added, CSVs grow: a run that has ended is looked at, and its CSVs are downloaded, until nothing is
 * missing and a further look shows nothing new. What never comes is waited for within its own time.
 */
export async function lookUntilSame(gate: Gate, first: Run, options: LookOptions): Promise<Looked> {
  const { signal, isPatient, health, fetches } = options
  const { clock } = gate.ports
  const waiting = new Waiting(gate, options)
  const isFinal = ({ status }: Run): boolean =>
    gate.settings.target.kind === 'local' || phaseOf(status) !== 'ended well' || !isPatient
  let run = first
  for (let looks = 1; ; looks++) {
    health.note(run.grids, { hasEnded: hasEnded(run.status) })
    const fetching = fetches.of(run)
    const lack = waiting.for(run)
    if (lack !== undefined)
      await clock.sleep(Math.min(pauseBetweenLooks(looks), lack.leftMs), signal).catch(() => undefined)
    else {
      const fetched = await fetching
      if (isFinal(run)) return { run, fetched, doubts: waiting.doubts }
    }
    const next = await waiting.look(run, lack)
    const hasMore = !fetches.haveBegun(next) || waiting.for(next) !== undefined
    const isSame = lack === undefined && !hasMore && (isFinal(next) || !(await fetches.haveGrown(next)))
    run = next
    if (!isSame) continue
    health.note(run.grids, { hasEnded: hasEnded(run.status) })
    return { run, fetched: await fetches.of(run), doubts: waiting.doubts }
  }
}

/** What is still missing in a run as last seen, and how much longer it is waited for. */
interface Lack {
  readonly what: string
  readonly isNeeded: boolean
  readonly leftMs: number
}

/** How long what is missing is waited for, and what is told about it. */
class Waiting {
  readonly doubts: string[] = []
  readonly #gate: Gate
  readonly #options: LookOptions
  #awaited: { readonly what: string; readonly sinceMs: number } | undefined
  /** The run cannot be read any more. */
  #isOver = false

  constructor(gate: Gate, options: LookOptions) {
    this.#gate = gate
    this.#options = options
  }

  /** Undefined if nothing is missing, or if it has been waited for long enough. */
  for(run: Run): Lack | undefined {
    const { clock, log } = this.#gate.ports
    const lack = this.#isOver ? undefined : lackIn(this.#gate, run, this.#options)
    if (lack === undefined) return undefined
    const { what, isNeeded } = lack
    const longestMs = isNeeded ? lack.longestMs : OPTIONAL_PATIENCE_MS
    if (this.#awaited?.what !== what) {
      const limit = longestMs === Infinity ? '' : `, for ${formatDuration(longestMs)} at most`
      const words = `Run ${run.id} has ended; waiting for ${what}${limit}.`
      if (isNeeded) log.info(words)
      else log.debug(words)
      this.#awaited = { what, sinceMs: clock.now() }
    }
    const leftMs = this.#awaited.sinceMs + longestMs - clock.now()
    return leftMs > 0 ? { what, isNeeded, leftMs } : undefined
  }

  /** The run as it is now; the run as it was if it cannot be read. */
  async look(seen: Run, lack: Lack | undefined): Promise<Run> {
    if (this.#isOver) return seen
    const { client, ports } = this.#gate
    const { signal } = this.#options
    try {
      const look = () => client.showRun(seen.id, signal)
      const next = await retry(look, policyFor(lack), { clock: ports.clock, signal, overWith: asError })
      return joinLooks(seen, next)
    } catch (thrown) {
      this.#isOver = true
      const words = `The run could not be read again: ${messageOf(thrown)}`
      if (lack?.isNeeded && thrown !== signal.reason) this.doubts.push(words)
      else ports.log.debug(words)
      return seen
    }
  }
}

function policyFor(lack: Lack | undefined): RetryPolicy {
  // Everything is downloaded by then; the service may still be down for a moment.
  if (lack === undefined) return RETRY.lastLook
  const { isNeeded, leftMs } = lack
  const refusalMs = isNeeded ? Math.min(RETRY.collect.refusalMs, leftMs) : leftMs
  return { ...RETRY.collect, transientMs: leftMs, refusalMs }
}

/** A run that ended abnormally may never have everything. */
function lackIn(
  gate: Gate,
  run: Run,
  { expected, isPatient }: LookOptions
): { readonly what: string; readonly isNeeded: boolean; readonly longestMs: number } | undefined {
  if (isCompleteAtEnd(gate) || phaseOf(run.status) !== 'ended well') return undefined
  const sources = sourcesIn(gate, run)
  const isOdd = run.oddGrids !== undefined
  if (sources.length === 0 || isOdd || findMissing(expected, sources).length > 0)
    return { what: 'the results of its grids', isNeeded: isPatient, longestMs: Infinity }
  const apdex = stateOfApdex(run.apdex)
  if (apdex === 'there') return undefined
  const isNeeded = apdex === 'late' && gate.settings.thresholds.some(({ metric }) => metric === 'apdex')
  return { what: "the service's apdex", isNeeded: isPatient && isNeeded, longestMs: APDEX_PATIENCE_MS }
}

/** The service's error, rather than the timeout. */
export function asError(failure: unknown): Error {
  return failure instanceof Error ? failure : new Error(messageOf(failure), { cause: failure })
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
