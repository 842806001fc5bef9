import type { Outcome } from '../../report/outcome.js'
import { messageOf } from '../errors.js'
import type { Artifact, Ports } from '../ports.js'
import type { Settings } from '../settings/settings.js'
import { uploadFiles } from '../upload-files.js'

interface Uploaded {
  readonly artifact: Artifact | undefined
  readonly problem: string | undefined
}

/** The client itself waits 45 minutes for a server that accepts the request and never responds. */
const LONGEST_UPLOAD_MS = 15 * 60_000

/** Uploads the artifact; without it, the files are still on the runner. A failure is returned, not thrown. */
export async function upload(
  ports: Ports,
  { settings, outcome, files }: { settings: Settings; outcome: Outcome; files: readonly string[] }
): Promise<Uploaded> {
  const { uploadArtifact, scratchDir, log } = ports
  if (uploadArtifact === undefined)
    return {
      artifact: undefined,
      problem: `Artifacts cannot be uploaded here; the files are in ${scratchDir}.`
    }
  const name = settings.artifactName ?? `loadgate-${outcome.run?.id ?? ''}`
  const request = { name, folder: scratchDir, files, retentionDays: settings.retentionDays }
  try {
    const artifact = await uploadFiles(ports, uploadArtifact, { request, longestMs: LONGEST_UPLOAD_MS })
    return { artifact, problem: undefined }
  } catch (thrown) {
    const problem = `The artifact ${name} could not be uploaded (${messageOf(thrown)}); the files are in ${scratchDir} on the runner.`
    log.warning(problem)
    return { artifact: undefined, problem }
  }
}
