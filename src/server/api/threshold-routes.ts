import type { FastifyInstance } from 'fastify'
import { findRun } from '../find-run.js'
import type { Judged } from '../judging/judge-run.js'
import { readThresholds } from '../judging/read-thresholds.js'
import type { Verdicts } from '../judging/verdicts.js'
import type { ServiceFacts } from '../service-facts.js'
import { hasEnded, type RunRecord } from '../store/records.js'
import { isPageRequest } from '../pages/page-access.js'
import { PAGE_HEADERS } from '../pages/send-page.js'
import type { RunPages } from '../pages/run-pages.js'
import type { Document } from './documents.js'

/** Additions of this service to the API: what must hold in a run, and once it has ended, whether it does. */
export function addThresholdRoutes(
  app: FastifyInstance,
  { facts, verdicts, pages }: { facts: ServiceFacts; verdicts: Verdicts; pages: RunPages | undefined }
): void {
  const path = `/${facts.words.runs}/:id/thresholds`
  app.get(path, { config: pages ? { page: 'html' } : {} }, async (request, reply) => {
    const run = findRun(request, facts)
    // Where a browser is after its thresholds were refused.
    if (isPageRequest(request))
      return reply.headers(PAGE_HEADERS).redirect(`/${facts.words.runs}/${run.id}`, 303)
    const { thresholds } = run
    const judged = thresholds && hasEnded(run) ? await verdicts.judge(run, thresholds) : undefined
    return thresholdDocument(run, judged, facts)
  })
  app.put(path, { config: { effect: 'run.thresholds' } }, async (request, reply) => {
    const run = findRun(request, facts)
    const read = readThresholds(request.body)
    if ('problems' in read)
      return reply.code(422).send({ error: read.problems.join('\n'), problems: read.problems })
    verdicts.replace(run, read.thresholds)
    facts.store.flush()
    return thresholdDocument(run, undefined, facts)
  })
}

function thresholdDocument(run: RunRecord, judged: Judged | undefined, { words }: ServiceFacts): Document {
  const { thresholds } = run
  return {
    _links: { self: { href: `/api/${words.runs}/${run.id}/thresholds` } },
    thresholds: thresholds?.text ?? '',
    warm_up: thresholds?.warmUpSec ?? 0,
    on_stall: thresholds?.onStall ?? 'fail',
    ...(judged && {
      verdict: judged.verdict,
      reason: judged.reason,
      lines: [
        ...judged.judgements.map(({ threshold, verdict, actual, reason, overTime }) => ({
          ...{ line: threshold.line, threshold: threshold.text, level: threshold.level, verdict },
          ...{ actual: actual ?? null, reason },
          ...(overTime && { over_time: overTime.value, by_samples: overTime.bySamples })
        })),
        ...judged.left.map(({ line, text, level }) => ({
          ...{ line, threshold: text, level, verdict: 'left to the gate', actual: null },
          reason: 'it compares with a baseline, which only the gate knows'
        }))
      ].sort((one, other) => one.line - other.line)
    })
  }
}
