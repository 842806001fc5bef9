import type { Run } from '../contract/api.js'
import type { ProcessGroup } from '../contract/records.js'
import type { ClusterAddress } from '../contract/regions/regions.js'
import { messageOf } from '../contract/text.js'
import type { IdTokenUse } from './settings/token-settings.js'

/** What the post step needs to clean up after main, however main ended. The only place where the API token is saved; an ID token is not. */
export interface StepState {
  /** Where the API was found, or as it is written; empty for the embedded service, which ended with the step. */
  readonly address: string
  /** Empty if ID tokens are used, which the post step asks for itself. */
  readonly token: string
  readonly idToken?: IdTokenUse | undefined
  readonly serviceName: string | undefined
  /** Sent as a tag of the run, so that the run can be found if the reply to its creation is lost. */
  readonly marker: string | undefined
  /** When the run was requested, by this machine's clock. */
  readonly askedMs?: number | undefined
  readonly runId: string | undefined
  /** The step's runs before this one, the newest last: they have ended, but something in between may have created one twice. */
  readonly earlier?: readonly (Pick<StepState, 'runId' | 'askedMs'> & { readonly marker: string })[]
  /** A repeat that was requested: what identifies its run if the reply is lost. */
  readonly repeat?: RepeatAttempt | undefined
  /** Grids that were requested and have no reply yet: the service has no list of grids to look them up in. */
  readonly askedGrids?: readonly AskedGrid[]
  /** Grids that were there before the run: the step named them, or the repeated run used them. */
  readonly givenGrids?: readonly string[] | undefined
  /** Grids that the step created. */
  readonly madeGrids: readonly string[]
  /** Grids that the step created and leaves to another step. */
  readonly keptGrids?: readonly string[]
  /** Tool processes of the embedded service, by group. */
  readonly processGroups: readonly ProcessGroup[]
  /** What the embedded service starts on clusters; saved before the first pod is. */
  readonly clusters?: StartedPods | undefined
  /** The embedded service's data folder, which it removes when it closes. */
  readonly serviceDir?: string | undefined
  /** False once nothing is left to stop, or the rest is left running on purpose. */
  readonly cleanupDue: boolean
  /** `stop-on-cancel: false`, while only a cancelled job can have ended main: a kill looks the same. */
  readonly leaveIfKilled?: boolean
}

/** The state before the first effect. */
export const NOTHING = {
  marker: undefined,
  runId: undefined,
  madeGrids: [],
  processGroups: [],
  cleanupDue: false
}

/** Whether something is left to check once the run itself needs no cleanup. */
export function hasMoreToCheck({ madeGrids, earlier = [] }: StepState): boolean {
  return madeGrids.length > 0 || earlier.length > 0
}

/** What a person needs to find a grid on the service. */
export interface AskedGrid {
  readonly region: string
  readonly nodes: number
  readonly instanceType: string
  readonly stopAfterMinutes: number
}

/** How to identify the run that a repeat created. */
export interface RepeatAttempt {
  readonly runId: string
  readonly likeness: Partial<Pick<Run, 'name' | 'tool' | 'threads' | 'rampupSeconds' | 'durationSeconds'>>
  /** The runs listed before the request. */
  readonly knownIds: readonly string[]
  readonly askedMs: number
}

/** How to find pods again from another process. */
export interface StartedPods {
  /** A label of all of them. */
  readonly marker: string
  readonly addresses: readonly ClusterAddress[]
  /** The service was closed, which deletes them. */
  readonly isClosed?: boolean
  /** The service could not delete all of them. */
  readonly hasLeft?: boolean
}

export function encodeState(state: StepState): string {
  return JSON.stringify(state)
}

/** Undefined if there is none, or it cannot be parsed. */
export function decodeState(text: string): StepState | undefined {
  if (text === '') return undefined
  try {
    const parsed = JSON.parse(text) as StepState
    return typeof parsed.address === 'string' && typeof parsed.token === 'string' ? parsed : undefined
  } catch {
    return undefined
  }
}

/** A duplicate shows up within seconds: the runs long before need no second look, and the state must stay small. */
const MOST_EARLIER_RUNS = 50

/** The saved state of the step; every change is saved at once. */
export class SavedState {
  constructor(
    public state: StepState,
    private readonly save: (state: StepState) => void,
    private readonly warn: (message: string) => void = () => undefined
  ) {
    this.note({})
  }

  /** For what is about to happen. Throws if it cannot be saved: nothing is started that the post step would not know about. */
  note(change: Partial<StepState>): void {
    const next = { ...this.state, ...change }
    try {
      this.save(next)
    } catch (thrown) {
      throw new Error(
        `The state of the step could not be saved: ${messageOf(thrown)}. Without it the post step would not know what to ` +
          'stop, so the gate stops here.',
        { cause: thrown }
      )
    }
    this.state = next
  }

  /** Moves on to another run of the step, once the one before has ended. What is not noted as cleaned up stays in the state. */
  beginAnotherRun(changes: Pick<StepState, 'leaveIfKilled'>): void {
    const { marker, runId, askedMs, earlier = [], cleanupDue, madeGrids } = this.state
    this.note({
      earlier:
        marker === undefined ? earlier : [...earlier, { marker, runId, askedMs }].slice(-MOST_EARLIER_RUNS),
      marker: undefined,
      runId: undefined,
      repeat: undefined,
      madeGrids: cleanupDue ? madeGrids : [],
      ...changes
    })
  }

  /** For what has already happened. If it cannot be saved, this process still knows it; the post step may not. */
  noteDone(change: Partial<StepState>): void {
    this.state = { ...this.state, ...change }
    try {
      this.save(this.state)
    } catch (thrown) {
      this.warn(
        `The state of the step could not be saved: ${messageOf(thrown)}. If this step is killed now, check the service ` +
          'for what it left running.'
      )
    }
  }
}
