import { readFileSync } from 'node:fs'
import type { BaselineDocument } from '../../../src/contract/baseline.js'
import { decodeBaseline, mergeBaselines } from '../../../src/analysis/baseline/document/baseline-document.js'
import type {
  Artifact,
  ArtifactRequest,
  BaselinePlace,
  BaselineRequest,
  BaselineStore,
  FoundBaseline,
  NewestBaselines
} from '../../../src/gate/ports.js'

/** Recorded runs in memory, and what was asked for. */
export class MemoryStore implements BaselineStore {
  /** Newest first. */
  readonly documents: BaselineDocument[] = []
  readonly asked: string[] = []
  readonly uploads: ArtifactRequest[] = []
  place: BaselinePlace = { branch: 'main', recordedUnder: 'main' }
  baseCommit: string | undefined
  ancestors: readonly string[] = []
  /** Instead of an answer. */
  reason: string | undefined
  isOutage = false
  /** Before each answer. */
  pause: (request: BaselineRequest) => Promise<void> = () => Promise.resolve()

  async locate(branch: string | undefined): Promise<BaselinePlace> {
    return { ...this.place, ...(branch !== undefined && { branch }) }
  }

  async find(request: BaselineRequest): Promise<FoundBaseline> {
    this.asked.push(`find ${request.branch}`)
    await this.pause(request)
    const documents = this.#of(request).slice(0, 3)
    if (this.reason !== undefined || documents.length === 0)
      return { reason: this.reason ?? 'nothing is recorded' }
    const { baseCommit, ancestors } = this
    return { document: mergeBaselines(documents), baseCommit, ancestors }
  }

  async readNewest(request: BaselineRequest): Promise<NewestBaselines> {
    this.asked.push(`read ${request.branch}`)
    const { reason, isOutage } = this
    return reason === undefined ? this.#of(request).slice(0, 3) : { reason, isOutage }
  }

  artifactName({ branch }: { branch: string }): string {
    return `loadgate-baseline-${branch}`
  }

  /** In place of the uploader: documents are kept, other artifacts are only counted. */
  upload = async (request: ArtifactRequest): Promise<Artifact> => {
    this.uploads.push(request)
    const [path = ''] = request.files
    if (request.name.startsWith('loadgate-baseline-'))
      this.documents.unshift(decodeBaseline(readFileSync(path)))
    return { id: '1', url: undefined }
  }

  #of({ branch }: BaselineRequest): BaselineDocument[] {
    return this.documents.filter((document) => document.branch === branch)
  }
}
