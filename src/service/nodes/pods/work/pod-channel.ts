import { PassThrough } from 'node:stream'
import { ClusterError } from '../../kubernetes/cluster.js'
import { LineSplitter } from '../../../lines.js'
import type { PodContact } from './pod-contact.js'
import { NAP } from './supervisor.js'

/** The answer to `go` where nothing started. */
export const LATE = 'late'

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
    if [ -e "$turn/started" ]; then cat "$turn/started"; else echo ${LATE}; fi
    ;;
  end) exit ;;
  esac
done
`

/** An open stream to a pod, on which a question is one small write. */
export class PodChannel {
  readonly #input = new PassThrough()
  readonly #questions: ((answer: string | Error) => void)[] = []
  readonly #closed = new AbortController()
  #failure: Error | undefined

  private constructor(private readonly contact: PodContact) {}

  static async open(contact: PodContact, turn: string, signal: AbortSignal): Promise<PodChannel> {
    const channel = new PodChannel(contact)
    const answers = new LineSplitter((line) => channel.#questions.shift()?.(line))
    await new Promise<void>((onOpen, reject) => {
      const onStdout = (bytes: Uint8Array): void => answers.push(bytes)
      const either = AbortSignal.any([signal, channel.#closed.signal])
      contact
        .exec(
          ANSWER,
          [contact.parts.home, turn],
          { stdin: channel.#input, onOpen, onStdout },
          { signal: either }
        )
        .then(({ code }) => {
          throw new ClusterError(`A command in the pod exited with ${code}.`)
        })
        .catch((thrown: unknown) => {
          const failure = thrown as Error
          channel.#fail(failure)
          reject(failure)
        })
    })
    return channel
  }

  get isOpen(): boolean {
    return this.#failure === undefined
  }

  ask(word: 'time' | 'go'): Promise<string> {
    const { clock, timings, pod } = this.contact.parts
    return new Promise((resolve, reject) => {
      const cancel = clock.after(timings.silenceMs, () => {
        this.#fail(new ClusterError(`The pod ${pod} did not answer for ${timings.silenceMs} ms.`))
        this.close()
      })
      this.#questions.push((answer) => {
        cancel()
        if (typeof answer === 'string') resolve(answer)
        else reject(answer)
      })
      if (this.#failure === undefined) this.#input.write(`${word}\n`)
      else this.#fail(this.#failure)
    })
  }

  close(): void {
    this.#closed.abort()
  }

  #fail(error: Error): void {
    this.#failure ??= error
    for (const answer of this.#questions.splice(0)) answer(this.#failure)
    this.#input.end()
  }
}
