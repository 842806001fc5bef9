import { ClusterError } from '../../kubernetes/cluster.js'
import type { PodContact } from './pod-contact.js'
import { NAP } from './supervisor.js'

/** Answers one line for each word: the time, or when the turn started. `go` can be given again: only the first one counts. */
const ANSWER = `${NAP}
home=$1 turn=$2
while read -r word; do
  case $word in
  time) date +%s%N ;;
  go)
    [ -e "$turn/running" ] || echo "\${turn##*/}" >"$home/go"
    rounds=0
    until [ -e "$turn/started" ] || [ "$rounds" -ge 100 ]; do
      rounds=$((rounds + 1))
      nap 0.05
    done
    if [ -e "$turn/started" ]; then cat "$turn/started"; else echo; fi
    ;;
  end) exit ;;
  esac
done
`

interface Question {
  /** From now on, silence counts. */
  start(): void
  resolve(line: string): void
  reject(error: Error): void
}

/** An open stream to a pod, on which a question is one small write. */
export class PodDesk {
  readonly #words: string[] = []
  readonly #questions: Question[] = []
  readonly #closed = new AbortController()
  #wake: () => void = () => undefined
  #rest = ''
  #failure: Error | undefined
  #isConnected = false

  constructor(
    private readonly contact: PodContact,
    place: { home: string; turn: string },
    signal: AbortSignal
  ) {
    const streams = {
      stdin: this.#send(),
      onOpen: () => {
        this.#isConnected = true
        for (const question of this.#questions) question.start()
      },
      onStdout: (bytes: Uint8Array) => this.#receive(Buffer.from(bytes).toString('latin1'))
    }
    contact
      .exec(ANSWER, [place.home, place.turn], streams, {
        signal: AbortSignal.any([signal, this.#closed.signal])
      })
      .then(
        ({ code }) => this.#fail(new ClusterError(`A command in the pod exited with ${code}.`, undefined)),
        (error: unknown) => this.#fail(error as Error)
      )
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  ask(word: 'time' | 'go'): Promise<string> {
    const { clock, timings, pod } = this.contact.parts
    return new Promise((resolve, reject) => {
      if (this.#failure !== undefined) {
        reject(this.#failure)
        return
      }
      const late = (): void => {
        this.#fail(new ClusterError(`The pod ${pod} did not answer for ${timings.silenceMs} ms.`, undefined))
        this.close()
      }
      let cancel = (): void => undefined
      const start = (): void => {
        cancel = clock.after(timings.silenceMs, late)
      }
      if (this.#isConnected) start()
      this.#questions.push({
        start,
        resolve: (line) => {
          cancel()
          resolve(line)
        },
        reject: (error) => {
          cancel()
          reject(error)
        }
      })
      this.#words.push(word)
      this.#wake()
    })
  }

  close(): void {
    this.#closed.abort()
    this.#wake()
  }

  async *#send(): AsyncGenerator<Uint8Array> {
    while (!this.#closed.signal.aborted && this.isOpen) {
      const word = this.#words.shift()
      if (word !== undefined) yield Buffer.from(`${word}\n`)
      else await new Promise<void>((resolve) => (this.#wake = resolve))
    }
  }

  #receive(text: string): void {
    const lines = (this.#rest + text).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#questions.shift()?.resolve(line)
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const question of this.#questions.splice(0)) question.reject(this.#failure)
    this.#wake()
  }
}
