import type { BaselineDocument } from '../contract/baseline.js'
import type { Annotation } from '../report/annotations.js'
import type { CommentPlace } from '../report/markdown/comment.js'
import type { ProcessGroup } from '../contract/records.js'
import type { ClusterAddress, Regions } from '../contract/regions/regions.js'
import type { ClientOptions, ServiceClient } from '../client/client.js'
import type { TokenSource } from '../client/http/id-tokens.js'
import type { Clock } from '../contract/clock.js'
import type { OutputName } from '../contract/inputs.js'
import type { StepState } from './saved-state.js'

/** Log lines for people. Implementations escape text that comes from elsewhere. */
export type Log = Readonly<Record<'info' | 'notice' | 'warning' | 'error' | 'debug', (line: string) => void>>

export interface Occasion {
  readonly repository: string
  readonly ref: string
  readonly commit: string
  readonly url: string | undefined
}

export interface ArtifactRequest {
  readonly name: string
  readonly folder: string
  readonly files: readonly string[]
  readonly retentionDays: number | undefined
  /** Replaces an artifact of the same name that an earlier attempt of the workflow run has left. */
  readonly isReplacing?: boolean
  /** Called before that, while the other artifact can still be read; the files may change. If it throws, nothing is replaced. */
  readonly beforeReplacing?: () => Promise<void>
}

export interface Artifact {
  readonly id: string
  readonly url: string | undefined
}

/** Which gate of the workflow asks GitHub, and for how long. */
interface GitHubRequest {
  readonly token: string
  /** The job's matrix as JSON. */
  readonly matrix: string
  /** The run's name, if it was set explicitly. */
  readonly name: string | undefined
  readonly signal: AbortSignal
  /** The deadline, by the clock. */
  readonly untilMs: number
}

export interface CommentRequest extends GitHubRequest {
  /** What is tested, as any text: distinguishes gates that have everything else in common. */
  readonly subject?: string
  render(place: CommentPlace): string
}

/** Where this workflow run stands among the branches. */
export interface BaselinePlace {
  /** The branch to compare with; undefined if the event does not say. */
  readonly branch: string | undefined
  /** The branch that runs of this event are recorded under; undefined for events that are not recorded. */
  readonly recordedUnder: string | undefined
}

export interface BaselineRequest extends GitHubRequest {
  readonly branch: string
  /** Reads a document that came from elsewhere; throws if it is not one. */
  decode(bytes: Uint8Array): BaselineDocument
}

export type FoundBaseline =
  | {
      readonly document: BaselineDocument
      /** Undefined on the branch itself, where any earlier commit will do. */
      readonly baseCommit: string | undefined
      /** The base commit, or this one, and those before it, newest first. */
      readonly ancestors: readonly string[]
      /** Only the newest ones are listed. */
      readonly isHistoryCut?: boolean
    }
  /** Why there is none, and what to do. */
  | { readonly reason: string }

/** Documents to add a run to, or why they cannot be read. */
export type NewestBaselines =
  | readonly BaselineDocument[]
  | {
      readonly reason: string
      /** They are there, and cannot be read this time: that is not said at every run. */
      readonly isOutage?: boolean
    }

/** The recorded runs of branches, kept from workflow run to workflow run. */
export interface BaselineStore {
  /** `branch` is the input `baseline-branch`. */
  locate(branch: string | undefined): Promise<BaselinePlace>
  /** The newest trustworthy documents of the branch as one, and which commits count as earlier ones. Never throws. */
  find(request: BaselineRequest): Promise<FoundBaseline>
  /** The newest trustworthy documents of the branch, to add a run to; or why they cannot be read. Never throws. */
  readNewest(request: BaselineRequest): Promise<NewestBaselines>
  artifactName(request: Pick<BaselineRequest, 'branch' | 'matrix' | 'name'>): string
}

export interface LocalService {
  readonly url: string
  readonly token: string
  /** Copies the logs of a run's tools into the folder, without secrets; returns the paths of the copies. */
  keepLogs?(request: {
    readonly runId: string
    readonly folder: string
    readonly secrets: readonly string[]
  }): Promise<string[]>
  close(end?: LocalServiceEnd): Promise<void>
}

export interface LocalServiceEnd {
  readonly withinMs?: number
  /** A folder for samples that were not collected. */
  readonly keepSamplesIn?: string
}

export interface LocalServiceRequest {
  readonly serviceName: string | undefined
  /** Called for each process group the service starts, so that it can be ended after this process is gone. */
  readonly onProcessGroup: (group: ProcessGroup) => void
  /** Where nodes run; without it, every region is this machine. */
  readonly regions?: RegionsRequest
}

export interface RegionsRequest {
  readonly places: Regions
  /** A label of everything that the service creates on clusters. */
  readonly marker: string
  /** Called with the clusters before anything is created on them; if it throws, nothing is. */
  readonly onClusters: (addresses: readonly ClusterAddress[]) => void
  /** Called with what to do where something created on a cluster could not be deleted. */
  readonly onLeft: (words: string) => void
  /** Ends the start of the service, with its reason: clusters may take their time. */
  readonly signal: AbortSignal
}

export interface Progress {
  /** Which of the step's runs it is, if there are several: "round 3 of 10: base". */
  readonly stage?: string
  /** The run's own; `starting` while it has no samples yet and its service says so. */
  readonly status: string
  /** From 1, while it waits in the service's queue. */
  readonly queuePosition?: number
  /** Why it does not start, apart from the runs before it, in the service's words. */
  readonly waitingReason?: string
  /** Since its first sample; since it was seen running, where the service does not say when that was; else since the watch started. */
  readonly elapsedMs: number
  /** Undefined while it is not running, or if unknown. */
  readonly durationMs: number | undefined
}

export interface Ports {
  readonly log: Log
  readonly clock: Clock
  /** Aborted when the job is cancelled. */
  readonly cancelled: AbortSignal
  readonly occasion: Occasion
  /** A folder for this step only, which is kept until the end of the job. */
  readonly scratchDir: string
  /** Masks a secret in everything logged from now on. */
  mask(secret: string): void
  saveState(state: StepState): void
  setOutput(name: OutputName, value: string): void
  writeSummary(markdown: string): Promise<void>
  /** Annotates the job with what is broken; a terminal shows it in its table. */
  annotate(annotation: Annotation): void
  readonly uploadArtifact: ((request: ArtifactRequest) => Promise<Artifact>) | undefined
  /** Keeps one comment on the pull request, if there can be one. */
  comment?(request: CommentRequest): Promise<void>
  /** Loads the store of recorded runs, always the same one. Undefined where nothing is kept: on the command line. */
  openBaselines?(): Promise<BaselineStore>
  /** When the workflow run began, or why that is not known. Undefined where there is none: on the command line. */
  readonly readWorkflowBegin?: (
    request: Pick<GitHubRequest, 'token' | 'signal' | 'untilMs'>
  ) => Promise<{ readonly ms: number } | { readonly reason: string }>
  onProgress?(progress: Progress): void
  startLocalService(request: LocalServiceRequest): Promise<LocalService>
  /** For an audience, if whoever gives them wants to know it. Undefined where there are none. */
  readonly openIdTokens?: ((audience: string | undefined) => TokenSource) | undefined
  /** Replaces the default client, which opens its own connections. */
  openClient?(options: ClientOptions): ServiceClient
}
