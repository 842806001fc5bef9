import { defaults } from '@actions/github/lib/utils'
import { RefusedDownloadError, UnusableArtifactError, readAtMost, type Calls } from './calls.js'
import type { Candidate } from './candidates.js'

/** As compressed by GitHub; a document is far smaller. */
const MOST_ZIP_BYTES = 2 * 1024 * 1024

type Fetch = (url: string, options: { signal: AbortSignal }) => Promise<Response>

export async function downloadArtifact(calls: Calls, candidate: Candidate): Promise<Buffer> {
  if (candidate.bytes > MOST_ZIP_BYTES) throw tooLarge()
  return calls.make('download the baseline', async () => fetchZip(calls, await findAddress(calls, candidate)))
}

/** GitHub redirects to its storage, which must not see the token. */
async function findAddress({ octokit, repository }: Calls, { id }: Candidate): Promise<string> {
  const { headers, url } = await octokit.rest.actions.downloadArtifact({
    ...repository,
    artifact_id: id,
    archive_format: 'zip',
    request: { redirect: 'manual' }
  })
  const { location } = headers
  if (location === undefined) throw new RefusedDownloadError('GitHub gave no address to download it from')
  const address = new URL(location, url)
  const isPlain = address.protocol === 'http:' && new URL(url).protocol === 'http:'
  if (address.protocol !== 'https:' && !isPlain)
    throw new RefusedDownloadError(`GitHub gave an address of the kind ${address.protocol}`)
  return address.href
}

async function fetchZip({ options: { signal } }: Calls, url: string): Promise<Buffer> {
  // The toolkit's own, which respects the runner's proxy; with no headers of ours.
  const fetch = defaults.request?.fetch as Fetch
  const response = await fetch(url, { signal }).catch((thrown: unknown) => {
    throw asNetworkError(thrown)
  })
  if (!response.ok || response.body === null) {
    await response.body?.cancel()
    const { status } = response
    const words = `the storage answered ${status}`
    // Its refusal has nothing to do with the job's permissions.
    if (![404, 408, 410, 429].includes(status) && status < 500) throw new RefusedDownloadError(words)
    throw Object.assign(new Error(words), {
      status,
      response: { headers: Object.fromEntries(response.headers) }
    })
  }
  const body = response.body as unknown as AsyncIterable<Uint8Array>
  return readAtMost(body, MOST_ZIP_BYTES, tooLarge).catch((thrown: unknown) => {
    throw thrown instanceof UnusableArtifactError ? thrown : asNetworkError(thrown)
  })
}

/** In the form in which octokit reports a broken connection. */
function asNetworkError(thrown: unknown): Error {
  const { message, cause } = thrown as Error
  return Object.assign(new Error(cause instanceof Error ? cause.message : message, { cause: thrown }), {
    status: 500
  })
}

function tooLarge(): Error {
  return new UnusableArtifactError(`it is larger than ${MOST_ZIP_BYTES} bytes`)
}
