import type { Clock } from '../../contract/clock.js'
import type { RunRecord } from '../../contract/records.js'
import { Interruption } from './interruption.js'

/** How soon a waiting run notices it. */
const LOOK_AGAIN_MS = 10_000

export interface UserPorts {
  readonly clock: Clock
  /** Whether the user with this id was removed, by a command beside the service too. */
  readonly isRemoved: (id: number) => boolean
}

/** Plans are code: those of a user who was removed are not started any more. One that has started goes on. */
export function requireUser({ clock, isRemoved }: UserPorts, { user, startedMs }: RunRecord): void {
  if (startedMs === null && user && isRemoved(user.id)) throw describeRemoval(user.name, clock)
}

interface Ports extends UserPorts {
  readonly waiting: () => readonly { readonly run: RunRecord; readonly controller: AbortController }[]
  readonly log: (line: string) => void
}

/** Ends waiting runs soon after their user was removed. */
export class RemovedUsers {
  readonly #ports: Ports
  #callOff: (() => void) | undefined

  constructor(ports: Ports) {
    this.#ports = ports
  }

  /** As long as somebody waits. */
  watch(): void {
    if (this.#callOff === undefined && this.#ports.waiting().length > 0)
      this.#callOff = this.#ports.clock.after(LOOK_AGAIN_MS, () => this.#look())
  }

  close(): void {
    this.#callOff?.()
  }

  #look(): void {
    this.#callOff = undefined
    const { clock, waiting, log } = this.#ports
    for (const { run, controller } of waiting()) {
      if (!run.user || !this.#isRemoved(run.user.id)) continue
      log(`run ${run.id} does not wait any longer: its user, ${run.user.name}, was removed`)
      controller.abort(describeRemoval(run.user.name, clock))
    }
    this.watch()
  }

  /** A database that cannot be read now is asked again: nobody starts without that. */
  #isRemoved(id: number): boolean {
    try {
      return this.#ports.isRemoved(id)
    } catch {
      return false
    }
  }
}

function describeRemoval(name: string, clock: Clock): Interruption {
  return new Interruption({
    what: `The user who created this run, ${name}, was removed before it started.`,
    atMs: clock.now()
  })
}
