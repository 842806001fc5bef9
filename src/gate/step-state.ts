import type { Run } from '../service/documents/documents.js'

/** What the post step needs to clean up after main, whatever became of it. The one place where the token is kept. */
export interface StepState {
  /** Empty for the embedded service, which has gone with the step. */
  readonly address: string
  readonly token: string
  readonly serviceName: string | undefined
  /** Sent as a tag with the run, so that it can be found when the reply to its creation was lost. */
  readonly marker: string | undefined
  /** When the run was asked for, by this machine's clock. */
  readonly askedMs?: number
  readonly runId: string | undefined
  /** A repeat that was asked for: what is needed to know its run when the reply was lost. */
  readonly repeat?: RepeatAttempt | undefined
  /** Grids that were asked for, as long as there is no reply: there is no list of grids in which they could be found. */
  readonly askedGrids?: readonly AskedGrid[]
  /** Grids that the step made itself. */
  readonly madeGrids: readonly string[]
  /** Tool processes of the embedded service, by group. */
  readonly processGroups: readonly ProcessGroup[]
  /** False once nothing is left to stop, or what is left is left on purpose. */
  readonly cleanupDue: boolean
  /** `stop-on-cancel: false`, as long as nothing but a cancelled job can have ended main: a kill cannot be told from one. */
  readonly leaveIfKilled?: boolean
}

/** What a person needs to find a grid at the service. */
export interface AskedGrid {
  readonly region: string
  readonly nodes: number
  readonly instanceType: string
  readonly stopAfterMinutes: number
}

/** How to know the run that a repeat has made. */
export interface RepeatAttempt {
  readonly runId: string
  readonly likeness: Partial<Pick<Run, 'name' | 'tool' | 'threads' | 'rampupSeconds' | 'durationSeconds'>>
  /** What the list held before. */
  readonly knownIds: readonly string[]
  readonly askedMs: number
}

export interface ProcessGroup {
  readonly pid: number
  /** When the group's leader started, as the system tells it: a pid alone may have been given to somebody else. */
  readonly startTime: string
}

export function encodeState(state: StepState): string {
  return JSON.stringify(state)
}

/** Undefined when there is none, or none that can be understood. */
export function decodeState(text: string): StepState | undefined {
  if (text === '') return undefined
  try {
    const parsed = JSON.parse(text) as StepState
    return typeof parsed.address === 'string' && typeof parsed.token === 'string' ? parsed : undefined
  } catch {
    return undefined
  }
}
