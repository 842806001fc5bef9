import type { Artifact, ArtifactRequest } from '../gate/ports.js'
import type { Occasion } from '../gate/ports.js'

/** Uploads with the toolkit's client, which is heavy and only loaded here. */
export function createUploader(occasion: Occasion): (request: ArtifactRequest) => Promise<Artifact> {
  return async ({ name, folder, files, retentionDays }) => {
    const { DefaultArtifactClient } = await import('@actions/artifact')
    const { id } = await new DefaultArtifactClient().uploadArtifact(name, [...files], folder, {
      ...(retentionDays !== undefined && { retentionDays })
    })
    if (id === undefined) throw new Error('the artifact service returned no id')
    return { id: String(id), url: occasion.url === undefined ? undefined : `${occasion.url}/artifacts/${id}` }
  }
}
