import { orAborted } from '../contract/clock.js'
import { retry, type RetryPolicy } from '../client/retry.js'
import { startDeadline } from './deadline.js'
import { messageOf } from '../contract/text.js'
import type { Artifact, ArtifactRequest, Ports } from './ports.js'

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

/** Uploads an artifact, retrying for so long; throws the last failure. */
export async function uploadFiles(
  { clock, cancelled }: Pick<Ports, 'clock' | 'cancelled'>,
  uploadArtifact: NonNullable<Ports['uploadArtifact']>,
  { request, longestMs }: { request: ArtifactRequest; longestMs: number }
): Promise<Artifact> {
  const limit = longestMs < 60_000 ? `${longestMs / 1000} s` : `${longestMs / 60_000} minutes`
  const deadline = startDeadline(clock, longestMs, {
    error: new Error(`no response within ${limit}`),
    others: [cancelled]
  })
  const { signal } = deadline
  let failure: unknown
  const attempt = async (): Promise<Artifact> => {
    signal.throwIfAborted()
    // The client does not accept a signal: it is abandoned, and ends with the process.
    return orAborted(uploadArtifact(request), signal).catch((thrown: unknown) => {
      failure = thrown
      throw thrown
    })
  }
  try {
    return await retry(attempt, RETRY_UPLOAD, { clock, signal })
  } catch (thrown) {
    throw failure ?? thrown
  } finally {
    deadline.release()
  }
}
