import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { type FileHandle, open, stat, truncate } from 'node:fs/promises'
import { dirname } from 'node:path'
import { makeFolder } from '../../../../contract/files.js'
import { messageOf } from '../../../../contract/text.js'
import { ClusterError } from '../../kubernetes/cluster.js'
import { NodeError } from '../../load-node.js'
import { LineSplitter } from '../../../lines.js'
import type { PodContact } from './pod-contact.js'
import { NAP, READ_FIGURES } from './supervisor.js'
import { type PodFigures, readFigures, readTurnState, type TurnState } from './pod-record.js'

/**
 * Sends a file from a byte on, as it grows, until the standard input is closed: a plain tail would outlive its stream. On the other
 * channel it reports the state of the turn when it changes, and every 5 s that it is alive: nothing else shows that the machine is.
 *
 * If it is told a byte of the output, too, what the tool prints comes between these reports, so that a pod needs one connection: its
 * length, and then exactly as many bytes, even if a plan makes the file shorter meanwhile; so the tail must not write to that channel. All
 * of it is there before the end is reported.
 *
 * Tools write row by row, and a tail that is woken by each row sends each as a message of its own, through the machine's agent and the
 * API server. Tails of coreutils are not woken for their standard input, they look four times a second; those that know no part of a
 * second look once a second anyway.
 */
const FOLLOW = `${READ_FIGURES}${NAP}
turn=$1 file=$2 first=$3 next=$4 every=
output=$turn/output
is_odd() { [ -L "$1" ] || { [ -e "$1" ] && [ ! -f "$1" ]; }; }
send_output() {
  if is_odd "$output"; then echo odd; return; fi
  [ -e "$output" ] || return
  more=$(($(wc -c <"$output") + 1 - next))
  [ "$more" -gt 0 ] || return
  echo "output;$more"
  { tail -c "+$next" "$output"; cat /dev/zero; } 2>/dev/null | head -c "$more"
  next=$((next + more))
}
tail -s 0.25 -c +1 </dev/null 2>/dev/null && every='-s 0.25'
(
  while :; do
    last=
    [ -e "$turn/ended" ] && last=1
    is_odd "$file" || { [ -e "$file" ] && exec tail $every -c "+$first" -f <"$file" 2>/dev/null; }
    [ -n "$last" ] && exit
    nap 0.2
  done
) &
tail=$!
(
  exec >&2
  before= quiet=0
  while :; do
    started= ended= size=-
    [ -e "$turn/started" ] && read -r started <"$turn/started"
    if [ -e "$turn/ended" ]; then
      read -r ended <"$turn/ended"
      if is_odd "$file"; then size=odd; elif [ -e "$file" ]; then size=$(wc -c <"$file"); fi
    fi
    [ -z "$next" ] || send_output
    now="$started;$ended;$size"
    if [ "$now" != "$before" ] || [ "$quiet" -ge 10 ]; then
      read_figures
      echo "beat;$now;$figures"
      before=$now quiet=0
    fi
    quiet=$((quiet + 1))
    nap 0.5
  done
) &
beat=$!
cat >/dev/null
kill $tail $beat
`

/** What the script says instead of the size of a link, a pipe, a folder or a device. */
const ODD = 'odd'
const LINE_BREAK = 10
/** A tool cannot write a larger file, see the script of a turn; a plan that may change its limits can. */
const MOST_BYTES = 64 * 1024 ** 3

export interface Sink {
  readonly size: number
  /** Whether it is behind with writing at the moment. */
  readonly isBusy: boolean
  /** Fulfilled when more can be taken. */
  add(bytes: Uint8Array): Promise<void> | undefined
  /** Everything has arrived; fulfilled when it is written. A file without a byte exists, too. */
  finish(exists: boolean): Promise<void>
}

/** Calls back with the lines of a file of the pod. */
export class LineSink extends LineSplitter implements Sink {
  readonly isBusy = false
  size = 0

  add(bytes: Uint8Array): undefined {
    this.size += bytes.length
    this.push(bytes)
  }

  finish(): Promise<void> {
    return Promise.resolve()
  }
}

export interface FileToFollow {
  readonly file: string
  readonly turn: string
  readonly copy: Sink
  /** For what the tool prints, if that comes on the same stream. */
  readonly output?: Sink
  readonly onState?: (state: TurnState, figures: PodFigures) => void
}

/** Copies a pod's file as it grows; returns when the turn has ended and as many bytes are here as there: `verifyCopy` compares them. */
export async function followFile(contact: PodContact, request: FileToFollow, signal?: AbortSignal) {
  const exists = await contact.keepTrying(signal, (either, alive) =>
    followOnce(contact, request, { signal: either, alive })
  )
  await request.copy.finish(exists)
}

/** One stream, from the byte that is missing to its cut or to the end of the file. Returns whether the file exists. */
async function followOnce(
  contact: PodContact,
  { turn, file, copy, output, onState }: FileToFollow,
  { signal, alive }: { signal: AbortSignal; alive: () => void }
): Promise<boolean> {
  const { clock, timings, pod } = contact.parts
  const over = new AbortController()
  let cut: Error | undefined
  let heardMs = 0
  let bytesMs = 0
  let words = ''
  let exists = false
  /** The file's size once the turn has ended: it does not grow any more. */
  let finalSize: number | undefined
  let cancelLook = (): void => undefined
  const isComplete = (): boolean => finalSize !== undefined && copy.size >= finalSize

  const fail = (error: Error): void => {
    cut ??= error
    over.abort()
  }
  const take = (bytes: Uint8Array): Promise<void> | undefined => {
    if (over.signal.aborted) return undefined
    heardMs = bytesMs = clock.now()
    alive()
    if (copy.size + bytes.length > MOST_BYTES) {
      fail(
        new NodeError(
          `In the pod ${pod}, ${file} has more than ${MOST_BYTES / 1024 ** 3} GiB, which is more than is copied.`
        )
      )
      return undefined
    }
    const written = copy.add(bytes)
    if (isComplete()) over.abort()
    return written
  }
  const failOdd = (odd: string): void =>
    fail(
      new NodeError(
        `In the pod ${pod}, ${odd} is not a regular file: the plan replaced it, so it was not read.`
      )
    )
  /** How much of the output comes before the next report. */
  let outputBytes = 0
  const lines = new LineSplitter((line) => {
    const [word, started = '', ended = '', size = '-', figures = ''] = line.split(';')
    if (word === 'output' && /^\d+$/.test(started)) {
      outputBytes = Number(started)
      return
    }
    if (word === ODD) failOdd(`${turn}/output`)
    if (word !== 'beat') {
      words = line
      return
    }
    heardMs = clock.now()
    alive()
    if (size === ODD) {
      failOdd(file)
      return
    }
    exists = size !== '-'
    const state = readTurnState(started, ended)
    if (state.ended !== undefined) finalSize = exists ? Number(size) : 0
    onState?.(state, readFigures(figures.split(' ')))
    if (isComplete()) over.abort()
  })
  const report = (bytes: Uint8Array): void => {
    for (let rest = bytes; rest.length > 0 && !over.signal.aborted;) {
      const isOutput = outputBytes > 0
      const length = isOutput ? outputBytes : rest.indexOf(LINE_BREAK) + 1
      const part = length === 0 ? rest : rest.subarray(0, length)
      rest = rest.subarray(part.length)
      if (isOutput) {
        outputBytes -= part.length
        heardMs = clock.now()
        alive()
        void output?.add(part)
      } else lines.push(part)
    }
  }
  const lookForSilence = (): void => {
    // While the disk is busy, nothing is read.
    if (copy.isBusy) heardMs = bytesMs = clock.now()
    if (clock.now() - (finalSize === undefined ? heardMs : bytesMs) >= timings.silenceMs) {
      const silentSec = Math.round(timings.silenceMs / 1000)
      fail(new ClusterError(`The stream from the pod ${pod} was silent for ${silentSec} s.`))
    }
    cancelLook = clock.after(timings.silenceMs / 5, lookForSilence)
  }
  const onOpen = (): void => {
    heardMs = bytesMs = clock.now()
    cancelLook = clock.after(timings.silenceMs / 5, lookForSilence)
  }
  try {
    const { code } = await contact.exec(
      FOLLOW,
      [turn, file, String(copy.size + 1), output === undefined ? '' : String(output.size + 1)],
      { stdin: 'hold', onOpen, onStdout: take, onStderr: report },
      { signal: AbortSignal.any([signal, over.signal]) }
    )
    if (!isComplete())
      throw new ClusterError(
        `The command that follows ${file} exited with ${code}${words && `: "${words}"`}.`
      )
  } catch (thrown) {
    if (!isComplete()) throw cut ?? thrown
  } finally {
    cancelLook()
  }
  return exists
}

/** A file of this machine that grows with what arrives, and what has arrived so far. It exists from its first byte on. */
export class LocalCopy implements Sink {
  readonly #hash = createHash('sha256')
  #size = 0
  #handle: Promise<FileHandle> | undefined
  /** One after the other, in the order in which the bytes arrived. */
  #written: Promise<unknown> = Promise.resolve()
  #pending = 0

  private constructor(readonly file: string) {}

  /** Without what a file of this name may contain. It stays the same file: somebody may have opened it to read what arrives. */
  static async start(file: string): Promise<LocalCopy> {
    await truncate(file).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    })
    return new LocalCopy(file)
  }

  /** Continues the file of an earlier process; its bytes are read again. */
  static async continue(file: string): Promise<LocalCopy> {
    const copy = new LocalCopy(file)
    const found = await stat(file).catch(() => undefined)
    if (found === undefined) return copy
    // Up to here and no further: nobody else writes to it.
    if (found.size > 0)
      for await (const bytes of createReadStream(file, { end: found.size - 1 })) copy.#count(bytes as Buffer)
    await copy.finish(true)
    return copy
  }

  get size(): number {
    return this.#size
  }

  get isBusy(): boolean {
    return this.#pending > 0
  }

  get sha256(): string {
    return this.#hash.copy().digest('hex')
  }

  add(bytes: Uint8Array): Promise<void> {
    this.#count(bytes)
    return this.#write(async (handle) => handle.appendFile(bytes))
  }

  async finish(exists: boolean): Promise<void> {
    await (exists ? this.#write(() => Promise.resolve()) : this.#written)
  }

  async close(): Promise<void> {
    await this.#written.catch(() => undefined)
    await this.#handle?.then((handle) => handle.close()).catch(() => undefined)
  }

  #count(bytes: Uint8Array): void {
    this.#hash.update(bytes)
    this.#size += bytes.length
  }

  /** After a failure nothing more is written: every call fails in the same words. */
  #write(act: (handle: FileHandle) => Promise<void>): Promise<void> {
    this.#pending++
    const written = this.#written
      .then(async () => act(await (this.#handle ??= this.#open())))
      .catch((error: unknown) => {
        throw error instanceof NodeError ? error : this.#notWritten(error)
      })
      .finally(() => this.#pending--)
    this.#written = written
    written.catch(() => undefined)
    return written
  }

  async #open(): Promise<FileHandle> {
    makeFolder(dirname(this.file))
    return open(this.file, 'a', 0o600)
  }

  #notWritten(error: unknown): NodeError {
    const folder = dirname(this.file)
    const isFull = ['ENOSPC', 'EDQUOT'].includes((error as NodeJS.ErrnoException).code ?? '')
    return new NodeError(
      `What it measured cannot be written to ${this.file} on this machine: ${messageOf(error)}. ` +
        (isFull ? `Free space in ${folder}, and run again.` : `Check that ${folder} can be written to.`),
      { cause: error }
    )
  }
}
