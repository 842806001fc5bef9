import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join, basename } from 'node:path'
import { makeFolder } from '../../contract/files.js'
import { annotate } from '../../report/annotations.js'
import { describeLeg } from '../../report/markdown/comment-marker.js'
import type { Outcome, BaselineFacts, Verdict } from '../../analysis/outcome.js'
import { renderPage } from '../../report/page/page.js'
import { renderSummary, type SummaryLinks } from '../../report/markdown/summary.js'
import { cutToBytes } from '../../report/escape.js'
import {
  baselineFactsDocument,
  metricsOutput,
  printVerdict,
  thresholdsOutput
} from '../../report/verdict-document.js'
import type { Collection } from '../collect/collect.js'
import { worstFirst } from '../../analysis/evidence/remote-errors.js'
import { type Settings, defaultName } from '../settings/settings.js'
import { messageOf } from '../../contract/text.js'
import type { Artifact, Ports, ArtifactRequest } from '../ports.js'
import type { OutputName } from '../../contract/inputs.js'
import { renderComment } from '../../report/markdown/comment.js'
import { withoutSecretValues } from '../settings/secret-parameters.js'
import { orAborted } from '../../contract/clock.js'
import { RETRY, retry } from '../../client/retry.js'
import { withDeadline } from '../deadline.js'

const MOST_LOGGED_ERRORS = 4
const MOST_OUTPUT_BYTES = 64 * 1024

/** Publishes the outcome: files, artifact, outputs, summary, annotations, comment. A failure here never changes the verdict. */
export async function publish(
  ports: Ports,
  options: {
    settings: Settings
    outcome: Outcome
    collection: Collection | undefined
    logs?: readonly string[]
  }
): Promise<void> {
  const { settings, outcome, collection, logs = [] } = options
  for (const warning of logged(outcome)) ports.log.warning(warning)
  const files = [...(await writeFiles(ports, outcome, collection)), ...logs]
  // Without a run there is nothing to upload, a cancelled step has no time for it, and a detached run has no results yet.
  const isUploaded = outcome.run !== undefined && !['cancelled', 'detached'].includes(outcome.verdict)
  const { artifact, problem }: Uploaded = isUploaded ? await upload(ports, { settings, outcome, files }) : {}
  setOutputs(ports, outcome, { artifact, collection })
  if (settings.stopEarly) ports.setOutput('saved-seconds', String(outcome.stoppedEarly?.savedSeconds ?? 0))
  const links = { artifactUrl: artifact?.url, artifactProblem: problem }
  await summarize(ports, outcome, links)
  for (const annotation of annotate(outcome, describeLeg(settings.matrix))) ports.annotate(annotation)
  await commentOnPullRequest(ports, { settings, outcome, links })
}

async function summarize(
  ports: Pick<Ports, 'writeSummary' | 'log'>,
  outcome: Outcome,
  links: SummaryLinks
): Promise<void> {
  await ports
    .writeSummary(renderSummary(outcome, links))
    .catch((thrown: unknown) =>
      ports.log.warning(`The job summary could not be written: ${messageOf(thrown)}`)
    )
}

/** The runner keeps ten warnings per step: one for each of the worst errors, and one with the number of the others. */
function logged({ warnings, remoteErrors }: Outcome): string[] {
  const shown = worstFirst(remoteErrors).slice(0, MOST_LOGGED_ERRORS)
  const more = remoteErrors.length - shown.length
  return [
    ...warnings,
    ...shown.map((line) => `The service reports an error for the run: ${line}`),
    ...(more === 0
      ? []
      : [`The service reports ${more} more errors for the run; verdict.json lists them all.`])
  ]
}

/** Writes `verdict.json` and `report.html` next to the CSVs; a full disk loses the files, not the verdict. */
async function writeFiles(
  { scratchDir, log }: Ports,
  outcome: Outcome,
  collection: Collection | undefined
): Promise<string[]> {
  const csvs = collection?.files ?? collection?.grids.flatMap(({ path }) => path ?? []) ?? []
  const verdictPath = join(scratchDir, 'verdict.json')
  const pagePath = join(scratchDir, 'report.html')
  try {
    makeFolder(scratchDir)
    await writeCompletely(verdictPath, printVerdict(outcome))
    await writeCompletely(pagePath, renderPage(outcome))
    return [...csvs, verdictPath, pagePath]
  } catch (thrown) {
    log.warning(`verdict.json and report.html could not be written: ${messageOf(thrown)}`)
    return [...csvs]
  }
}

/** Removes a partial file, which would be taken for a complete one. */
async function writeCompletely(path: string, text: string): Promise<void> {
  try {
    await writeFile(path, text)
  } catch (thrown) {
    await rm(path, { force: true })
    throw thrown
  }
}

function setOutputs(
  ports: Ports,
  outcome: Outcome,
  { artifact, collection }: { artifact: Artifact | undefined; collection: Collection | undefined }
): void {
  const { run, apdex, summary, measurements, judgements, verdict, baseline } = outcome
  const outputs: Partial<Record<OutputName, string | undefined>> = {
    verdict,
    status: run?.status,
    apdex: apdex && String(apdex.score),
    'apdex-target': apdex && String(apdex.targetMs),
    summary: summary && cutToBytes(summary, MOST_OUTPUT_BYTES),
    metrics: metricsOutput(measurements, apdex?.targetMs),
    thresholds: thresholdsOutput(judgements),
    baseline: baseline && baselineOutput(baseline),
    'results-dir': collection?.resultsDir,
    'artifact-id': artifact?.id,
    'artifact-url': artifact?.url
  }
  for (const [name, value] of Object.entries(outputs))
    if (value !== undefined) ports.setOutput(name as OutputName, value)
}

const MOST_CHARACTERS = 1000
const MOST_RUNS = 1000

/** The output `baseline`: what verdict.json has, bounded, and without what only recording needs. */
function baselineOutput(facts: BaselineFacts): string {
  const document = baselineFactsDocument(facts)
  return JSON.stringify({
    ...document,
    fingerprint: undefined,
    runs: document.runs.slice(-MOST_RUNS),
    reason: document.reason?.slice(0, MOST_CHARACTERS) ?? null,
    notes: document.notes.slice(0, 10).map((note) => note.slice(0, MOST_CHARACTERS))
  })
}

interface Uploaded {
  readonly artifact?: Artifact
  readonly problem?: string
}

/** The client itself waits 45 minutes for a server that accepts the request and never responds. */
const LONGEST_UPLOAD_MS = 15 * 60_000

/** Uploads the artifact; without it, the files are still on the runner. A failure is returned, not thrown. */
async function upload(
  ports: Ports,
  { settings, outcome, files }: { settings: Settings; outcome: Outcome; files: readonly string[] }
): Promise<Uploaded> {
  const { uploadArtifact, scratchDir, log } = ports
  if (uploadArtifact === undefined)
    return { problem: `Artifacts cannot be uploaded here; the files are in ${scratchDir}.` }
  const name = settings.artifactName ?? nameArtifact(settings, outcome)
  const request = { name, folder: scratchDir, files, retentionDays: settings.retentionDays }
  try {
    return { artifact: await uploadFiles(ports, uploadArtifact, { request, longestMs: LONGEST_UPLOAD_MS }) }
  } catch (thrown) {
    const problem = `The artifact ${name} could not be uploaded (${messageOf(thrown)}); the files are in ${scratchDir} on the runner.`
    log.warning(problem)
    return { problem }
  }
}

/** Files may be judged by several steps, and again when a job is run again: their id alone would not be unique. */
function nameArtifact({ origin }: Settings, { run }: Outcome): string {
  const name = `loadgate-${run?.id ?? ''}`
  return origin.kind === 'results' ? `${name}-${randomBytes(3).toString('hex')}` : name
}

const LONGEST_COMMENT_MS = 30_000

/** Comments on the pull request. A cancelled or detached run has no verdict to report, so the last comment stays. */
export async function commentOnPullRequest(
  ports: Ports,
  { settings, outcome, links }: { settings: Settings; outcome: Outcome; links: SummaryLinks }
): Promise<void> {
  const { githubToken: token, matrix, name } = settings
  if (ports.comment === undefined || settings.comment === 'off') return
  if (['cancelled', 'detached'].includes(outcome.verdict)) return
  if (token === '') {
    ports.log.info('No github-token, so no comment on the pull request.')
    return
  }
  const untilMs = ports.clock.now() + LONGEST_COMMENT_MS
  const error = new Error('GitHub took too long to respond')
  const write = async (signal: AbortSignal): Promise<void> =>
    ports.comment?.({
      ...{ token, matrix, signal, untilMs },
      name: name === defaultName(ports.occasion) ? undefined : name,
      subject: subjectOf(settings),
      render: (place) => renderComment(outcome, { ...links, workflowUrl: ports.occasion.url }, place)
    })
  await withDeadline(ports.clock, LONGEST_COMMENT_MS, { error, others: [ports.cancelled] }, write).catch(
    (thrown: unknown) =>
      ports.log.warning(`The comment on the pull request could not be written: ${messageOf(thrown)}`)
  )
}

/** Plan, service and thresholds. Not the run id, which differs each time. */
function subjectOf(settings: Settings): string {
  const { target, tool, origin, project, overrideParameters, overrideHosts, thresholds } = settings
  return JSON.stringify([
    target.kind === 'remote' ? target.address.api : target.kind,
    tool,
    filesOf(origin),
    project,
    withoutSecretValues(overrideParameters),
    overrideHosts,
    thresholds.map(({ text }) => text)
  ])
}

function filesOf(origin: Settings['origin']): readonly string[] | string {
  if (origin.kind === 'files') return origin.paths.map((path) => basename(path))
  return origin.kind === 'results' ? origin.files.map(({ grid }) => grid) : origin.kind
}

/** Publishes a verdict reached before there was a run: skipped, or invalid inputs. */
export async function publishWithoutRun(
  ports: Pick<Ports, 'setOutput' | 'writeSummary' | 'log'>,
  verdict: Verdict,
  reason: string
): Promise<void> {
  const [headline = '', ...problems] = reason.split('\n')
  const outcome: Outcome = {
    verdict,
    reason: headline,
    ...{ run: undefined, apdex: undefined, summary: undefined, measurements: undefined, rehearsal: false },
    ...{ means: {}, judgements: [], grids: [], warnings: [], remoteErrors: [] },
    // The summary has a line for each. A caret points into the line above in logs only: here letters differ in width.
    notes: problems.filter((line) => !/^\s*\^?$/.test(line))
  }
  ports.setOutput('verdict', verdict)
  await summarize(ports, outcome, { artifactUrl: undefined, artifactProblem: undefined })
}

/** Uploads an artifact, retrying for so long; throws the last failure. */
export async function uploadFiles(
  { clock, cancelled }: Pick<Ports, 'clock' | 'cancelled'>,
  uploadArtifact: NonNullable<Ports['uploadArtifact']>,
  { request, longestMs }: { request: ArtifactRequest; longestMs: number }
): Promise<Artifact> {
  const limit = longestMs < 60_000 ? `${longestMs / 1000} s` : `${longestMs / 60_000} minutes`
  const options = { error: new Error(`no response within ${limit}`), others: [cancelled] }
  let failure: unknown
  return withDeadline(clock, longestMs, options, (signal) => {
    const attempt = async (): Promise<Artifact> => {
      signal.throwIfAborted()
      // The client does not accept a signal: it is abandoned, and ends with the process.
      return orAborted(uploadArtifact(request), signal).catch((thrown: unknown) => {
        failure = thrown
        throw thrown
      })
    }
    return retry(attempt, RETRY.upload, { clock, signal })
  }).catch((thrown: unknown) => {
    throw failure ?? thrown
  })
}
