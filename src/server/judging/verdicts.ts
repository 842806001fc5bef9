import { messageOf } from '../errors.js'
import { Recent } from '../recent.js'
import { hasEnded, type RunRecord, type RunThresholds } from '../store/records.js'
import type { Store } from '../store/store.js'
import { type Judged, judgeRun } from './judge-run.js'

/** Results may take seconds to read; what was read may be large. */
const KEPT = 8

interface Ports {
  readonly store: Store
  /** Waits until the results of an ended run are merged. */
  readonly settle: (run: RunRecord) => Promise<void>
  readonly log: (line: string) => void
}

/** Keeps and judges the thresholds of runs. A verdict is worked out when somebody asks for it, and stored. */
export class Verdicts {
  readonly #known = new Recent<Judged>(KEPT)
  /** Runs of the list, judged one after the other. */
  readonly #waiting = new Set<string>()
  #isAtWork = false

  constructor(private readonly ports: Ports) {}

  /** Stores them, or removes them. */
  replace(run: RunRecord, thresholds: RunThresholds | undefined): void {
    if (thresholds === undefined) delete run.thresholds
    else run.thresholds = thresholds
    this.ports.store.saveRun(run)
  }

  /** Of a run that has ended. */
  async judge(run: RunRecord, thresholds: RunThresholds): Promise<Judged> {
    const judged = await this.#judgeOnce(run, thresholds)
    // Results may have been deleted since then; what they proved has not changed.
    if (thresholds.verdict) return { ...judged, ...thresholds.verdict }
    this.#note(run.id, thresholds, judged)
    return judged
  }

  #judgeOnce(run: RunRecord, thresholds: RunThresholds): Promise<Judged> {
    const key = JSON.stringify([run.id, thresholds.text, thresholds.warmUpSec])
    return this.#known.get(key, () => this.#judge(run, thresholds))
  }

  /** For the list: the stored verdict; otherwise it is there a moment later. */
  glance(run: RunRecord): RunThresholds['verdict'] {
    const { thresholds } = run
    if (thresholds === undefined || !hasEnded(run) || thresholds.verdict) return thresholds?.verdict
    this.#waiting.add(run.id)
    void this.#catchUp()
    return undefined
  }

  async #judge(run: RunRecord, thresholds: RunThresholds): Promise<Judged> {
    await this.ports.settle(run)
    return judgeRun(run, thresholds, this.ports.store)
  }

  /** They may have been replaced meanwhile. */
  #note(id: string, { text, warmUpSec }: RunThresholds, { verdict, reason }: Judged): void {
    const { store } = this.ports
    const run = store.run(id)
    const now = run?.thresholds
    if (run === undefined || now?.text !== text || now.warmUpSec !== warmUpSec) return
    run.thresholds = { ...now, verdict: { verdict, reason } }
    store.saveRun(run)
  }

  async #catchUp(): Promise<void> {
    if (this.#isAtWork) return
    this.#isAtWork = true
    for (const id of this.#waiting) {
      this.#waiting.delete(id)
      const run = this.ports.store.run(id)
      if (!run?.thresholds || run.thresholds.verdict) continue
      await this.judge(run, run.thresholds).catch((thrown: unknown) => {
        this.ports.log(`could not judge run ${id}: ${messageOf(thrown)}`)
      })
    }
    this.#isAtWork = false
  }
}
