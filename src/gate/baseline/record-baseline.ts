import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { RecordedRun } from '../../contract/baseline.js'
import { encodeBaseline, addRun, mergeBaselines } from '../../analysis/baseline/document/baseline-document.js'
import { whyNotRecorded } from '../../analysis/baseline/document/record-run.js'
import { makeFolder } from '../../contract/files.js'
import type { Outcome } from '../../analysis/outcome.js'
import { messageOf } from '../../contract/text.js'
import type { Findings } from '../findings.js'
import type { Ports } from '../ports.js'
import type { Settings } from '../settings/settings.js'
import { uploadFiles } from '../publish/publish.js'
import { asRecorded, describeRemoteErrors } from '../collect/compared-run.js'
import { readBaselineFile, writeBaselineFile, DOCUMENT_FILE } from './baseline-file.js'
import { ask, findBaseline, isSearched, keyOf } from './find-baseline.js'
import { withFactsOf } from './run-fingerprint.js'

/** With the search, a gate never takes 90 s longer. */
const LONGEST_READING_MS = 10_000
const LONGEST_UPLOAD_MS = 20_000

interface Recording {
  readonly settings: Settings
  readonly findings: Findings
  /** What the thresholds say without the lines that name `baseline`: those do not make a run unusable. */
  readonly alone: Pick<Outcome, 'verdict' | 'reason' | 'rehearsal'>
}

/** Keeps the run for later ones to compare with. A failure is a warning and never changes the verdict. */
export async function recordBaseline(ports: Ports, recording: Recording): Promise<void> {
  const { settings, findings, alone } = recording
  const { source } = settings.baseline
  if (ports.openBaselines === undefined || !isSearched(settings) || findings.isDetached) return
  if (findings.run === undefined || findings.collection?.measurements === undefined) return
  // A cancelled step has no time for it.
  if (alone.verdict === 'cancelled' || ports.cancelled.aborted) return
  try {
    const { place, fingerprint } = await findBaseline({ ports, settings })
    const branch = place.recordedUnder
    if (branch === undefined || fingerprint === undefined) return
    const refusal = whyNotRecorded(findings.collection.measurements)
    if (refusal !== undefined) throw new NotRecordedError(refusal)
    const run = asRecorded(settings, findings, {
      fingerprint: withFactsOf(findings.run, fingerprint, settings),
      commit: ports.occasion.commit,
      nowMs: ports.clock.now(),
      unusable: whyUnusable(findings, alone)
    })
    if (run === undefined) return
    if (source.kind === 'file') await recordInFile(ports, source.path, { run, branch })
    else await recordInStore(ports, settings, { run, branch })
    const words = run.unusable === null ? '' : `, but not as part of the baseline (${run.unusable})`
    ports.log.info(`The run was recorded for ${branch}${words}.`)
  } catch (thrown) {
    const say = thrown instanceof NotRecordedError ? 'info' : 'warning'
    ports.log[say](`The run could not be recorded for later comparisons: ${messageOf(thrown)}`)
  }
}

/** Nothing is wrong with the run: it is only not kept, and the reason may be said again at every run. */
class NotRecordedError extends Error {}

/** A run that is not complete evidence is shown in the trend, and nothing is compared with it. */
function whyUnusable({ failure, stoppedEarly, run }: Findings, alone: Recording['alone']): string | null {
  if (failure?.kind === 'timed-out') return 'timed out'
  if (failure !== undefined) return failure.message
  if (stoppedEarly !== undefined) return 'stopped early'
  if (alone.rehearsal) return 'a rehearsal, with synthetic samples'
  if (alone.verdict === 'inconclusive') return `inconclusive: ${alone.reason}`
  // Part of the load may be missing.
  return describeRemoteErrors(run) ?? null
}

async function recordInFile(
  { clock }: Ports,
  path: string,
  { run, branch }: { run: RecordedRun; branch: string }
): Promise<void> {
  // The search has said what it left out.
  const document = await readBaselineFile(path, { nowMs: clock.now(), warn: () => undefined })
  if (document !== undefined && document.branch !== branch)
    throw new NotRecordedError(
      `${path} is the document of ${document.branch}, and this is a run of ${branch}`
    )
  await writeBaselineFile(path, encodeBaseline(addRun(document, run, branch)))
}

async function recordInStore(
  ports: Ports,
  settings: Settings,
  { run, branch }: { run: RecordedRun; branch: string }
): Promise<void> {
  const { uploadArtifact, scratchDir } = ports
  const baselines = await ports.openBaselines?.()
  if (baselines === undefined) return
  if (uploadArtifact === undefined) throw new NotRecordedError('artifacts cannot be uploaded here')
  const folder = join(scratchDir, 'baseline')
  const path = join(folder, DOCUMENT_FILE)
  makeFolder(folder)
  const prepare = async (): Promise<void> => {
    const earlier = await ask(ports, settings, {
      branch,
      longestMs: LONGEST_READING_MS,
      question: (request) => baselines.readNewest(request)
    })
    // A document with this run alone would hide the others.
    if ('reason' in earlier)
      throw earlier.isOutage ? new Error(earlier.reason) : new NotRecordedError(earlier.reason)
    const document = earlier.length === 0 ? undefined : mergeBaselines(earlier)
    await writeFile(path, encodeBaseline(addRun(document, run, branch)))
  }
  await prepare()
  const name = baselines.artifactName({ ...keyOf(ports, settings), branch })
  // Each push renews the document, so the repository's own retention applies.
  const request = { name, folder, files: [path], retentionDays: undefined, isReplacing: true }
  // Another gate of the same key may have recorded its run meanwhile.
  const replacing = { ...request, beforeReplacing: prepare }
  await uploadFiles(ports, uploadArtifact, { request: replacing, longestMs: LONGEST_UPLOAD_MS })
}
