import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import type { Clock } from '../clock.js'
import { messageOf } from '../errors.js'

const RETRY_MS = 5000

/**
 * Writes the state in memory to JSON files, one per record. A failed write, as on a full disk, is retried later: with
 * the next change, after a while, or at the end. It never blocks anything else.
 */
export class StateFiles {
  private readonly pending = new Map<string, object>()
  private callOff: (() => void) | undefined
  private isFailing = false

  constructor(private readonly parts: { clock: Clock; log: (line: string) => void }) {}

  /** Writes the record's state at the time the write succeeds. */
  save(file: string, record: object): void {
    this.pending.set(file, record)
    this.flush()
  }

  forget(file: string): void {
    this.pending.delete(file)
    try {
      rmSync(file, { force: true })
    } catch (thrown) {
      this.parts.log(`could not remove ${file}: ${messageOf(thrown)}`)
    }
  }

  /** Writes everything that could not be written before. */
  flush(): void {
    this.callOff?.()
    this.callOff = undefined
    let failure: unknown
    for (const [file, record] of this.pending) {
      try {
        writeWhole(file, record)
        this.pending.delete(file)
      } catch (thrown) {
        failure = thrown
      }
    }
    this.tell(failure)
    if (this.pending.size > 0) this.callOff = this.parts.clock.after(RETRY_MS, () => this.flush())
  }

  /** The last attempt. */
  close(): void {
    this.flush()
    this.callOff?.()
  }

  /** Logs once when writing starts to fail and once when it works again: a full disk fails at every change. */
  private tell(failure: unknown): void {
    const isFailing = this.pending.size > 0
    if (isFailing && !this.isFailing)
      this.parts.log(
        `the service's state cannot be written (${messageOf(failure)}); it stays in memory and is written as soon as possible`
      )
    if (!isFailing && this.isFailing) this.parts.log("the service's state can be written again")
    this.isFailing = isFailing
  }
}

/** Under a temporary name first, so that a reader after a kill finds the old text or the new one, never half of it. */
export function writeWhole(file: string, content: object): void {
  const draft = `${file}.${process.pid}.new`
  try {
    makeFolder(dirname(file))
    writeFileSync(draft, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600 })
    renameSync(draft, file)
  } catch (thrown) {
    discard(draft)
    throw thrown
  }
}

function discard(draft: string): void {
  try {
    rmSync(draft, { force: true })
  } catch {
    // What matters is why it could not be written.
  }
}
