import { isObject } from '../../../contract/setting-values.js'
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
import { findLogin, hideIdentity, isLogout, type ApiLogin } from './api-login.js'
import { BASIC_PROPERTY, isHeaderName, NO_CREDENTIALS, readCredentials } from './credentials.js'
import { HERE, readServer, type ApiServer } from './servers.js'
import { ApiDocument } from './api-document.js'
import { entriesIn, fieldIn, textIn, type JsonObject } from '../json-fields.js'
import { ReplyIds, replyOf } from './reply-fields.js'
import { encodeValue, queryPairs, valueText } from './parameter-values.js'
import { readBody } from './sample-value.js'

const MOST_SHOWN = 5
const NOTHING_GIVES = 'Disabled, because nothing gives '

type Operation = ReturnType<typeof listOperations>[number]

/** One request per operation of an API, with the values of its examples, or ones made from its schemas. */
export function readOpenApi(text: string, { allMethods }: { allMethods: boolean }): RequestSet {
  const api = ApiDocument.read(text)
  const { all, here, target } = findOperations(api)
  const { login, unclear } = findLogin(api, here)
  const ids = new ReplyIds()
  const made = inOrder(here, login)
    .slice(0, MOST_REQUESTS)
    .map((operation) => {
      const request = toRequest(api, operation, { allMethods, login, ids })
      ids.add(request, operation.path, replyOf(api, operation.facts))
      return request
    })
  const requests = made.map((request) => ids.complete(request))
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
      unclear !== undefined,
      `${unclear === undefined ? '' : nameOf(unclear)} takes a password, but the description of its reply has no token, so the plan does not log in. Describe the reply, or give what the API asks for.`
    ),
    ...when(
      credentials.includes(BASIC_PROPERTY),
      `The value of ${BASIC_PROPERTY} is user:password in base64: \`printf %s 'user:password' | base64\`.`
    ),
    ...describeProperties(new Set([...properties].filter((name) => !credentials.includes(name)))),
    ...describeDisabled(requests),
    ...describeLacking(requests),
    'The values in paths, queries and bodies are those of the examples, or made up from the schemas: put ones into the plan that the application knows.'
  ]
  return { target, requests, notes, credentials, correlations: describeExtracts(requests) }
}

/** The properties that security schemes ask for. */
function keysOf({ headers, query, cookies }: ReturnType<typeof readCredentials>): string[] {
  return [...propertiesIn(headers.flatMap(({ value }) => value)), ...[...query, ...cookies].map(propertyName)]
}

/** Ids that neither an example nor a reply contains. */
function describeLacking(requests: readonly PlanRequest[]): string[] {
  const lacking = requests.filter(({ note }) => note?.startsWith(NOTHING_GIVES))
  const shown = lacking.slice(0, MOST_SHOWN).map(({ name, note = '' }) => `${name} is d${note.slice(1)}`)
  return [...shown, ...when(lacking.length > MOST_SHOWN, `So are ${lacking.length - MOST_SHOWN} more.`)]
}

function describeExtracts(requests: readonly PlanRequest[]): string[] {
  const sends = (text: PlanText, variable: string): boolean =>
    text.some((part) => typeof part !== 'string' && 'variable' in part && part.variable === variable)
  return requests.flatMap(({ name: from, extracts = [] }) =>
    extracts.flatMap(({ variable }) => {
      const to = requests.flatMap(({ headers, path, name: request, isEnabled }, at) =>
        [...headers, { name: 'the path', value: path }]
          .filter(({ value }) => isEnabled && sends(value, variable))
          .map(({ name }) => ({ at, name, request }))
      )
      return to.length === 0 ? [] : [describeCorrelation(variable, from, to)]
    })
  )
}

/** The login comes first. What makes or lists things comes before what needs their ids, what deletes them after it, and a logout last. */
function inOrder(operations: readonly Operation[], login: ApiLogin | undefined): Operation[] {
  const rank = (operation: Operation): number => {
    if (operation === login?.operation) return -1
    if (isLogout(operation)) return 1000
    const parameters = operation.path.split('{').length
    return operation.method === 'DELETE' ? 999 - Math.min(parameters, 400) : Math.min(parameters, 400)
  }
  return operations.toSorted((one, other) => rank(one) - rank(other))
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
  { allMethods, login, ids }: { allMethods: boolean; login: ApiLogin | undefined; ids: ReplyIds }
): PlanRequest {
  const { method, facts } = operation
  const isLogin = login?.operation === operation
  const body = isSafe(method) ? {} : readBody(api, operation, isLogin ? hideIdentity : undefined)
  const path = fillPath(api, operation, ids)
  const credentials = isLogin ? NO_CREDENTIALS : readCredentials(api, facts, login)
  const note =
    body.note ??
    (isSafe(method) || allMethods || isLogin
      ? path.note
      : 'Disabled, because it may change data. `loadgate init --all-methods` enables it.')
  return {
    name: nameOf(operation),
    method,
    path: [...path.text, ...queryOf(api, operation, credentials.query)],
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

/** Frameworks generate names such as `item_items__item_id__get`. */
function nameOf({ method, path, facts }: Operation): string {
  const id = textIn(facts, 'operationId')
  return readableName(/^[A-Za-z][A-Za-z0-9]*$/.test(id) ? id : `${method} ${path}`)
}

/** With ids from the replies to earlier requests, where the document has no value. */
function fillPath(
  api: ApiDocument,
  { path, parameters, server }: Operation,
  ids: ReplyIds
): { readonly text: PlanText; readonly note?: string } {
  const notes: string[] = []
  const pieces = path.split(/(\{[^{}]*\})/)
  const parts = pieces.flatMap((part, at): PlanText => {
    if (at % 2 === 0) return [encodePath(part)]
    const name = part.slice(1, -1)
    const parameter = parameters.find((one) => textIn(one, 'in') === 'path' && textIn(one, 'name') === name)
    const text = parameter === undefined ? '' : valueText(api, parameter, 'given')
    if (text !== '') return showProperties(text, encodeValue)
    const found = ids.find(pieces.slice(0, at).join(''), name)
    if (found === undefined) {
      const property = propertyName(name)
      notes.push(
        `${NOTHING_GIVES}${readableName(name)}. Put a value into its path, or give -J${property}=…, and enable it.`
      )
      return [{ property, isEncoded: true }]
    }
    const { source, variable } = found
    if (!source.isEnabled)
      notes.push(`Disabled, because it sends the ${variable} of ${source.name}, which is disabled.`)
    return [{ variable, isEncoded: true }]
  })
  return { text: [server.basePath, ...parts], ...(notes[0] !== undefined && { note: notes[0] }) }
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
