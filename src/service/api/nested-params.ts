import { RequestError } from '../errors.js'

export type Param = string | readonly Param[] | Params
/** Parameters as a Rails application sees them; no prototype, so that `__proto__` is a key like any other. */
export interface Params {
  [key: string]: Param | undefined
}

const MAX_DEPTH = 16
/** A run with a hundred grids has fewer. Reading many more would keep everyone else waiting. */
export const MAX_PARAMS = 2000

/** Reads `a[b][]=…` fields in the order in which they were sent, by Rack's rules. */
export function nestParams(fields: Iterable<readonly [name: string, value: string]>): Params {
  const params = emptyParams()
  for (const [name, value] of fields) place(params, name, value, 0)
  return params
}

function emptyParams(): Params {
  return Object.create(null) as Params
}

function place(params: Params, name: string, value: string, depth: number): void {
  if (depth > MAX_DEPTH) throw new RequestError(400, `the parameter ${name} is nested too deeply`)
  const [start = '', key] = /^[[\]]*([^[\]]+)\]*/.exec(name) ?? []
  if (key === undefined) return
  const after = name.slice(start.length)
  if (after === '') params[key] = value
  else if (after === '[]') listAt(params, key).push(value)
  else if (!after.startsWith('[]')) place(hashAt(params, key), after, value, depth + 1)
  else {
    // Rack's rule, which merges a reference and a specification sent one after the other: the last element of the list gets the key if
    // it does not have it yet; otherwise a new element starts.
    const list = listAt(params, key)
    const child = /^\[\]\[([^[\]]+)\]$/.exec(after)?.[1] ?? after.slice(2)
    const last = list.at(-1)
    const element = isParams(last) && !hasKey(last, child) ? last : emptyParams()
    if (element !== last) list.push(element)
    place(element, child, value, depth + 1)
  }
}

function hasKey(params: Params, name: string): boolean {
  let current: Param | undefined = params
  for (const part of name.split(/[[\]]+/).filter((part) => part !== '')) {
    if (!isParams(current) || current[part] === undefined) return false
    current = current[part]
  }
  return true
}

function listAt(params: Params, key: string): Param[] {
  const found = (params[key] ??= [])
  if (!Array.isArray(found)) throw mixedUse(key, 'a list', found)
  return found as Param[]
}

function hashAt(params: Params, key: string): Params {
  const found = (params[key] ??= emptyParams())
  if (!isParams(found)) throw mixedUse(key, 'a group of keys', found)
  return found
}

export function isParams(value: Param | undefined): value is Params {
  return typeof value === 'object' && !Array.isArray(value)
}

function mixedUse(key: string, wanted: string, found: Param): RequestError {
  const was =
    typeof found === 'string' ? 'a single value' : Array.isArray(found) ? 'a list' : 'a group of keys'
  return new RequestError(400, `the parameter ${key} is used as ${wanted}, but was ${was} before`)
}

/** Converts a JSON body to the same parameters: numbers and booleans become strings, null means absent. */
export function paramsFromJson(body: unknown): Params {
  const params = fromJson(body, { depth: 0, count: { values: 0 } })
  if (params === undefined || !isParams(params)) {
    throw new RequestError(400, 'the JSON body must be an object of nested attributes')
  }
  return params
}

export function tooManyParams(): RequestError {
  return new RequestError(413, `the body has more than ${MAX_PARAMS} values`)
}

function fromJson(
  value: unknown,
  { depth, count }: { depth: number; count: { values: number } }
): Param | undefined {
  if (depth > MAX_DEPTH) throw new RequestError(400, 'the JSON body is nested too deeply')
  if (++count.values > MAX_PARAMS) throw tooManyParams()
  if (value === null || value === undefined) return undefined
  const inside = { depth: depth + 1, count }
  if (Array.isArray(value)) return value.map((element) => fromJson(element, inside) ?? '')
  if (typeof value === 'object') {
    const params = emptyParams()
    // Not by entries: they would all be made first.
    for (const key in value) {
      const param = fromJson((value as Record<string, unknown>)[key], inside)
      if (param !== undefined) params[key] = param
    }
    return params
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}
