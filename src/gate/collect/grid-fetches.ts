import { rm } from 'node:fs/promises'
import type { ServiceClient } from '../../client/client.js'
import type { Clock } from '../../contract/clock.js'
import type { Run } from '../../contract/api.js'
import { listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import { RETRY, pauseBetweenLooks, retry } from '../../client/retry.js'
import { withDeadline } from '../deadline.js'
import {
  fetchGrid,
  nameOf,
  renewHref,
  sourcesOf,
  withProblem,
  type FetchedGrid,
  type Source
} from './fetch-results.js'
import type { Gate } from '../gate.js'
import { phaseOf } from '../run/run-status.js'

const STILL_GROWING = 'it was still growing when the collection time ran out'
/** For a newer link, where the known one may still work, and for whether a CSV has grown, which it almost never has. */
const LONGEST_REQUEST_MS = 10_000
/** A CSV with only a header may still be in the process of being written. */
const EMPTY_PATIENCE_MS = 30_000

export function sourcesIn({ client, settings: { origin } }: Gate, run: Run): Source[] {
  return sourcesOf(client, run, origin.kind === 'files' ? origin.grids.length : 1)
}

/**
 * Whether the service has everything in place before it reports the end of a run: what is missing then never comes, and a CSV without
 * rows has none. So does a loadgate, embedded or elsewhere; any other service may still be writing.
 */
export function isCompleteAtEnd({ settings, client }: Pick<Gate, 'settings' | 'client'>): boolean {
  return settings.target.kind === 'local' || client.isLoadgate
}

interface GridFetch {
  readonly source: Source
  done: Promise<FetchedGrid>
  /** It has not grown since it was downloaded. */
  isSettled: boolean
}

/** The CSV downloads, each started as soon as its grid is known. */
export class GridFetches {
  readonly #fetches = new Map<string, GridFetch>()
  #growths = 0

  constructor(
    private readonly gate: Gate,
    private readonly place: { readonly resultsDir: string; readonly signal: AbortSignal }
  ) {}

  /** The CSVs that the run lists; what has not begun begins now. */
  async of(run: Run): Promise<FetchedGrid[]> {
    return Promise.all(
      sourcesIn(this.gate, run).map((source) => {
        const known = this.#fetches.get(nameOf(source))
        if (known !== undefined) return known.done
        const done = this.#fetch(run, source)
        this.#fetches.set(nameOf(source), { source, done, isSettled: false })
        return done
      })
    )
  }

  /** Whether the run lists no CSV beyond those asked for so far. */
  haveBegun(run: Run): boolean {
    return sourcesIn(this.gate, run).every((source) => this.#fetches.has(nameOf(source)))
  }

  /** True if a CSV has grown since its download: the next `of` downloads it anew, since its earlier bytes may have changed too. */
  async haveGrown(run: Run): Promise<boolean> {
    const listed = sourcesIn(this.gate, run)
    const fetches = [...this.#fetches.values()]
    const grown = await Promise.all(fetches.map(async (fetch) => this.#hasGrown(fetch, listed)))
    if (!grown.includes(true)) return false
    const { clock } = this.gate.ports
    if (this.#growths++ > 0)
      await clock.sleep(pauseBetweenLooks(this.#growths), this.place.signal).catch(() => undefined)
    return true
  }

  async #hasGrown(fetch: GridFetch, listed: readonly Source[]): Promise<boolean> {
    const { result, href: known } = await fetch.done
    const { path, bytes, gridId } = result
    if (path === undefined || fetch.isSettled) return false
    const { client, ports } = this.gate
    const { signal } = this.place
    // A signed link may have expired since the download.
    const href = renewHref({ ...fetch.source, href: known }, listed)
    const isGrowing = await hasGrown(client, href, { bytes, clock: ports.clock, signal })
    const isTooLate = signal.aborted && (isGrowing || this.#growths > 0)
    fetch.isSettled = !isGrowing && !isTooLate
    if (fetch.isSettled) return false
    // A file with its final name must be complete.
    await rm(path, { force: true })
    if (isTooLate) {
      fetch.done = Promise.resolve(withProblem(fetch.source, STILL_GROWING))
      return false
    }
    if (this.#growths === 0)
      ports.log.info(`The CSV of grid ${gridId} has grown since it was downloaded; downloading it again.`)
    return this.#fetches.delete(nameOf(fetch.source))
  }

  async #fetch(run: Run, source: Source): Promise<FetchedGrid> {
    const { client, ports, settings, asideGroups } = this.gate
    const isFinal = isCompleteAtEnd(this.gate) || phaseOf(run.status) !== 'ended well'
    return fetchGrid({ client, clock: ports.clock, log: ports.log }, source, {
      ...this.place,
      stallLabels: listStallLabels(settings.thresholds),
      // A service of our own knows the plan of any run.
      asideGroups: run.asideGroups ?? asideGroups,
      emptyPatienceMs: isFinal ? 0 : EMPTY_PATIENCE_MS,
      // Nothing is in front of the embedded service that could answer in its place.
      isFinal: settings.target.kind === 'local',
      findAddress: (failed) => this.#findAddress(run, failed)
    })
  }

  /** A link may appear later than its grid, a built link may be wrong, and a signed link expires: use the newest one. */
  async #findAddress(run: Run, source: Source): Promise<string> {
    const { client, ports } = this.gate
    const options = { error: new Error('no answer'), others: [this.place.signal] }
    const seen = await withDeadline(ports.clock, LONGEST_REQUEST_MS, options, (signal) =>
      client.showRun(run.id, signal)
    ).catch(() => run)
    return renewHref(source, sourcesIn(this.gate, seen))
  }
}

/** Whether a HEAD request shows a CSV larger than what was downloaded. No sign of growth is none: a service need not state a size. */
export async function hasGrown(
  client: ServiceClient,
  href: string,
  { bytes, clock, signal }: { readonly bytes: number; readonly clock: Clock; readonly signal: AbortSignal }
): Promise<boolean> {
  const options = { error: new Error('no answer'), others: [signal] }
  return withDeadline(clock, LONGEST_REQUEST_MS, options, async (either) => {
    const size = await retry(() => client.resultSize(href, either), RETRY.checkSize, {
      clock,
      signal: either
    })
    return size !== undefined && size > bytes
  }).catch(() => false)
}
