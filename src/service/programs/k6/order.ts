import { CUT } from '../../lines.js'
import type { NodeLine } from '../../node-lines.js'

/** What the service asks of a node; JSON in the environment variable ORDER_VARIABLE. */
export interface K6Order {
  /** Random, in front of the facts for the service: nothing that a script prints can be mistaken for them. */
  readonly word: string
  readonly k6: string
  readonly script: string
  readonly samplesFile: string
  readonly logFile: string
  /** In front of the numbers of VUs, which each process counts from 1. */
  readonly threadPrefix: string
  /** For all nodes that share the load together; null: what the script says. */
  readonly vus: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  /** Which part of the load is this node's, from 0. */
  readonly part: number
  readonly parts: number
  readonly hosts: readonly { readonly host: string; readonly address: string }[]
}

export type ScriptOrder = Pick<
  K6Order,
  'k6' | 'script' | 'vus' | 'rampupSec' | 'durationSec' | 'part' | 'parts' | 'hosts'
>

export const ORDER_VARIABLE = 'LOADGATE_K6'

/** How the test ended. */
export interface K6Facts {
  readonly problem: string | null
  readonly losses: readonly string[]
  readonly doubts: readonly string[]
  readonly lines: readonly NodeLine[]
  readonly requests: number
  /** The script has no VU for this part of the load: k6 was not started. */
  readonly isIdle: boolean
}

/** One line of output each, because a line has a few thousand characters at most; the last one says that nothing is missing. */
type Told =
  | { readonly problem: string }
  | { readonly loss: string }
  | { readonly doubt: string }
  | { readonly line: NodeLine }
  | { readonly end: Pick<K6Facts, 'requests' | 'isIdle'> }

/** Even if each character is written as \u0000 it fits into a line. */
const MAX_WORDS = 1200

/** With a mark where it is cut, for the redaction: the last word before it may be half a secret. */
function cutWords(text: string): string {
  return text.length <= MAX_WORDS ? text : `${text.slice(0, MAX_WORDS)}${CUT}`
}

export function writeFacts({ problem, losses, doubts, lines, requests, isIdle }: K6Facts): string[] {
  const told: Told[] = [
    ...(problem === null ? [] : [{ problem: cutWords(problem) }]),
    ...losses.map((loss) => ({ loss: cutWords(loss) })),
    ...doubts.map((doubt) => ({ doubt: cutWords(doubt) })),
    ...lines.map((line) => ({ line: { ...line, text: cutWords(line.text) } })),
    { end: { requests, isIdle } }
  ]
  return told.map((each) => JSON.stringify(each))
}

/** Puts the facts together again. */
export class FactsReader {
  #problem: string | null = null
  readonly #losses: string[] = []
  readonly #doubts: string[] = []
  readonly #lines: NodeLine[] = []
  /** Undefined until all of them are here. */
  facts: K6Facts | undefined

  /** Throws if it is none of the lines above. */
  take(text: string): void {
    const told = JSON.parse(text) as Told
    if ('problem' in told) this.#problem = told.problem
    else if ('loss' in told) this.#losses.push(told.loss)
    else if ('doubt' in told) this.#doubts.push(told.doubt)
    else if ('line' in told) this.#lines.push(told.line)
    else
      this.facts = {
        ...{ problem: this.#problem, losses: this.#losses, doubts: this.#doubts, lines: this.#lines },
        ...told.end
      }
  }
}
