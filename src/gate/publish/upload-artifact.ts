import type { Outcome } from '../../report/outcome.js'
import { reasonOf } from '../../service/clock.js'
import { retry } from '../../service/retry.js'
import type { RetryPolicy } from '../../service/retry.js'
import { startDeadline } from '../deadline.js'
import { messageOf } from '../errors.js'
import type { Artifact, Ports } from '../ports.js'
import type { Settings } from '../settings/settings.js'

interface Uploaded {
  readonly artifact: Artifact | undefined
  readonly problem: string | undefined
}

/** The client itself waits 45 minutes for a server that accepts the request and never responds. */
const LONGEST_UPLOAD_MS = 15 * 60_000

/** A name can be used only once, and some servers have no artifact service: a retry cannot help. */
const IS_FINAL = /conflict|already exists|GHES/i

const RETRY_UPLOAD: RetryPolicy = {
  attempts: 3,
  pauseMs: (failures) => 3_000 * failures,
  isTransient: (thrown) => !IS_FINAL.test(messageOf(thrown)),
  transientMs: Infinity,
  isRefusal: () => false,
  refusalMs: 0
}

/** Uploads the artifact; without it, the files are still on the runner. A failure is returned, not thrown. */
export async function upload(
  { uploadArtifact, scratchDir, log, clock, cancelled }: Ports,
  { settings, outcome, files }: { settings: Settings; outcome: Outcome; files: readonly string[] }
): Promise<Uploaded> {
  if (uploadArtifact === undefined)
    return {
      artifact: undefined,
      problem: `Artifacts cannot be uploaded here; the files are in ${scratchDir}.`
    }
  const name = settings.artifactName ?? `loadgate-${outcome.run?.id ?? ''}`
  const deadline = startDeadline(clock, LONGEST_UPLOAD_MS, {
    error: new Error(`no response within ${LONGEST_UPLOAD_MS / 60_000} minutes`),
    others: [cancelled]
  })
  const { signal } = deadline
  const request = { name, folder: scratchDir, files, retentionDays: settings.retentionDays }
  let failure: unknown
  const attempt = (): Promise<Artifact> =>
    within(signal, () => uploadArtifact(request)).catch((thrown: unknown) => {
      failure = thrown
      throw thrown
    })
  try {
    return { artifact: await retry(attempt, RETRY_UPLOAD, { clock, signal }), problem: undefined }
  } catch {
    const problem = `The artifact ${name} could not be uploaded (${messageOf(failure)}); the files are in ${scratchDir} on the runner.`
    log.warning(problem)
    return { artifact: undefined, problem }
  } finally {
    deadline.release()
  }
}

/** The client does not accept a signal: it is abandoned, and ends with the process. */
function within<T>(signal: AbortSignal, start: () => Promise<T>): Promise<T> {
  if (signal.aborted) return Promise.reject(reasonOf(signal))
  return new Promise((resolve, reject) => {
    const giveUp = (): void => reject(reasonOf(signal))
    signal.addEventListener('abort', giveUp, { once: true })
    start()
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', giveUp))
  })
}
