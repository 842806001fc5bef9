import { isObject } from '../../../contract/decode.js'
import { when } from '../../../contract/text.js'
import {
  addressOf,
  describeCorrelation,
  describeDisabled,
  encodePath,
  isMethod,
  isSafe,
  MOST_REQUESTS,
  propertiesIn,
  propertiesOf,
  propertyName,
  readableName,
  SourceError
} from '../request.js'
import type { PlanHeader, PlanRequest, PlanText, RequestSet } from '../request.js'
import { describeProperties, showProperties } from '../secrets.js'
import { findLogin, hideIdentity, type ApiLogin } from './api-login.js'
import { BASIC_PROPERTY, isHeaderName, NO_CREDENTIALS, readCredentials } from './credentials.js'
import { HERE, readServer, type ApiServer } from './servers.js'
import { ApiDocument } from './api-document.js'
import { entriesIn, fieldIn, textIn, type JsonObject } from '../json-fields.js'
import { plainText, readBody, sampleOf } from './sample-value.js'

type Operation = ReturnType<typeof listOperations>[number]

/** One request per operation of an API, with the values of its examples, or ones made from its schemas. */
export function readOpenApi(text: string, { allMethods }: { allMethods: boolean }): RequestSet {
  const api = ApiDocument.read(text)
  const { all, here, target } = findOperations(api)
  const login = findLogin(api, here)
  // The login comes first.
  const ordered =
    login === undefined ? here : [login.operation, ...here.filter((one) => one !== login.operation)]
  const requests = ordered
    .slice(0, MOST_REQUESTS)
    .map((operation) => toRequest(api, operation, { allMethods, login }))
  const properties = propertiesOf(requests)
  const opening = propertiesOf(requests.filter(({ isLogin }) => isLogin))
  const keys = new Set(here.flatMap(({ facts }) => keysOf(readCredentials(api, facts, login))))
  const credentials = [...properties].filter((name) => opening.has(name) || keys.has(name))
  const notes = [
    ...when(
      all.length > here.length,
      `Left out, because they have another server: ${all.length - here.length} of ${all.length} operations.`
    ),
    ...when(here.length > MOST_REQUESTS, `Left out: all operations after the first ${MOST_REQUESTS}.`),
    ...when(
      api.foreign.size > 0,
      `References to other files were not followed: ${[...api.foreign].slice(0, 5).map(readableName).join(', ')}.`
    ),
    ...when(
      login !== undefined,
      `It logs in with ${requests[0]?.name ?? ''}, and starts over as a new user each time.`
    ),
    ...when(
      credentials.includes(BASIC_PROPERTY),
      `The value of ${BASIC_PROPERTY} is user:password in base64: \`printf %s 'user:password' | base64\`.`
    ),
    ...describeProperties(new Set([...properties].filter((name) => !credentials.includes(name)))),
    ...describeDisabled(requests),
    'The values in paths, queries and bodies are those of the examples, or made up from the schemas: put ones into the plan that the application knows.'
  ]
  return { target, requests, notes, credentials, correlations: describeToken(requests, login) }
}

/** The properties that security schemes ask for. */
function keysOf({ headers, query, cookies }: ReturnType<typeof readCredentials>): string[] {
  return [...propertiesIn(headers.flatMap(({ value }) => value)), ...[...query, ...cookies].map(propertyName)]
}

function describeToken(requests: readonly PlanRequest[], login: ApiLogin | undefined): string[] {
  const to = requests.flatMap(({ headers, name }, at) =>
    headers
      .filter(({ value }) => value.some((part) => typeof part !== 'string' && 'variable' in part))
      .map((header) => ({ at, name: header.name, request: name }))
  )
  if (login?.token === undefined || to.length === 0) return []
  return [describeCorrelation(login.token.variable, requests[0]?.name ?? '', to)]
}

/** Those at one server: the document's own, or the first that an operation names if none is there. */
function findOperations(api: ApiDocument) {
  const main = readServer(api) ?? HERE
  const all = listOperations(api, main)
  const [first] = all
  if (first === undefined) {
    const [elsewhere] = api.foreign
    throw new SourceError(
      elsewhere === undefined
        ? 'it describes no operations: its `paths` are empty'
        : `it describes no operations itself: its \`paths\` are in other files (${readableName(elsewhere)}), which are not read; bundle them into one file`
    )
  }
  const atMain = all.filter(({ server }) => isAt(server, main))
  if (atMain.length > 0) return { all, here: atMain, target: main.target }
  const other = all.find(({ server }) => server.target !== undefined)?.server ?? first.server
  return { all, here: all.filter(({ server }) => isAt(server, other)), target: other.target }
}

function listOperations(api: ApiDocument, main: ApiServer) {
  return entriesIn(api.root, 'paths').flatMap(([path, value]) => {
    const item = api.resolve(value)
    if (item === undefined || !path.startsWith('/')) return []
    return Object.entries(item).flatMap(([key, facts]) => {
      const method = key.toUpperCase()
      if (!isMethod(method) || method === 'OPTIONS' || !isObject(facts)) return []
      const server = readServer(api, facts) ?? readServer(api, item) ?? main
      const own = api.resolveList(facts, 'parameters')
      const shared = api
        .resolveList(item, 'parameters')
        .filter(
          (one) =>
            !own.some((other) => ['in', 'name'].every((name) => fieldIn(one, name) === fieldIn(other, name)))
        )
      return [{ path, method, facts, parameters: [...shared, ...own], server }]
    })
  })
}

function isAt(server: ApiServer, main: ApiServer): boolean {
  if (server === main || server.isRelative) return true
  if (server.target === undefined || main.target === undefined) return false
  return addressOf(server.target) === addressOf(main.target)
}

function toRequest(
  api: ApiDocument,
  operation: Operation,
  { allMethods, login }: { allMethods: boolean; login: ApiLogin | undefined }
): PlanRequest {
  const { path, method, facts } = operation
  const isLogin = login?.operation === operation
  const body = isSafe(method)
    ? {}
    : readBody(api, facts, operation.parameters, isLogin ? hideIdentity : undefined)
  const credentials = isLogin ? NO_CREDENTIALS : readCredentials(api, facts, login)
  const note =
    body.note ??
    (isSafe(method) || allMethods || isLogin
      ? undefined
      : 'Disabled, because it may change data. `loadgate init --all-methods` enables it.')
  return {
    name: readableName(textIn(facts, 'operationId')) || readableName(`${method} ${path}`),
    method,
    path: [...fillPath(api, operation), ...queryOf(api, operation, credentials.query)],
    headers: onceEach([
      ...credentials.headers,
      ...(body.headers ?? []),
      ...headersOf(api, operation),
      ...cookiesOf(api, operation, credentials.cookies)
    ]),
    ...(body.text !== undefined && { body: body.text }),
    isEnabled: note === undefined,
    ...(isLogin && { isLogin, ...(login.token !== undefined && { extracts: [login.token] }) }),
    ...(note !== undefined && { note })
  }
}

function fillPath(api: ApiDocument, { path, parameters, server }: Operation): PlanText {
  const parts = path.split(/\{([^{}]*)\}/).flatMap((part, at): PlanText => {
    if (at % 2 === 0) return [encodePath(part)]
    const parameter = parameters.find((one) => textIn(one, 'in') === 'path' && textIn(one, 'name') === part)
    const text = parameter === undefined ? '' : valueText(api, parameter)
    return showProperties(text === '' ? '1' : text, encodeValue)
  })
  return [server.basePath, ...parts]
}

function queryOf(api: ApiDocument, { parameters }: Operation, credentials: readonly string[]): PlanText {
  const pairs = requiredIn('query', parameters, credentials).flatMap((one) => queryPairs(api, one))
  const secret = credentials.map((name) => [
    `${encodeValue(name)}=`,
    { property: propertyName(name), isEncoded: true }
  ])
  return [...pairs, ...secret].flatMap((pair, at) => [at === 0 ? '?' : '&', ...pair])
}

/** Some documents describe a credential as a parameter too. */
function requiredIn(
  place: string,
  parameters: readonly JsonObject[],
  credentials: readonly string[] = []
): JsonObject[] {
  const required = parameters.filter(
    (one) => textIn(one, 'in') === place && fieldIn(one, 'required') === true
  )
  return required.filter((one) => !credentials.includes(textIn(one, 'name')))
}

function cookiesOf(api: ApiDocument, { parameters }: Operation, names: readonly string[]): PlanHeader[] {
  const cookies = [
    ...names.map((name): [string, PlanText] => [name, [{ property: propertyName(name) }]]),
    ...requiredIn('cookie', parameters, names).map((one): [string, PlanText] => [
      textIn(one, 'name'),
      // A value that is given for a cookie is sent as it is.
      showProperties(valueText(api, one), encodeValue).map((part) =>
        typeof part !== 'string' && 'property' in part ? { property: part.property } : part
      )
    ])
  ].filter(([name]) => isHeaderName(name))
  if (cookies.length === 0) return []
  const value = cookies.flatMap(([name, text], at) => [`${at === 0 ? '' : '; '}${name}=`, ...text])
  return [{ name: 'Cookie', value }]
}

/** Some documents describe a credential as a parameter too. */
function onceEach(headers: readonly PlanHeader[]): PlanHeader[] {
  const names = headers.map(({ name }) => name.toLowerCase())
  return headers.filter((_, at) => names.indexOf(names[at] ?? '') === at)
}

/** The specification says that these three are described elsewhere. */
const DESCRIBED_ELSEWHERE = /^(?:accept|content-type|authorization)$/i

function headersOf(api: ApiDocument, { parameters }: Operation): PlanHeader[] {
  return requiredIn('header', parameters)
    .filter((one) => isHeaderName(textIn(one, 'name')) && !DESCRIBED_ELSEWHERE.test(textIn(one, 'name')))
    .map((one) => ({
      name: textIn(one, 'name'),
      value: showProperties(valueText(api, one).replace(/\s+/g, ' ').trim())
    }))
}

/** What stands between the elements of a list that is one value. */
const SEPARATORS: Readonly<Record<string, string>> = {
  ...{ spaceDelimited: ' ', pipeDelimited: '|', ssv: ' ', tsv: '\t', pipes: '|' }
}

function valueText(api: ApiDocument, parameter: JsonObject): string {
  const { value, isJson } = valueOf(api, parameter)
  if (isJson) return JSON.stringify(value)
  if (!isObject(value)) return plainText(value)
  const explode = fieldIn(parameter, 'explode') === true
  return Object.entries(value)
    .map(([key, field]) => `${key}${explode ? '=' : ','}${plainText(field)}`)
    .join(',')
}

/** `name=value` of a parameter in a query; several of them for a list or an object, unless the document says otherwise. */
function queryPairs(api: ApiDocument, parameter: JsonObject): PlanText[] {
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

function encodeValue(text: string): string {
  return encodeURIComponent(text.replace(/\p{Surrogate}/gu, '\ufffd'))
}

function pair(name: string, value: string): PlanText {
  return [`${encodeValue(name)}=`, ...showProperties(value, encodeValue)]
}

/** A parameter has a schema, or the one type of content that it is written as. */
function valueOf(api: ApiDocument, parameter: JsonObject): { value: unknown; isJson: boolean } {
  const [first] = entriesIn(parameter, 'content')
  const media = first && api.resolve(first[1])
  if (media === undefined)
    return { value: sampleOf(api, parameter, textIn(parameter, 'name')), isJson: false }
  const value = sampleOf(api, media, textIn(parameter, 'name'))
  return {
    value,
    isJson: /\bjson\b/i.test(first?.[0] ?? '') && value !== undefined && typeof value !== 'string'
  }
}
