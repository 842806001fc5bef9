import { hasEnded, type RunRecord } from '../../contract/records.js'
import type { RunLine, RunListPage } from '../../report/page/served/served-pages.js'
import { RequestError } from '../errors.js'
import { saysLoss } from '../runs/findings.js'
import { PAGE_SIZE, queryOf } from '../service-facts.js'
import type { SeenRuns } from '../store/seen-runs.js'
import type { RunFilter } from '../store/store.js'
import { factsOf, pathOf, type RunPagePorts } from './run-state.js'

export const HOME = '/'

export interface ListPlace {
  readonly page: number
  readonly filter: RunFilter
}

export function describeList({ page, filter }: ListPlace, seen: SeenRuns, ports: RunPagePorts): RunListPage {
  const start = (page - 1) * PAGE_SIZE
  const { runs, total } = seen.listRuns({ filter, offset: start, limit: PAGE_SIZE })
  const last = countPages(total)
  const pathTo = (number: number): string => listPath(HOME, { page: number, filter })
  return {
    runs: runs.map((run) => lineOf(run, ports)),
    first: start + 1,
    total,
    ...(page > 2 && { newestPath: pathTo(1) }),
    ...(page > 1 && { newerPath: pathTo(page - 1) }),
    ...(page < last && { olderPath: pathTo(page + 1) }),
    ...(page < last - 1 && { oldestPath: pathTo(last) }),
    ...(Object.keys(filter).length > 0 && { clearPath: HOME })
  }
}

function lineOf(run: RunRecord, ports: RunPagePorts): RunLine {
  const judged = ports.verdicts.glance(run)
  const isPending = run.thresholds !== undefined && hasEnded(run)
  return {
    path: pathOf(run, ports),
    ...factsOf(run, ports),
    apdex: run.apdex ?? undefined,
    createdMs: run.createdMs,
    elapsedMs:
      run.startedMs === null ? undefined : (run.stoppedMs ?? ports.facts.clock.now()) - run.startedMs,
    samples: run.samples ?? undefined,
    errorRate: run.report?.mean_error_rate == null ? undefined : run.report.mean_error_rate / 100,
    isLoadLost: saysLoss(run.remoteErrors),
    project: run.request.project ?? undefined,
    verdict: judged?.verdict ?? (isPending ? 'pending' : undefined),
    reason: judged?.reason
  }
}

function countPages(runs: number): number {
  return Math.max(1, Math.ceil(runs / PAGE_SIZE))
}

/** An empty list has one page too. */
export function requirePage(page: number, total: number): void {
  const last = countPages(total)
  if (page > last)
    throw new RequestError(404, `There is no page ${page} of the list of runs; the last one is ${last}.`)
}

export function listPath(path: string, { page, filter }: ListPlace): string {
  return `${path}${queryOf(filter, page === 1 ? undefined : page)}`
}
