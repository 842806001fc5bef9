import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runGate } from '../../../src/gate/run-gate.js'
// Loaded beforehand: the manual clock does not see that a module is being loaded.
import '../../../src/gate/after-run.js'
import type { Origin, Settings } from '../../../src/gate/settings/settings.js'
import type { Outcome } from '../../../src/analysis/outcome.js'
import { readAddress } from '../../../src/client/http/address.js'
import { TOKEN, makePorts, makeSettings, makeSpecification } from '../gate/gate-ports.js'
import { makeRandom } from '../data/seeded-random.js'
import { figuresOf, makeThresholds, scopesOf, verdictOf } from './whole-oracle.js'
import type { TrueFigures, TrueThreshold } from './whole-oracle.js'
import { makePlan } from './whole-plan.js'
import type { TruePlan } from './whole-plan.js'
import { WholeService, makeStrikes } from './whole-service.js'

/** What became of one seed. `problems` is empty when the promise was kept. */
export interface WholeResult {
  readonly name: string
  readonly group: string
  readonly verdict: string
  readonly problems: readonly string[]
  readonly tookMs: number
  readonly log: string
}

const KINDS = ['passing', 'lasting', 'passing', 'lasting', 'passing', 'lasting', 'none'] as const
const PERCENTILES = [1, 50, 90, 95, 99, 100]

/**
 * Runs a gate against a service that answers badly by the seed's choice. Where nothing goes wrong, or only for a while, the verdict and
 * the figures must be those of the complete data; where something stays wrong, they must be that, or not green.
 */
export async function runSeed(seed: number): Promise<WholeResult> {
  const beganMs = performance.now()
  const random = makeRandom(seed)
  const plan = makePlan(seed)
  const thresholds = makeThresholds(random, plan)
  const kind = KINDS[seed % KINDS.length]!
  const strikes = makeStrikes(random, plan, kind)
  const struck = strikes.map(({ operation, fault, left }) => `${operation} ${fault} (${left} times)`)
  const service = await WholeService.start(plan, strikes, seed)
  const ports = await makePorts()
  try {
    const settings = await settingsOf(plan, { url: service.url, folder: ports.scratchDir, thresholds })
    const outcome = await ports.clock.run(runGate(ports, settings))
    return {
      name: `seed ${seed}: ${struck.join(', ') || 'nothing goes wrong'}`,
      group: `replies spoilt, ${kind}`,
      verdict: outcome.verdict,
      problems: check(outcome, { plan, thresholds, kind }),
      tookMs: performance.now() - beganMs,
      log: [...ports.log.lines, `${outcome.verdict}: ${outcome.reason}`].join('\n')
    }
  } finally {
    await service.close()
    await rm(ports.scratchDir, { recursive: true, force: true })
  }
}

interface Truth {
  readonly plan: TruePlan
  readonly thresholds: readonly TrueThreshold[]
  readonly kind: (typeof KINDS)[number]
}

function check(outcome: Outcome, { plan, thresholds, kind }: Truth): string[] {
  const wanted = verdictOf(plan, thresholds)
  const lines = thresholds.map(({ text }) => text).join('; ')
  if (kind === 'lasting' && outcome.verdict !== 'passed') return []
  if (outcome.verdict !== wanted)
    return [`${outcome.verdict} in place of ${wanted} (${lines || 'no thresholds'}): ${outcome.reason}`]
  return compareFigures(outcome, plan)
}

function compareFigures({ measurements }: Outcome, plan: TruePlan): string[] {
  return scopesOf(plan).flatMap((scope) => {
    const found = measurements?.figures(scope)
    const wanted = figuresOf(plan, scope)
    const [one, other] = [found && listOf(found), wanted && listOf(wanted)]
    const isSame =
      one?.length === other?.length && (one ?? []).every((value, i) => isClose(value, other?.[i]))
    return isSame ? [] : [`${JSON.stringify(scope)} is ${String(one)} in place of ${String(other)}`]
  })
}

interface AnyFigures extends Omit<TrueFigures, 'meanMs'> {
  readonly meanMs: number | undefined
}

function listOf(figures: AnyFigures): (number | undefined)[] {
  const { samples, failures, meanMs, minMs, maxMs } = figures
  return [
    samples,
    failures,
    meanMs,
    minMs,
    maxMs,
    ...PERCENTILES.map((percent) => figures.percentileMs(percent))
  ]
}

function isClose(one: number | undefined, other: number | undefined): boolean {
  if (one === undefined || other === undefined) return one === other
  return Math.abs(one - other) <= 1e-9 * Math.max(1, Math.abs(other))
}

async function settingsOf(
  plan: TruePlan,
  { url, folder, thresholds }: { url: string; folder: string; thresholds: readonly TrueThreshold[] }
): Promise<Settings> {
  const path = join(folder, 'plan.jmx')
  await writeFile(path, '<jmeterTestPlan/>')
  const isNew = plan.origin !== 'existing'
  return makeSettings({
    target: { kind: 'remote', address: readAddress(url), token: TOKEN },
    origin: originOf(plan, path),
    threads: isNew ? plan.threads : undefined,
    durationSeconds: isNew ? plan.durationSeconds : undefined,
    thresholdLines: thresholds.map(({ text }) => text).join('\n')
  })
}

function originOf({ origin, grids }: TruePlan, path: string): Origin {
  if (origin === 'existing') return { kind: 'existing', runId: 'run1' }
  return {
    kind: 'files',
    paths: [path],
    grids: grids.map(({ id, region, nodeCount }) =>
      origin === 'references' ? { id } : makeSpecification({ region, nodeCount })
    )
  }
}
