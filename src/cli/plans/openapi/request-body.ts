import { encodeText } from '../plan-text.js'
import type { PlanHeader, PlanText } from '../request.js'
import { TYPED, keepPairs, nothingRemoved } from '../without-secrets.js'
import { fieldIn, isObject, listIn, textIn, type ApiDocument, type JsonObject } from './api-document.js'
import { hideSecrets, showProperties } from '../secrets.js'
import { plainText, sampleOf } from './sample-value.js'

/** What an operation sends, and what to know about it. */
export interface RequestBody {
  readonly text?: PlanText
  readonly headers?: readonly PlanHeader[]
  readonly note?: string
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i
const FORM_TYPE = /^application\/x-www-form-urlencoded\b/i
const MOST_CHARACTERS = 256 * 1024

export function readBody(
  api: ApiDocument,
  operation: JsonObject,
  parameters: readonly JsonObject[]
): RequestBody {
  if (api.isSwagger) return readSwaggerBody(api, operation, parameters)
  const content = fieldIn(api.resolve(fieldIn(operation, 'requestBody')), 'content')
  if (!isObject(content) || Object.keys(content).length === 0) return {}
  const types = Object.keys(content)
  const type = types.find((one) => JSON_TYPE.test(one)) ?? types.find((one) => FORM_TYPE.test(one))
  const media = type === undefined ? undefined : api.resolve(content[type])
  if (type === undefined || media === undefined) return unknownBody(types)
  return encode(type, sampleOf(api, media))
}

function readSwaggerBody(
  api: ApiDocument,
  operation: JsonObject,
  parameters: readonly JsonObject[]
): RequestBody {
  const body = parameters.find((one) => textIn(one, 'in') === 'body')
  if (body !== undefined) return encode('application/json', sampleOf(api, body))
  const fields = parameters.filter((one) => textIn(one, 'in') === 'formData')
  if (fields.length === 0) return {}
  const consumes = [...listIn(operation, 'consumes'), ...listIn(api.root, 'consumes')].filter(
    (type) => typeof type === 'string'
  )
  const hasFile = fields.some((one) => fieldIn(one, 'type') === 'file')
  if (hasFile || (consumes.length > 0 && !consumes.some((type) => FORM_TYPE.test(type))))
    return unknownBody(consumes)
  return encode(
    'application/x-www-form-urlencoded',
    Object.fromEntries(fields.map((one) => [textIn(one, 'name'), sampleOf(api, one, textIn(one, 'name'))]))
  )
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
