import { closeSync, constants, fstatSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import type { DatabaseSync } from 'node:sqlite'
import { Facts, parseRecord } from './tables.js'

const KEY = 'changes'
/** Beside the database, and not part of it: a restored database does not bring it back. */
const FILE = 'changes'
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
 */
export class ChangeCount {
  readonly #facts: Facts
  #count: number | undefined
  #descriptor: number | undefined
  #text = ''

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
    const [owner = '', digits = ''] = this.#read().split(' ')
    if (owner === '') return known && 'its data folder is not the one in which it was last used'
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
    const { ino, birthtimeNs } = fstatSync(this.#open(), { bigint: true })
    const count = (this.#count ?? this.#known()?.count ?? 0) + 1
    this.#text = `${this.parts.owner()} ${String(count).padStart(DIGITS, '0')}\n`
    this.#count = count
    const known: Known = { count, inode: String(ino), bornNs: String(birthtimeNs) }
    this.#facts.set(KEY, JSON.stringify(known))
  }

  /** Once that transaction is complete. In place, and always as long: that needs no space on a full disk. */
  write(): void {
    const isNew = fstatSync(this.#open()).size === 0
    writeSync(this.#open(), this.#text, 0)
    if (isNew) fsyncSync(this.#open())
  }

  close(): void {
    if (this.#descriptor !== undefined) closeSync(this.#descriptor)
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
