import type { Artifact, ArtifactRequest, Occasion } from '../ports.js'
import { messageOf } from '../../contract/text.js'

const IS_TAKEN = /conflict|already exists/i

/** Uploads with the toolkit's client, which is heavy and only loaded here. */
export function createUploader(occasion: Occasion): (request: ArtifactRequest) => Promise<Artifact> {
  return async ({ name, folder, files, retentionDays, isReplacing = false, beforeReplacing }) => {
    const { DefaultArtifactClient } = await import('@actions/artifact')
    const client = new DefaultArtifactClient()
    const upload = (): ReturnType<typeof client.uploadArtifact> =>
      client.uploadArtifact(name, [...files], folder, {
        ...(retentionDays !== undefined && { retentionDays })
      })
    const { id } = await upload().catch(async (thrown: unknown) => {
      if (!isReplacing || !IS_TAKEN.test(messageOf(thrown))) throw thrown
      await beforeReplacing?.()
      await client.deleteArtifact(name)
      return upload()
    })
    if (id === undefined) throw new Error('the artifact service returned no id')
    return { id: String(id), url: occasion.url === undefined ? undefined : `${occasion.url}/artifacts/${id}` }
  }
}
