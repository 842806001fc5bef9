import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  statSync,
  writeSync
} from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { attempt } from '../errors.js'
import { Facts, parseRecord } from './tables.js'

const KEY = 'changes'
/** Beside the database, and not part of it: a restored database does not bring it back. */
const FILE = 'changes'
/** What takes its place: see `ChangeCount`. */
const NEXT = 'changes.next'
const DIGITS = 16

interface Known {
  readonly count: number
  /** Which file it is, so that a copy of the whole folder is found too. */
  readonly inode: string
  readonly bornNs: string
}

/**
 * Counts the changes of runs, in the database and in a file beside it: where the file is ahead, the database is an older copy. The file is
 * written after the database, so that a killed service leaves the database ahead, which is no reason for doubt.
 * Each start puts a new file in its place: a copy that is written over it, with the same count, is one from before that start.
 */
export class ChangeCount {
  readonly #facts: Facts
  #count: number | undefined
  #descriptor: number | undefined
  #text = ''
  /** The new file, until it is in its place. */
  #next: number | undefined
  #isOwnStart = false

  constructor(
    database: DatabaseSync,
    /** The id of the database: a file of another one says nothing about it. */
    private readonly parts: { dataDir: string; owner: () => string }
  ) {
    this.#facts = new Facts(database)
  }

  /** Why the database seems to be older than what it describes; undefined if it does not. */
  findDoubt(): string | undefined {
    const known = this.#known()
    this.#finishReplacing(known)
    const [owner = '', digits = ''] = this.#read().split(' ')
    // Also after an upgrade from a version that did not count: nothing tells it from a backup of that version.
    if (owner === '') return 'the file `changes`, which tells the newest database from a copy, is missing'
    const count = Number(digits)
    // What comes next must be ahead of both.
    this.#count = Math.max(known?.count ?? 0, Number.isSafeInteger(count) ? count : 0)
    if (known === undefined || owner !== this.parts.owner() || !(count <= known.count))
      return 'runs have changed since it was copied'
    const { ino, birthtimeNs, ctimeNs } = fstatSync(this.#open(), { bigint: true })
    // Where a file system does not keep the time of birth, it is that of the last change.
    const isBornLater = String(birthtimeNs) !== known.bornNs && birthtimeNs !== ctimeNs
    return String(ino) !== known.inode || isBornLater
      ? 'its data folder is a copy of the one in which it was last used'
      : undefined
  }

  /** In the transaction of a change. */
  note(): void {
    // Where there is no space for it, the one that is there serves until the next change.
    if (!this.#isOwnStart) this.#next ??= attempt(() => this.#makeNext())
    const { ino, birthtimeNs } = fstatSync(this.#next ?? this.#open(), { bigint: true })
    const count = (this.#count ?? this.#known()?.count ?? 0) + 1
    this.#text = `${this.parts.owner()} ${String(count).padStart(DIGITS, '0')}\n`
    this.#count = count
    const known: Known = { count, inode: String(ino), bornNs: String(birthtimeNs) }
    this.#facts.set(KEY, JSON.stringify(known))
  }

  /** Once that transaction is complete. In place, and always as long: that needs no space on a full disk. */
  write(): void {
    if (this.#next !== undefined) this.#replace()
    writeSync(this.#open(), this.#text, 0)
  }

  close(): void {
    for (const descriptor of [this.#descriptor, this.#next])
      if (descriptor !== undefined) closeSync(descriptor)
  }

  #makeNext(): number {
    const path = join(this.parts.dataDir, NEXT)
    rmSync(path, { force: true })
    const next = openSync(path, constants.O_RDWR | constants.O_CREAT | constants.O_EXCL, 0o600)
    try {
      // As long as it will ever be, with a count that no database is behind.
      writeSync(next, `${this.parts.owner()} ${'0'.repeat(DIGITS)}\n`, 0)
      fsyncSync(next)
      return next
    } catch (thrown) {
      closeSync(next)
      throw thrown
    }
  }

  #replace(): void {
    renameSync(join(this.parts.dataDir, NEXT), join(this.parts.dataDir, FILE))
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
    this.#descriptor = this.#next
    this.#next = undefined
    this.#isOwnStart = true
  }

  /** A service that was killed between the two may have told the database of its file, and not put it in its place. */
  #finishReplacing(known: Known | undefined): void {
    const path = join(this.parts.dataDir, NEXT)
    const next = statSync(path, { bigint: true, throwIfNoEntry: false })
    if (next === undefined || String(next.ino) !== known?.inode || String(next.birthtimeNs) !== known.bornNs)
      return
    renameSync(path, join(this.parts.dataDir, FILE))
  }

  #known(): Known | undefined {
    const known = parseRecord(this.#facts.get(KEY) ?? 'null') as Known | null | undefined
    return known ?? undefined
  }

  /** Empty if there is none yet. */
  #read(): string {
    const buffer = Buffer.alloc(100)
    return buffer.toString('utf8', 0, readSync(this.#open(), buffer, 0, buffer.length, 0)).trim()
  }

  /** Not before it is needed: a service opens its folder on a full disk too. */
  #open(): number {
    const flags = constants.O_RDWR | constants.O_CREAT
    return (this.#descriptor ??= openSync(join(this.parts.dataDir, FILE), flags, 0o600))
  }
}
