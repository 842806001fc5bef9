import { orAborted } from '../contract/clock.js'
import { RETRY, retry } from '../client/retry.js'
import { withDeadline } from './deadline.js'
import type { Artifact, ArtifactRequest, Ports } from './ports.js'

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
