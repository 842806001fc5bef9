import { ClusterError } from '../../kubernetes/cluster.js'
import { LineSplitter } from '../../../lines.js'
import type { PodContact } from './pod-contact.js'
import { NAP, READ_FIGURES } from './supervisor.js'
import { type PodFigures, readFigures, readTurnState, type TurnState } from './pod-record.js'

/**
 * Sends a file from a byte on, as it grows, until the standard input is closed: a plain tail would outlive its stream. On the other
 * channel it tells the state of the turn when it changes, and every 5 s that it is alive: nothing else shows that the machine is.
 *
 * Tools write row by row, and a tail that is woken by each row sends each as a message of its own, through the machine's agent and the
 * API server. Tails of coreutils are not woken for their standard input, they look four times a second; those that know no part of a
 * second look once a second anyway.
 */
const FOLLOW = `${READ_FIGURES}${NAP}
turn=$1 file=$2 first=$3 every=
tail -s 0.25 -c +1 </dev/null 2>/dev/null && every='-s 0.25'
(
  while :; do
    last=
    [ -e "$turn/ended" ] && last=1
    [ -e "$file" ] && exec tail $every -c "+$first" -f <"$file"
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
      [ -e "$file" ] && size=$(wc -c <"$file")
    fi
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

/** Where the bytes of a file go. */
export interface Sink {
  /** How many have arrived. */
  readonly size: number
  /** Whether it takes them more slowly than they come, at the moment. */
  readonly isBusy: boolean
  /** Fulfilled when more can be taken. */
  add(bytes: Uint8Array): Promise<void> | undefined
  /** Everything has arrived; fulfilled when it is written. A file without a byte exists, too. */
  finish(exists: boolean): Promise<void>
}

export interface FileToFollow {
  /** In the pod. */
  readonly file: string
  readonly turn: string
  readonly copy: Sink
  readonly onState?: (state: TurnState, figures: PodFigures) => void
}

/** Copies a file of the pod as it grows, and returns when the turn has ended and as many bytes are here as it has: `verifyCopy` compares them. */
export async function followFile(
  contact: PodContact,
  request: FileToFollow,
  signal?: AbortSignal
): Promise<void> {
  const exists = await contact.keepTrying(signal, (either, alive) =>
    new FollowStream(contact, request, alive).run(either)
  )
  await request.copy.finish(exists)
}

/** One stream, from the byte that is missing to its cut or to the end of the file. */
class FollowStream {
  readonly #over = new AbortController()
  #cut: ClusterError | undefined
  #heardMs = 0
  #bytesMs = 0
  readonly #lines = new LineSplitter((line) => this.#hear(line))
  #words = ''
  /** Of the file, once the turn has ended: it does not grow any more. */
  #finalSize: number | undefined
  #exists = false

  constructor(
    private readonly contact: PodContact,
    private readonly request: FileToFollow,
    private readonly alive: () => void
  ) {}

  async run(signal: AbortSignal): Promise<boolean> {
    const { turn, file, copy } = this.request
    let stopLooking = (): void => undefined
    try {
      const { code } = await this.contact.exec(
        FOLLOW,
        [turn, file, String(copy.size + 1)],
        {
          stdin: 'hold',
          onOpen: () => (stopLooking = this.#lookForSilence()),
          onStdout: (bytes) => this.#take(bytes),
          onStderr: (bytes) => this.#lines.push(bytes)
        },
        { signal: AbortSignal.any([signal, this.#over.signal]) }
      )
      if (!this.#isComplete)
        throw new ClusterError(
          `The command that follows ${file} exited with ${code}${this.#words && `: "${this.#words}"`}.`
        )
    } catch (thrown) {
      if (!this.#isComplete) throw this.#cut ?? thrown
    } finally {
      stopLooking()
    }
    return this.#exists
  }

  #take(bytes: Uint8Array): Promise<void> | undefined {
    if (this.#over.signal.aborted) return undefined
    this.#heardMs = this.#bytesMs = this.contact.parts.clock.now()
    this.alive()
    const written = this.request.copy.add(bytes)
    this.#endIfComplete()
    return written
  }

  #hear(line: string): void {
    const [word, started = '', ended = '', size = '-', figures = ''] = line.split(';')
    if (word !== 'beat') {
      this.#words = line
      return
    }
    this.#heardMs = this.contact.parts.clock.now()
    this.alive()
    const state = readTurnState(started, ended)
    this.#exists = size !== '-'
    if (state.ended !== undefined) this.#finalSize = this.#exists ? Number(size) : 0
    this.request.onState?.(state, readFigures(figures.split(' ')))
    this.#endIfComplete()
  }

  get #isComplete(): boolean {
    return this.#finalSize !== undefined && this.request.copy.size >= this.#finalSize
  }

  #endIfComplete(): void {
    if (this.#isComplete) this.#over.abort()
  }

  #lookForSilence(): () => void {
    const { clock, timings, pod } = this.contact.parts
    this.#heardMs = this.#bytesMs = clock.now()
    const look = (): void => {
      // While the disk is busy, nothing is read.
      if (this.request.copy.isBusy) this.#heardMs = this.#bytesMs = clock.now()
      const sinceMs = this.#finalSize === undefined ? this.#heardMs : this.#bytesMs
      if (clock.now() - sinceMs >= timings.silenceMs) {
        const silentSec = Math.round(timings.silenceMs / 1000)
        this.#cut = new ClusterError(`The stream from the pod ${pod} was silent for ${silentSec} s.`)
        this.#over.abort()
      }
      cancel = clock.after(timings.silenceMs / 5, look)
    }
    let cancel = clock.after(timings.silenceMs / 5, look)
    return () => cancel()
  }
}
