import { isObject } from '../../../contract/setting-values.js'
import { entriesIn, fieldIn, textIn, type JsonObject } from '../json-fields.js'
import type { PlanText } from '../request.js'
import { showProperties } from '../secrets.js'
import type { ApiDocument } from './api-document.js'
import { plainText, sampleOf } from './sample-value.js'

/** What stands between the elements of a list that is one value. */
const SEPARATORS: Readonly<Record<string, string>> = {
  ...{ spaceDelimited: ' ', pipeDelimited: '|', ssv: ' ', tsv: '\t', pipes: '|' }
}

/** In a path, a header or a cookie; only what is `given`, or also a value made up from the schema. */
export function valueText(api: ApiDocument, parameter: JsonObject, purpose?: 'given'): string {
  const { value, isJson } = valueOf(api, parameter, purpose)
  if (isJson) return JSON.stringify(value)
  if (!isObject(value)) return plainText(value)
  const explode = fieldIn(parameter, 'explode') === true
  return Object.entries(value)
    .map(([key, field]) => `${key}${explode ? '=' : ','}${plainText(field)}`)
    .join(',')
}

/** `name=value` of a parameter in a query; several of them for a list or an object, unless the document says otherwise. */
export function queryPairs(api: ApiDocument, parameter: JsonObject): PlanText[] {
  const name = textIn(parameter, 'name')
  const { value, isJson } = valueOf(api, parameter)
  const style = textIn(parameter, api.isSwagger ? 'collectionFormat' : 'style')
  const isRepeated = api.isSwagger
    ? style === 'multi'
    : (fieldIn(parameter, 'explode') ?? (style === '' || style === 'form')) === true
  if (isJson) return [pair(name, JSON.stringify(value))]
  if (Array.isArray(value))
    return isRepeated
      ? value.map((element) => pair(name, plainText(element)))
      : [pair(name, value.map(plainText).join(SEPARATORS[style] ?? ','))]
  if (!isObject(value)) return [pair(name, plainText(value))]
  const fields = Object.entries(value)
  if (style === 'deepObject') return fields.map(([key, field]) => pair(`${name}[${key}]`, plainText(field)))
  if (isRepeated) return fields.map(([key, field]) => pair(key, plainText(field)))
  return [pair(name, fields.map(([key, field]) => `${key},${plainText(field)}`).join(','))]
}

export function encodeValue(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

function pair(name: string, value: string): PlanText {
  return [`${encodeValue(name)}=`, ...showProperties(value, encodeValue)]
}

/** A parameter has a schema, or the one type of content that it is written as. */
function valueOf(
  api: ApiDocument,
  parameter: JsonObject,
  purpose?: 'given'
): { value: unknown; isJson: boolean } {
  const [first] = entriesIn(parameter, 'content')
  const media = first && api.resolve(first[1])
  const value = sampleOf(api, media ?? parameter, purpose, textIn(parameter, 'name'))
  if (media === undefined) return { value, isJson: false }
  return {
    value,
    isJson: /\bjson\b/i.test(first?.[0] ?? '') && value !== undefined && typeof value !== 'string'
  }
}
