import type { Annotation } from '../report/annotations.js'
import type { CommentPlace } from '../report/markdown/comment.js'
import type { ClientOptions, ServiceClient } from '../service/client.js'
import type { Clock } from '../service/clock.js'
import type { OutputName } from './publish/outputs.js'
import type { ProcessGroup, StepState } from './step-state.js'

/** Where lines for people go. Implementations defuse text that the project did not write. */
export interface Log {
  info(line: string): void
  notice(line: string): void
  warning(line: string): void
  error(line: string): void
  debug(line: string): void
}

/** What the run is done for; goes into its name and the report. */
export interface Occasion {
  readonly repository: string
  readonly ref: string
  readonly commit: string
  /** The address of the workflow run, if there is one. */
  readonly url: string | undefined
}

export interface ArtifactRequest {
  readonly name: string
  readonly folder: string
  readonly files: readonly string[]
  readonly retentionDays: number | undefined
}

export interface Artifact {
  readonly id: string
  readonly url: string | undefined
}

export interface CommentRequest {
  readonly token: string
  /** The job's matrix as JSON. */
  readonly matrix: string
  /** The run's name, if it was given by people. */
  readonly name: string | undefined
  /** What is tested, in any words: tells gates apart that have everything else in common. */
  readonly subject?: string
  readonly signal: AbortSignal
  /** When the time is over, by the clock. */
  readonly untilMs: number
  /** The text for the place that was found. */
  render(place: CommentPlace): string
}

/** The embedded service, as the story needs it. */
export interface LocalService {
  readonly url: string
  readonly token: string
  /** Copies the logs of a run's tools into the folder, without secrets; answers the copies' paths. */
  keepLogs?(request: {
    readonly runId: string
    readonly folder: string
    readonly secrets: readonly string[]
  }): Promise<string[]>
  close(end?: LocalServiceEnd): Promise<void>
}

/** How the embedded service is to be closed, where there is little time. */
export interface LocalServiceEnd {
  readonly withinMs?: number
  /** A folder for the samples that nobody has collected. */
  readonly keepSamplesIn?: string
}

export interface LocalServiceRequest {
  readonly serviceName: string | undefined
  /** Told of each process group the service starts, so that it can be ended after this process has gone. */
  readonly onProcessGroup: (group: ProcessGroup) => void
}

/** How far a run is, as of the last look. */
export interface Progress {
  readonly status: string
  /** Since it began to run; since the watch began where it has not. */
  readonly elapsedMs: number
  /** Undefined while it does not run, or when nobody knows. */
  readonly durationMs: number | undefined
}

/** The tools on the table: everything the story needs of the world it runs in. */
export interface Ports {
  readonly log: Log
  readonly clock: Clock
  /** Aborted when the job is cancelled. */
  readonly cancelled: AbortSignal
  readonly occasion: Occasion
  /** A folder of this step's own, which outlives it within the job. */
  readonly scratchDir: string
  /** Hides a secret in everything that is logged from here on. */
  mask(secret: string): void
  saveState(state: StepState): void
  setOutput(name: OutputName, value: string): void
  writeSummary(markdown: string): Promise<void>
  /** Marks what is broken where the job is looked at; a terminal shows it in its table. */
  annotate(annotation: Annotation): void
  /** Undefined where there is nowhere to upload to. */
  readonly uploadArtifact: ((request: ArtifactRequest) => Promise<Artifact>) | undefined
  /** Keeps one comment on the pull request, where the story is told to one. */
  comment?(request: CommentRequest): Promise<void>
  /** Told after each look at the run, where somebody watches. */
  onProgress?(progress: Progress): void
  startLocalService(request: LocalServiceRequest): Promise<LocalService>
  /** Another way to the service than connections of its own. */
  openClient?(options: ClientOptions): ServiceClient
}
