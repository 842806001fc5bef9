import { rm } from 'node:fs/promises'
import type { Run } from '../../service/documents/documents.js'
import { listStallLabels } from '../../thresholds/judge/over-time.js'
import { pauseBetweenLooks } from '../../service/retry-pause.js'
import { startDeadline } from '../deadline.js'
import { fetchGrid, nameOf, sourcesOf, withProblem } from './fetch-results.js'
import type { FetchedGrid, Source } from './fetch-results.js'
import type { Gate } from '../gate.js'
import { hasGrown } from './growth.js'
import { isCompleteAtEnd } from './complete-at-end.js'
import { renewHref } from './renew-href.js'
import { phaseOf } from '../run/run-status.js'

const STILL_GROWING = 'it was still growing when the collection time ran out'
/** Do not wait long for a newer link: the known one may still work. */
const LONGEST_LOOK_MS = 10_000
/** A CSV with only a header may still be in the process of being written. */
const EMPTY_PATIENCE_MS = 30_000

/** Where to find the CSVs of the grids that the run lists. */
export function sourcesIn({ client, settings: { origin } }: Gate, run: Run): Source[] {
  return sourcesOf(client, run, origin.kind === 'files' ? origin.grids.length : 1)
}

/** The CSV downloads, each started as soon as its grid is known. */
export class GridFetches {
  readonly #gate: Gate
  readonly #place: { readonly resultsDir: string; readonly signal: AbortSignal }
  readonly #fetches = new Map<string, Promise<FetchedGrid>>()
  readonly #confirmed = new Set<string>()
  #latest: Run

  constructor(gate: Gate, run: Run, place: { resultsDir: string; signal: AbortSignal }) {
    this.#gate = gate
    this.#place = place
    this.#latest = run
    this.follow(run)
  }

  follow(run: Run): void {
    this.#latest = run
    for (const source of sourcesIn(this.#gate, run)) void this.#fetch(source)
  }

  async results(sources: readonly Source[]): Promise<FetchedGrid[]> {
    return Promise.all(sources.map((source) => this.#fetch(source)))
  }

  /** A service may report a run as finished while its CSVs still grow: each is checked once more, and downloaded again if it has grown. */
  async confirm(sources: readonly Source[]): Promise<void> {
    const open = sources.filter((source) => !this.#confirmed.has(nameOf(source)))
    for (const source of open) this.#confirmed.add(nameOf(source))
    await Promise.all(open.map((source) => this.#confirm(source)))
  }

  async #confirm(source: Source): Promise<void> {
    const { client, ports } = this.#gate
    const { signal } = this.#place
    for (let growths = 0; ; growths++) {
      const { result, href } = await this.#fetch(source)
      const { path, bytes, gridId } = result
      if (path === undefined) return
      const isGrowing = await hasGrown(client, href, {
        bytes,
        clock: ports.clock,
        signal,
        // Only a link that the service provided can have expired.
        renew: async (failed, within) =>
          source.isLinked ? this.#findAddress({ ...source, href: failed }, within) : failed
      })
      if (!isGrowing && (growths === 0 || !signal.aborted)) return
      // A file with its final name must be complete.
      await rm(path, { force: true })
      if (signal.aborted) {
        this.#fetches.set(nameOf(source), Promise.resolve(withProblem(source, STILL_GROWING)))
        return
      }
      if (growths === 0)
        ports.log.info(`The CSV of grid ${gridId} has grown since it was downloaded; downloading it again.`)
      else await ports.clock.sleep(pauseBetweenLooks(growths), signal).catch(() => undefined)
      // From the start: nothing guarantees that the earlier bytes are unchanged.
      this.#fetches.delete(nameOf(source))
    }
  }

  #fetch(source: Source): Promise<FetchedGrid> {
    const begun = this.#fetches.get(nameOf(source))
    if (begun !== undefined) return begun
    const { client, ports, settings } = this.#gate
    const isFinal = isCompleteAtEnd(this.#gate) || phaseOf(this.#latest.status) !== 'ended well'
    const fetch = fetchGrid({ client, clock: ports.clock, log: ports.log }, source, {
      ...this.#place,
      stallLabels: listStallLabels(settings.thresholds),
      emptyPatienceMs: isFinal ? 0 : EMPTY_PATIENCE_MS,
      // Nothing is in front of the embedded service that could answer in its place.
      isFinal: settings.target.kind === 'local',
      findAddress: (failed) => this.#findAddress(failed)
    })
    this.#fetches.set(nameOf(source), fetch)
    return fetch
  }

  /** A link may appear later than its grid, a built link may be wrong, and a signed link expires: use the newest one. */
  async #findAddress(source: Source, signal = this.#place.signal): Promise<string> {
    const { client, ports } = this.#gate
    const deadline = startDeadline(ports.clock, LONGEST_LOOK_MS, {
      error: new Error('no answer'),
      others: [signal]
    })
    const seen = await client
      .showRun(this.#latest.id, deadline.signal)
      .catch(() => this.#latest)
      .finally(() => deadline.release())
    return renewHref(source, sourcesIn(this.#gate, seen))
  }
}
