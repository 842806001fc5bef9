import type { NodeCommand } from '../../load-node.js'
import { LineSplitter } from '../../../lines.js'
import { followFile, type Sink } from './follow-file.js'
import { LocalCopy } from './local-copy.js'
import type { PodContact } from './pod-contact.js'
import type { PodPaths } from './pod-environment.js'
import type { PodRecord } from './pod-record.js'
import { verifyCopy } from './inspect-turn.js'

/** The files of a turn that grow here as they grow in the pod, and the lines of its output. */
export class FollowedFiles {
  /** Whether everything has arrived. */
  isComplete = false

  private constructor(
    private readonly contact: PodContact,
    private readonly turn: string,
    private readonly results: readonly { file: string; copy: LocalCopy }[],
    private readonly output: LineSink
  ) {}

  /** With `isTakenUp`, files continue where an earlier process left them, if they are the pod's. */
  static async open(
    { contact, paths, turn }: { contact: PodContact; paths: PodPaths; turn: string },
    command: NodeCommand,
    { isTakenUp, signal }: { isTakenUp: boolean; signal: AbortSignal }
  ): Promise<FollowedFiles> {
    const results: { file: string; copy: LocalCopy }[] = []
    for (const local of command.follows) {
      const copy = await (isTakenUp ? LocalCopy.continue(local) : LocalCopy.start(local))
      const file = paths.fileOf(local)
      results.push({ file, copy })
      if (copy.size > 0) await verifyCopy(contact, { file, copy, isPart: true }, signal)
    }
    return new FollowedFiles(contact, turn, results, new LineSink(command.onLine))
  }

  /** How many bytes of results have arrived. */
  get resultBytes(): number {
    return this.results.reduce((sum, { copy }) => sum + copy.size, 0)
  }

  get arrivedBytes(): number {
    return this.resultBytes + this.output.size
  }

  /** Returns when the turn has ended and everything is here; one failure ends all of it. */
  async follow(record: PodRecord, signal: AbortSignal): Promise<void> {
    const failed = new AbortController()
    const either = AbortSignal.any([signal, failed.signal])
    const outputFile = { file: `${this.turn}/output`, copy: this.output }
    const all = [outputFile, ...this.results].map(({ file, copy }) =>
      followFile(
        this.contact,
        { file, copy, turn: this.turn, onState: (state, figures) => record.noteState(state, figures) },
        either
      ).catch((error: unknown) => {
        failed.abort(error)
        throw error
      })
    )
    await Promise.allSettled(all)
    await Promise.all(all)
    this.isComplete = true
  }

  async verify(signal: AbortSignal): Promise<void> {
    for (const { file, copy } of this.results) await verifyCopy(this.contact, { file, copy }, signal)
  }

  /** What arrived is on the disk, and every line told. */
  async close(): Promise<void> {
    for (const { copy } of this.results) await copy.close()
    this.output.close()
  }
}

/** Calls back with the lines of a file of the pod. */
export class LineSink implements Sink {
  readonly isBusy = false
  readonly #lines: LineSplitter
  size = 0

  constructor(onLine: (line: string) => void) {
    this.#lines = new LineSplitter(onLine)
  }

  add(bytes: Uint8Array): undefined {
    this.size += bytes.length
    this.#lines.push(bytes)
  }

  finish(): Promise<void> {
    return Promise.resolve()
  }

  close(): void {
    this.#lines.end()
  }
}
