import { steadyNow } from '../../contract/clock.js'
import { messageOf } from '../../contract/text.js'
import { Recent, type ServiceFacts } from '../service-facts.js'
import { createId } from '../store/data-folder.js'
import type { RunData, Store } from '../store/store.js'
import { hasEnded, type RunRecord, type RunThresholds } from '../../contract/records.js'
import { describeUnreadable } from './read-results.js'
import { type Judged, judgeRun } from './judge-run.js'

/** Results may take seconds to read; what was read may be large. */
const KEPT = 8
/** How soon the list looks again for missing results: this long at first, and then twice as long each time. */
const FIRST_WAIT_MS = 30_000
const LONGEST_WAIT_MS = 3_600_000
const KEPT_TRIES = 1000

interface Ports extends Pick<ServiceFacts, 'clock' | 'log'> {
  readonly store: RunData & Pick<Store, 'run'>
  /** Waits until the results of an ended run are merged. */
  readonly settle: (run: RunRecord) => Promise<void>
}

/** A run that could not be judged for good. */
interface Try {
  readonly verdict: RunThresholds['verdict']
  readonly waitMs: number
  readonly againMs: number
}

/** Keeps and judges the thresholds of runs. A verdict is computed on request, and stored once nothing can change it. */
export class Verdicts {
  readonly #known = new Recent<Judged>(KEPT, ({ isFinal }) => isFinal)
  /** Runs of the list, judged one after the other. */
  readonly #waiting = new Set<string>()
  readonly #tries = new Map<string, Try>()
  #isAtWork = false

  constructor(private readonly ports: Ports) {}

  replace(run: RunRecord, thresholds: RunThresholds | undefined): void {
    if (thresholds === undefined) delete run.thresholds
    else run.thresholds = { ...thresholds, mark: createId() }
    this.ports.store.saveRun(run)
  }

  /** Judges a run that has ended. */
  async judge(run: RunRecord, thresholds: RunThresholds): Promise<Judged> {
    const key = keyOfJudged(run, thresholds)
    const judged = await this.#known.get(key, () => this.#judge(run, thresholds))
    // Results may have been deleted since then; what they proved has not changed.
    if (thresholds.verdict) return { ...judged, ...thresholds.verdict }
    if (judged.isFinal) this.#note(run.id, key, judged)
    return judged
  }

  /** For the list: the stored verdict. If there is none, it is computed and there a moment later. */
  glance(run: RunRecord): RunThresholds['verdict'] {
    const { thresholds } = run
    if (thresholds === undefined || !hasEnded(run) || thresholds.verdict) return thresholds?.verdict
    const before = this.#tries.get(keyOfJudged(run, thresholds))
    if (before && steadyNow(this.ports.clock) < before.againMs) return before.verdict
    this.#waiting.add(run.id)
    void this.#catchUp()
    return before?.verdict
  }

  async #judge(run: RunRecord, thresholds: RunThresholds): Promise<Judged> {
    await this.ports.settle(run)
    const judged = await judgeRun(run, thresholds, this.ports.store)
    for (const { detail } of judged.problems) this.ports.log(describeUnreadable(run, detail))
    return judged
  }

  /** They may have been replaced meanwhile. */
  #note(id: string, key: string, { verdict, reason }: Judged): void {
    const { store } = this.ports
    const run = store.run(id)
    if (run?.thresholds === undefined || keyOfJudged(run, run.thresholds) !== key) return
    run.thresholds = { ...run.thresholds, verdict: { verdict, reason } }
    store.saveRun(run)
  }

  async #catchUp(): Promise<void> {
    if (this.#isAtWork) return
    this.#isAtWork = true
    try {
      for (const id of this.#waiting) {
        this.#waiting.delete(id)
        const run = this.ports.store.run(id)
        if (run?.thresholds && !run.thresholds.verdict) await this.#try(run, run.thresholds)
      }
    } catch (thrown) {
      // A database that cannot be read now; whoever looks at the list asks again.
      this.ports.log(`could not judge the runs of the list: ${messageOf(thrown)}`)
    } finally {
      this.#isAtWork = false
    }
  }

  async #try(run: RunRecord, thresholds: RunThresholds): Promise<void> {
    const key = keyOfJudged(run, thresholds)
    const judged = await this.judge(run, thresholds).catch((thrown: unknown) => {
      this.ports.log(`could not judge run ${run.id}: ${messageOf(thrown)}`)
      return undefined
    })
    const before = this.#tries.get(key)
    this.#tries.delete(key)
    if (judged?.isFinal) return
    const waitMs = before ? Math.min(LONGEST_WAIT_MS, 2 * before.waitMs) : FIRST_WAIT_MS
    const againMs = steadyNow(this.ports.clock) + waitMs
    const verdict = judged && { verdict: judged.verdict, reason: judged.reason }
    this.#tries.set(key, { verdict, waitMs, againMs })
    const [oldest] = this.#tries.keys()
    if (this.#tries.size > KEPT_TRIES && oldest !== undefined) this.#tries.delete(oldest)
  }
}

/** The same as long as these thresholds do not change: the key of everything that was judged by them. */
export function keyOfJudged({ id }: RunRecord, thresholds: RunThresholds | undefined): string {
  const { mark, text, warmUpSec, onStall } = thresholds ?? {}
  return JSON.stringify([id, mark, text, warmUpSec, onStall])
}
