import { claimVariable, describeCorrelation, type PlanExtract, type PlanRequest } from '../request.js'
import type { Destination } from '../secrets.js'
import type { Recorded } from './recording.js'
import { listValues, singular, type ReplyValue } from './reply-values.js'

/** A value of the reply to one of the requests. */
interface Source extends ReplyValue {
  /** The request, by its place in the plan. */
  readonly at: number
  /** When the reply was complete; scripts of a page run while it is loading. */
  readonly endMs: number
  /** What it is about, by its path and the keys around the value. */
  readonly nouns: readonly string[]
  readonly isEnabled: boolean
}

interface Use {
  readonly source: Source
  readonly variable: string
  readonly to: { readonly at: number; readonly name: string }[]
}

/** `order` of `orders`, `order_id` and `orderId`. */
function nounOf(name: string): string {
  return singular(name.replace(/(?:[-_.]id|Id|ID)$/, '')).toLowerCase()
}

/** Browsers round their times. */
const ROUNDING_MS = 1

/**
 * Finds what requests send and earlier replies contained, by the exact value: a token, a CSRF field, an id. What was sent before a reply
 * contained it was typed or clicked by the user, and stays what it is.
 */
export class Correlation {
  readonly #sources = new Map<string, Source[]>()
  readonly #sent = new Set<string>()
  readonly #uses = new Map<Source, Use>()
  readonly #names = new Set<string>()

  /** For the values of the request at this place, in the order of the requests. */
  finderFor(at: number, { startMs }: Recorded): (value: string, to: Destination) => string | undefined {
    return (value, to) => {
      const sources = (this.#sources.get(value) ?? []).filter(
        ({ endMs, isShortId, nouns }) =>
          !(endMs > startMs + ROUNDING_MS) &&
          (!isShortId || (to.kind === 'path' && nouns.includes(nounOf(to.name))))
      )
      // A disabled request gets no reply.
      const source = sources.find(({ isEnabled }) => isEnabled) ?? sources[0]
      if (source !== undefined) return this.#use(source, at, to)
      this.#sent.add(value)
      return undefined
    }
  }

  /** The reply to the request at this place. */
  add(at: number, recorded: Recorded, isEnabled: boolean): void {
    const { url, startMs, responseType } = recorded
    const endMs = responseType.startsWith('text/html') ? startMs : recorded.endMs
    const path = url.pathname.split('/').findLast((segment) => /^[a-z_-]+$/i.test(segment)) ?? ''
    for (const found of listValues(recorded)) {
      if (this.#sent.has(found.value)) continue
      const keys =
        found.place.kind === 'json' ? found.place.keys.filter((key) => typeof key === 'string') : []
      const source = { ...found, at, endMs, isEnabled, nouns: [path, ...keys].map(nounOf) }
      this.#sources.set(found.value, [...(this.#sources.get(found.value) ?? []), source])
    }
  }

  extractsOf(at: number): PlanExtract[] {
    return [...this.#uses.values()]
      .filter(({ source }) => source.at === at)
      .map(({ source, variable }) => ({ variable, from: source.place }))
  }

  /** The requests whose replies this one needs, with what it needs of them. */
  needsOf(at: number): { readonly at: number; readonly variable: string }[] {
    return [...this.#uses.values()]
      .filter(({ to }) => to.some((use) => use.at === at))
      .map(({ source, variable }) => ({ at: source.at, variable }))
  }

  describe(requests: readonly PlanRequest[]): string[] {
    return [...this.#uses.values()].map(({ source, variable, to }) =>
      describeCorrelation(
        variable,
        requests[source.at]?.name ?? '',
        to.map(({ at, name }) => ({ at, name, request: requests[at]?.name ?? '' }))
      )
    )
  }

  #use(source: Source, at: number, { kind, name }: Destination): string {
    const use = this.#uses.get(source) ?? { source, variable: this.#nameFor(source, { kind, name }), to: [] }
    this.#uses.set(source, use)
    // Browsers save headers in lower case.
    const header = name.replace(/(?<![a-z])[a-z]/gi, (letter) => letter.toUpperCase())
    use.to.push({ at, name: { path: 'the path', header, field: name }[kind] })
    return use.variable
  }

  /** An id is named after what it identifies: `order_id` of `/orders/4711`. */
  #nameFor({ name, place }: Source, to: Destination): string {
    const thing = to.kind === 'path' ? singular(to.name) : ''
    const isBare = /^_?(?:id|uuid|guid)$/i.test(name)
    const plain = isBare && place.kind === 'json' && thing !== '' ? `${thing}_id` : name
    return claimVariable(plain, this.#names)
  }
}
