import { isObject } from '../../../contract/setting-values.js'
import { encodeText, FORM_TYPE, JSON_TYPE, type PlanHeader, type PlanText } from '../request.js'
import { hideSecrets, isPasswordName, keepPairs, nothingRemoved, showProperties, TYPED } from '../secrets.js'
import type { ApiDocument } from './api-document.js'
import { entriesIn, fieldIn, listIn, textIn, type JsonObject } from '../json-fields.js'

const DEEPEST = 8
const MOST_VALUES = 500
/** The first one that can be read counts. */
const MOST_VARIANTS = 5
const LONGEST_TEXT = 1000

const TEXT_BY_FORMAT: Readonly<Record<string, string>> = {
  ...{ date: '2026-01-01', 'date-time': '2026-01-01T00:00:00Z', time: '00:00:00Z' },
  ...{ uuid: '00000000-0000-4000-8000-000000000000', email: 'user@example.com', byte: 'dGV4dA==' },
  ...{ uri: 'https://example.com/', url: 'https://example.com/', hostname: 'example.com' },
  ...{ ipv4: '192.0.2.1', ipv6: '2001:db8::1' }
}

/** What a value is for: a login sends no optional fields, a reply has those that the server sets, and of what is `given` nothing is made up. */
type Purpose = 'request' | 'login' | 'reply' | 'given'

/** A value that fits a parameter, a media type or a schema: its example, without secrets, or one made from its schema. */
export function sampleOf(
  api: ApiDocument,
  holder: JsonObject,
  purpose: Purpose = 'request',
  name = ''
): unknown {
  return sample(api, holder, { name, purpose, depth: 0, budget: { left: MOST_VALUES }, open: new Set() })
}

/** A value in a path, a query, a header or a form; lists are separated by commas. */
export function plainText(value: unknown): string {
  if (typeof value === 'string') return value
  if (Array.isArray(value)) return value.map(plainText).join(',')
  return value === undefined || value === null ? '' : JSON.stringify(value)
}

interface Place {
  readonly name: string
  readonly purpose: Purpose
  readonly depth: number
  /** Shared by all parts of a value: schemas that refer to each other many times would never end. */
  readonly budget: { left: number }
  /** The schemas that this value is part of: one that refers to itself ends here. */
  readonly open: ReadonlySet<JsonObject>
}

function sample(api: ApiDocument, holder: JsonObject, place: Place): unknown {
  const given = givenIn(api, holder)
  // A value of an enum is no secret, whatever its name.
  if (given !== undefined) return hideSecrets(given, listIn(holder, 'enum').length > 0 ? '' : place.name)
  const schema = api.resolve(fieldIn(holder, 'schema'))
  if (schema !== undefined) return sample(api, schema, place)
  if (place.open.has(holder) || place.depth > DEEPEST) return undefined
  const inside = { ...place, depth: place.depth + 1, open: new Set([...place.open, holder]) }
  const variants = [...listIn(holder, 'oneOf'), ...listIn(holder, 'anyOf')].slice(0, MOST_VARIANTS)
  const variant = afford(variants, place)
    .map((one) => api.resolve(one))
    .find((one) => one !== undefined)
  const parts = afford(listIn(holder, 'allOf'), place).map((one) => api.resolve(one))
  const all = [...parts, variant].filter((one) => one !== undefined)
  if (all.length > 0)
    return merge([
      ...all.map((one) => sample(api, one, inside)),
      ...(isObject(fieldIn(holder, 'properties')) ? [sampleObject(api, holder, inside)] : [])
    ])
  return sampleByType(api, holder, inside)
}

/** As many as the budget allows. */
function afford<T>(values: readonly T[], { budget }: Place): readonly T[] {
  const some = values.slice(0, budget.left)
  budget.left -= some.length
  return some
}

function givenIn(api: ApiDocument, holder: JsonObject): unknown {
  const examples = fieldIn(holder, 'examples')
  const [first] = isObject(examples)
    ? Object.values(examples)
    : Array.isArray(examples)
      ? (examples as unknown[])
      : []
  const named = isObject(examples) ? fieldIn(api.resolve(first), 'value') : first
  return [
    fieldIn(holder, 'example'),
    named,
    fieldIn(holder, 'x-example'),
    fieldIn(holder, 'default'),
    fieldIn(holder, 'const'),
    listIn(holder, 'enum')[0]
  ].find((value) => value !== undefined)
}

/** Objects become one; otherwise the first value counts. */
function merge(values: readonly unknown[]): unknown {
  const objects = values.filter(isObject)
  return objects.length > 0 ? Object.assign({}, ...objects) : values.find((value) => value !== undefined)
}

function sampleByType(api: ApiDocument, schema: JsonObject, place: Place): unknown {
  const types = [fieldIn(schema, 'type')].flat()
  const type =
    types.find((one) => one !== 'null') ?? (isObject(fieldIn(schema, 'properties')) ? 'object' : 'string')
  switch (type) {
    case 'object':
      return sampleObject(api, schema, place)
    case 'array':
      return sampleArray(api, schema, place)
    case 'integer':
    case 'number':
      return place.purpose === 'given' ? undefined : sampleNumber(schema)
    case 'boolean':
      return place.purpose === 'given' ? undefined : true
    default:
      return literalIn(schema) ?? (place.purpose === 'given' ? undefined : sampleText(schema))
  }
}

function sampleObject(api: ApiDocument, schema: JsonObject, place: Place): JsonObject {
  const { purpose } = place
  const required = listIn(schema, 'required')
  return Object.fromEntries(
    afford(entriesIn(schema, 'properties'), place).flatMap(([name, property]) => {
      const resolved = api.resolve(property)
      // The server sets these.
      if (resolved === undefined || (fieldIn(resolved, 'readOnly') === true && purpose !== 'reply')) return []
      const given = givenIn(api, resolved)
      if (purpose === 'login' && !isForLogin(name, required, given)) return []
      const value = sample(api, resolved, { ...place, name })
      return value === undefined ? [] : [[name, value]]
    })
  )
}

export const GRANT_TYPE = /^grant_?type$/i

/** An optional field needs a value of its own. Where nothing but the password is required, the user is among the optional ones. */
function isForLogin(name: string, required: readonly unknown[], given: unknown): boolean {
  if (required.includes(name) || isPasswordName(name) || GRANT_TYPE.test(name)) return true
  if (/^client[-_]?(?:id|secret)$/i.test(name)) return false
  return (given !== undefined && given !== null) || required.every((one) => isPasswordName(String(one)))
}

function sampleArray(api: ApiDocument, schema: JsonObject, place: Place): unknown[] {
  const items = api.resolve(fieldIn(schema, 'items'))
  const [item] = afford([items], place).map((one) => one && sample(api, one, place))
  return item === undefined ? [] : [item]
}

function sampleNumber(schema: JsonObject): number {
  const numberIn = (key: string): number | undefined => {
    const value = fieldIn(schema, key)
    return typeof value === 'number' ? value : undefined
  }
  const exclusive = fieldIn(schema, 'exclusiveMinimum')
  const least = typeof exclusive === 'number' ? exclusive + 1 : numberIn('minimum')
  if (least !== undefined)
    return exclusive === true ? least + 1 : Math.max(least, Math.min(1, numberIn('maximum') ?? 1))
  return Math.min(1, numberIn('maximum') ?? 1)
}

/** `password` of `^password$`. */
function literalIn(schema: JsonObject): string | undefined {
  return /^\^([\w -]+)\$$/.exec(textIn(schema, 'pattern'))?.[1]
}

function sampleText(schema: JsonObject): string {
  const format = fieldIn(schema, 'format')
  const known =
    typeof format === 'string' && Object.hasOwn(TEXT_BY_FORMAT, format) ? TEXT_BY_FORMAT[format] : undefined
  const least = fieldIn(schema, 'minLength')
  const length = typeof least === 'number' ? Math.min(least, LONGEST_TEXT) : 0
  return (known ?? 'text').padEnd(length, 'x')
}

interface RequestBody {
  readonly text?: PlanText
  readonly headers?: readonly PlanHeader[]
  readonly note?: string
}

const MOST_CHARACTERS = 256 * 1024

/** The body of an operation, with a value that fits its schema; of a login after `change`. */
export function readBody(
  api: ApiDocument,
  operation: Described,
  change?: (value: unknown) => unknown
): RequestBody {
  const body = sampleBody(api, operation, change && 'login')
  return 'value' in body ? encode(body.type, change ? change(body.value) : body.value) : body
}

interface Described {
  readonly facts: JsonObject
  readonly parameters: readonly JsonObject[]
}

/** A value for the body, and its type; or why there is none. */
export function sampleBody(
  api: ApiDocument,
  { facts, parameters }: Described,
  purpose: Purpose = 'request'
): RequestBody | { readonly type: string; readonly value: unknown } {
  if (api.isSwagger) return sampleSwaggerBody(api, { facts, parameters }, purpose)
  const content = entriesIn(api.resolve(fieldIn(facts, 'requestBody')), 'content')
  if (content.length === 0) return {}
  const [type = '', found] =
    content.find(([one]) => JSON_TYPE.test(one)) ?? content.find(([one]) => FORM_TYPE.test(one)) ?? []
  const media = api.resolve(found)
  return media === undefined
    ? unknownBody(content.map(([one]) => one))
    : { type, value: sampleOf(api, media, purpose) }
}

const sampleSwaggerBody: typeof sampleBody = (api, { facts, parameters }, purpose) => {
  const body = parameters.find((one) => textIn(one, 'in') === 'body')
  if (body !== undefined) return { type: 'application/json', value: sampleOf(api, body, purpose) }
  const fields = parameters.filter((one) => textIn(one, 'in') === 'formData')
  if (fields.length === 0) return {}
  const consumes = [...listIn(facts, 'consumes'), ...listIn(api.root, 'consumes')].filter(
    (type) => typeof type === 'string'
  )
  const hasFile = fields.some((one) => fieldIn(one, 'type') === 'file')
  if (hasFile || (consumes.length > 0 && !consumes.some((type) => FORM_TYPE.test(type))))
    return unknownBody(consumes)
  const required = fields.filter((one) => fieldIn(one, 'required') === true)
  const form = {
    properties: Object.fromEntries(fields.map((one) => [textIn(one, 'name'), one])),
    required: required.map((one) => textIn(one, 'name'))
  }
  return { type: 'application/x-www-form-urlencoded', value: sampleOf(api, form, purpose) }
}

function encode(type: string, value: unknown): RequestBody {
  const text = FORM_TYPE.test(type) ? encodeForm(value) : encodeJson(value)
  if (encodeText(text).length > MOST_CHARACTERS)
    return {
      note: 'The example of its body is larger than 256 KiB and is not in the plan. Add a body before you enable this.'
    }
  return { text, headers: [{ name: 'Content-Type', value: [type.replace(/[^\w/+.;= -]/g, '')] }] }
}

function encodeJson(value: unknown): PlanText {
  const parsed = typeof value === 'string' ? parseJson(value) : undefined
  if (parsed === undefined) return showProperties(JSON.stringify(value ?? {}, null, 2))
  const hidden = showProperties(JSON.stringify(hideSecrets(parsed, ''), null, 2))
  return hidden.length > 1 ? hidden : [String(value)]
}

/** Examples are often the text of the body. */
function parseJson(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}

function encodeForm(value: unknown): PlanText {
  if (typeof value === 'string') return keepPairs(value, nothingRemoved(), TYPED)
  const encode = (text: string): string => new URLSearchParams([['', text]]).toString().slice(1)
  return Object.entries(isObject(value) ? value : {}).flatMap(([name, field], at): PlanText => [
    `${at === 0 ? '' : '&'}${encode(name)}=`,
    ...showProperties(plainText(field), encode)
  ])
}

function unknownBody(types: readonly unknown[]): RequestBody {
  const given = types.length === 0 ? 'a file' : types.join(', ')
  return {
    note: `Its body is ${given}; only forms and JSON can be made from a schema. Add a body before you enable this.`
  }
}
