import { Choice } from '../data/seeded-choice.js'
import { type FuzzRequest, type Known, makeRequest } from './make-request.js'
import { breachesOf, type RuleParts } from './rules.js'
import { shrink } from './shrink.js'
import { curlLine, type RawReply, type RawRequest, sendRaw } from './wire.js'

export interface Target extends RuleParts {
  readonly port: number
  readonly known: Omit<Known, 'ids'>
}

const IN_FLIGHT = 16
/** Old ids go, so that most refer to what is still changing. */
const MOST_IDS = 60
const MOST_FINDINGS = 5
const LONGEST_LINE = 4000

/** Sends the requests of these seeds; returns what broke a rule, as small as it can be, as lines for a person. */
export class Fuzzer {
  readonly findings: string[] = []
  readonly statuses = new Map<number, number>()
  readonly #ids: string[] = []
  readonly #target: Target

  constructor(target: Target) {
    this.#target = target
  }

  async send(firstSeed: number, count: number): Promise<void> {
    let next = firstSeed
    const worker = async (): Promise<void> => {
      while (next < firstSeed + count && this.findings.length < MOST_FINDINGS) await this.#sendOne(next++)
    }
    await Promise.all(Array.from({ length: IN_FLIGHT }, worker))
  }

  async #sendOne(seed: number): Promise<void> {
    const request = makeRequest(seed, { ...this.#target.known, ids: this.#ids })
    const { reply, breaches } = await this.#try(request)
    this.statuses.set(reply?.status ?? -1, (this.statuses.get(reply?.status ?? -1) ?? 0) + 1)
    if (reply) this.#learn(reply, seed)
    if (breaches.length === 0) return
    const isBroken = async (smaller: RawRequest): Promise<boolean> => {
      const again = await this.#try({ ...request, ...smaller })
      return again.breaches.some((breach) => breaches.includes(breach))
    }
    // What hangs would hang at each attempt.
    const isQuick = reply !== undefined && (await isBroken(request))
    const small = isQuick ? await shrink(request, isBroken) : request
    const url = `http://${this.#target.known.host}`
    const words = `${breaches.join('; ')} (seed ${seed}, ${request.caller})`
    this.findings.push(
      `${words}\n${curlLine(url, small).slice(0, LONGEST_LINE)}\n${(reply?.text ?? '').slice(0, 500)}`
    )
  }

  async #try(request: FuzzRequest): Promise<{ reply?: RawReply; breaches: string[] }> {
    try {
      const reply = await sendRaw(this.#target.port, request)
      return { reply, breaches: breachesOf(request, reply, this.#target) }
    } catch (thrown) {
      return { breaches: [(thrown as Error).message] }
    }
  }

  /** The ids of what was created, for later requests. */
  #learn({ status, text }: RawReply, seed: number): void {
    if (status !== 201 && status !== 200) return
    for (const [, id] of text.slice(0, 20_000).matchAll(/"(?:uuid|batch_id)":"([\w-]+)"/g)) {
      if (id === undefined || this.#ids.includes(id)) continue
      this.#ids.push(id)
      if (this.#ids.length > MOST_IDS) this.#ids.splice(new Choice(seed).between(0, MOST_IDS - 1), 1)
    }
  }
}
