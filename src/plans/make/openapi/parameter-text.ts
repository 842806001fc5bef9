import type { PlanText } from '../request.js'
import { fieldIn, isObject, textIn } from './api-document.js'
import type { ApiDocument, JsonObject } from './api-document.js'
import { showProperties } from './hidden-values.js'
import { plainText, sampleOf } from './sample-value.js'

/** What stands between the elements of a list that is one value. */
const SEPARATORS: Readonly<Record<string, string>> = {
  spaceDelimited: ' ',
  pipeDelimited: '|',
  ssv: ' ',
  tsv: '\t',
  pipes: '|'
}

/** The value of a parameter in a path or a header. */
export function valueText(api: ApiDocument, parameter: JsonObject): string {
  const { value, isJson } = valueOf(api, parameter)
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
function valueOf(api: ApiDocument, parameter: JsonObject): { value: unknown; isJson: boolean } {
  const content = fieldIn(parameter, 'content')
  const [first] = Object.entries(isObject(content) ? content : {})
  const media = first && api.resolve(first[1])
  if (media === undefined)
    return { value: sampleOf(api, parameter, textIn(parameter, 'name')), isJson: false }
  const value = sampleOf(api, media, textIn(parameter, 'name'))
  return {
    value,
    isJson: /\bjson\b/i.test(first?.[0] ?? '') && value !== undefined && typeof value !== 'string'
  }
}
