import type { ComparedRun } from '../analysis/baseline/judge/sides.js'
import { RESULTS_FOLDER } from './collect/collect.js'
import { comparedRun, filesOf } from './collect/compared-run.js'
import { asSentence, capitalize } from '../contract/text.js'
import { findOut } from './follow-run.js'
import type { ConfirmingRun, Findings } from './findings.js'
import type { Gate } from './gate.js'
import { hasEnded } from './run/run-status.js'
import { describeGap, isInDoubt } from './verdict/conclude.js'

/**
 * Runs again, up to `confirm` times, while a line that names `baseline` is broken or unsure; all runs are compared together. Other
 * lines judge each run by itself. A run that ends badly or has gaps is left out, so that nothing holds because of it; after one that
 * could not be started or watched there are no more.
 */
export async function confirmRuns(
  gate: Gate,
  findings: Findings,
  isDoubtful?: (heads: readonly ComparedRun[]) => boolean
): Promise<Findings> {
  const { settings, ports, saved } = gate
  const { comparison, collection } = findings
  if (comparison?.kind !== 'recorded' || !canBeRepeated(gate, findings)) return findings
  const inDoubt = isDoubtful ?? ((head) => isInDoubt(settings, { ...comparison, head }))
  const head = [...comparison.head]
  const confirming: ConfirmingRun[] = []
  const files = filesOf(findings)
  let failure: Findings['failure']
  let gap: string | undefined
  for (let count = 1; count <= settings.baseline.confirm && inDoubt(head); count++) {
    const stage = `confirming run ${count} of ${settings.baseline.confirm}`
    ports.log.info(`A line that names baseline is broken or unsure: ${stage}.`)
    saved.beginAnotherRun({ leaveIfKilled: !settings.stopOnCancel })
    const resultsFolder = `${RESULTS_FOLDER}/confirm-${count}`
    const found = await findOut(gate, {
      ...{ stage, resultsFolder, isNamed: false },
      settings: { stopEarly: false }
    })
    files.push(...filesOf(found))
    if (found.failure?.kind === 'cancelled') failure = found.failure
    const problem = found.failure?.message ?? describeGap(settings, found)
    if (problem === undefined) {
      head.push(comparedRun(found))
      confirming.push({ stage: `confirming run ${count}`, findings: found })
    } else if (found.collection?.foreign?.length || hasBroken(found))
      gap ??= `${capitalize(stage)}: ${problem}`
    else if (failure === undefined) ports.log.warning(`Not compared: ${stage}: ${asSentence(problem)}`)
    const isOver = failure !== undefined || gap !== undefined
    if (found.run === undefined || !hasEnded(found.run.status) || isOver) break
  }
  return {
    ...findings,
    ...(failure !== undefined && { failure }),
    ...(gap !== undefined && { gap }),
    ...(collection !== undefined && { collection: { ...collection, files } }),
    comparison: { ...comparison, head },
    confirming
  }
}

/** By a line of the plan: whatever else is missing, it is not forgotten. */
function hasBroken({ run }: Findings): boolean {
  return run?.toolLines?.some(({ holds }) => holds === false) === true
}

/** The embedded service runs on this machine: another run there would only confirm the machine. */
function canBeRepeated({ settings, local }: Gate, findings: Findings): boolean {
  return (
    settings.baseline.confirm > 0 &&
    local === undefined &&
    settings.origin.kind !== 'existing' &&
    findings.failure === undefined &&
    describeGap(settings, findings) === undefined
  )
}
