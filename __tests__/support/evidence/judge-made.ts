// Loaded beforehand: the manual clock does not see that a module is being loaded.
import { collect } from '../../../src/gate/collect/collect.js'
import { conclude } from '../../../src/gate/verdict/conclude.js'
import type { EarlierResults } from '../../../src/analysis/evidence/own-rows.js'
import { GridHealth } from '../../../src/analysis/evidence/grid-health.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { makeGate, makeSettings, makeSpecification } from '../gate/gate-ports.js'
import { GateService } from '../gate/gate-service.js'
import { csvOf, documentOf, type MadeRun } from './made-run.js'

export interface JudgeOptions {
  readonly lines?: string
  readonly warmUpMs?: number
  /** By the service's clock; undefined for a run that somebody else has created. */
  readonly createdMs?: number | undefined
  /** The results of the step's runs before this one. */
  readonly earlierResults?: EarlierResults[]
  /** What the service sends, in place of the run's own results. */
  readonly csvs?: ReadonlyMap<string, string>
  /** Whether the run had ended before anybody looked. */
  readonly isOver?: boolean
}

/** What the gate makes of a run that has ended: its results are collected from a service, and judged. */
export async function judgeMade(run: MadeRun, options: JudgeOptions = {}): Promise<Outcome> {
  const { lines = '', warmUpMs = 0, createdMs, earlierResults = [], isOver = false } = options
  const service = new GateService()
  try {
    for (const grid of run.grids) service.csvs.set(grid.id, options.csvs?.get(grid.id) ?? csvOf(grid, run))
    service.addRun({ id: run.id, statuses: ['finished'], document: documentOf(run, service.url) })
    const { thresholds } = makeSettings({ thresholdLines: lines })
    const gate = await makeGate(service.url, {
      ...{ thresholds, warmUpMs, durationSeconds: run.durationSeconds },
      origin: {
        kind: 'files',
        paths: [],
        grids: run.grids.map(({ nodeCount }) => makeSpecification({ nodeCount }))
      }
    })
    const { signal } = new AbortController()
    const work = async (): Promise<Outcome> => {
      const seen = await gate.client.showRun(run.id, signal)
      const health = new GridHealth()
      health.note(seen.grids, { hasEnded: isOver })
      const what = { signal, createdMs, first: seen, health }
      const collection = await collect({ ...gate, earlierResults }, seen, what)
      return conclude(gate.settings, { run: collection.run, collection })
    }
    return await gate.ports.clock.run(work())
  } finally {
    service.close()
  }
}
