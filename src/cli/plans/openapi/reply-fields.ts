import { isObject } from '../../../contract/setting-values.js'
import { singular } from '../har/reply-values.js'
import { entriesIn, type JsonObject } from '../json-fields.js'
import { claimVariable, type PlanExtract, type PlanRequest } from '../request.js'
import { isPlainName } from '../secrets.js'
import type { ApiDocument } from './api-document.js'
import { sampleOf } from './sample-value.js'

type Keys = readonly (string | number)[]

const DEEPEST = 6

/** A value that fits the first 2xx reply. */
export function replyOf(api: ApiDocument, operation: JsonObject): unknown {
  const [, good] = entriesIn(operation, 'responses').find(([status]) => status.startsWith('2')) ?? []
  const reply = api.resolve(good)
  const [, media] = entriesIn(reply, 'content').find(([type]) => /\bjson\b|^\*\/\*$/i.test(type)) ?? []
  const holder = api.isSwagger ? reply : api.resolve(media)
  return holder && sampleOf(api, holder, 'reply')
}

/** Where a reply has single values, those nearest to its top first. */
export function listFields(reply: unknown): Keys[] {
  const found: Keys[] = []
  let level: (readonly [Keys, unknown])[] = [[[], reply]]
  for (let depth = 0; depth <= DEEPEST && level.length > 0; depth++)
    level = level.flatMap(([keys, value]): (readonly [Keys, unknown])[] => {
      if (Array.isArray(value)) return value.slice(0, 1).map((one: unknown) => [[...keys, 0], one])
      if (isObject(value))
        return Object.entries(value)
          .filter(([key]) => isPlainName(key))
          .map(([key, field]) => [[...keys, key], field])
      if (typeof value === 'string' || typeof value === 'number') found.push(keys)
      return []
    })
  return found
}

interface Reply {
  readonly request: PlanRequest
  /** Its path, whatever its parameters are called. */
  readonly shape: string
  /** `order` of `/orders`. */
  readonly thing: string
  /** By their names, in small letters and digits. */
  readonly fields: ReadonlyMap<string, Keys>
}

/** A parameter, and the request whose reply has it. */
interface Found {
  readonly variable: string
  readonly source: PlanRequest
}

/** Ids in paths that the replies to earlier requests have: `POST /orders`, or the list `GET /orders`, has the one of `/orders/{orderId}`. */
export class ReplyIds {
  readonly #replies: Reply[] = []
  readonly #extracts = new Map<PlanRequest, PlanExtract[]>()
  /** The login has this one. */
  readonly #names = new Set(['token'])

  add(request: PlanRequest, path: string, reply: unknown): void {
    const shape = shapeOf(path)
    const thing = plainName(singular(shape.slice(shape.lastIndexOf('/') + 1)))
    const isOf = (keys: Keys): boolean =>
      plainName(singular(String(keys.slice(0, -1).findLast((key) => typeof key === 'string')))) === thing
    const isListed = (keys: Keys): boolean => request.method === 'GET' && keys.includes(0)
    const rank = (keys: Keys): number => (isListed(keys) ? 0 : 100) + 2 * keys.length + (isOf(keys) ? 0 : 1)
    const fields = listFields(reply).toSorted((one, other) => rank(other) - rank(one))
    // Of several with the same name the last one stays.
    const entries = fields.map((keys) => [plainName(String(keys.at(-1))), keys] as const)
    this.#replies.push({ request, shape, thing, fields: new Map(entries) })
  }

  /** For the parameter that follows this part of a path. */
  find(before: string, parameter: string): Found | undefined {
    const shape = shapeOf(before)
    const found = this.#replies.flatMap((reply) => {
      const isHome = reply.shape === shape
      const keys = namesIn(reply, parameter, isHome)
        .map((name) => reply.fields.get(name))
        .find((one) => one !== undefined)
      const { isEnabled, method } = reply.request
      const rank = (isEnabled ? 0 : 4) + (isHome ? 0 : 2) + (method === 'POST' ? 0 : 1)
      return keys === undefined ? [] : [{ reply, keys, rank }]
    })
    const [best] = found.toSorted((one, other) => one.rank - other.rank)
    return best && { source: best.reply.request, variable: this.#take(best.reply, best.keys, parameter) }
  }

  /** With what later requests need of its reply. */
  complete(request: PlanRequest): PlanRequest {
    const extracts = [...(request.extracts ?? []), ...(this.#extracts.get(request) ?? [])]
    return extracts.length === 0 ? request : { ...request, extracts }
  }

  #take({ request, thing }: Reply, keys: Keys, parameter: string): string {
    const extracts = this.#extracts.get(request) ?? []
    this.#extracts.set(request, extracts)
    const known = extracts.find(({ from }) => from.kind === 'json' && from.keys === keys)
    if (known !== undefined) return known.variable
    const name = plainName(parameter) === 'id' && thing !== '' ? `${thing}_id` : parameter
    const variable = claimVariable(name, this.#names)
    extracts.push({ variable, from: { kind: 'json', keys } })
    return variable
  }
}

/** What a reply may call a parameter. Elsewhere than in the replies of its own path, only a name that says whose id it is counts. */
function namesIn({ thing }: Reply, parameter: string, isHome: boolean): string[] {
  const wanted = plainName(parameter)
  const isIts = wanted === `${thing}id`
  if (!isHome && !isIts && !/(?:[a-z\d]I|[-_]i)d$/.test(parameter)) return []
  const isId = isIts || (isHome && (wanted === thing || /(?:id|pk|number)$/.test(wanted)))
  return [wanted, ...(isId ? [`${thing}id`, 'id', 'uuid'] : [])]
}

function shapeOf(path: string): string {
  return path.replace(/\{[^{}]*\}/g, '{}').replace(/\/+$/, '')
}

function plainName(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\d]+/gu, '')
}
