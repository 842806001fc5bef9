import { encodePath, propertyName, readableName } from '../plan-text.js'
import { MOST_REQUESTS, SourceError, addressOf, isMethod, isSafe } from '../request.js'
import type { PlanHeader, PlanRequest, PlanText, RequestSet } from '../request.js'
import { ApiDocument, fieldIn, isObject, textIn } from './api-document.js'
import type { JsonObject } from './api-document.js'
import { readServer } from './api-server.js'
import type { ApiServer } from './api-server.js'
import { readBody } from './request-body.js'
import { plainText, sampleOf } from './sample-value.js'
import { readCredentials } from './security.js'

export interface OpenApiOptions {
  /** Also send what is not GET or HEAD. */
  readonly allMethods: boolean
}

interface Operation {
  readonly path: string
  readonly method: string
  readonly facts: JsonObject
  readonly parameters: readonly JsonObject[]
  readonly server: ApiServer
}

/** One request per operation of an API, with the values of its examples, or ones made from its schemas. */
export function readOpenApi(text: string, { allMethods }: OpenApiOptions): RequestSet {
  const api = ApiDocument.read(text)
  const main = readServer(api) ?? { target: undefined, basePath: '' }
  const all = listOperations(api, main)
  const here = all.filter(({ server }) => isSame(server, main))
  if (here.length === 0) throw new SourceError('it describes no operations: its `paths` are empty')
  const properties = new Set<string>()
  const requests = here.slice(0, MOST_REQUESTS).map((operation) => {
    const request = toRequest(api, operation, allMethods)
    for (const part of [...request.path, ...request.headers.flatMap(({ value }) => value)])
      if (typeof part !== 'string') properties.add(part.property)
    return request
  })
  const disabled = requests.filter(({ isEnabled }) => !isEnabled).length
  const notes = [
    ...(all.length > here.length
      ? [
          `Left out, because they have another server: ${all.length - here.length} of ${all.length} operations.`
        ]
      : []),
    ...(here.length > MOST_REQUESTS ? [`Left out: all operations after the first ${MOST_REQUESTS}.`] : []),
    ...(api.foreign.size > 0
      ? [
          `References to other files were not followed: ${[...api.foreign].slice(0, 5).map(readableName).join(', ')}.`
        ]
      : []),
    ...(properties.size > 0
      ? [
          `The API wants credentials; give them as override-parameters: ${[...properties].map((name) => `-J${name}=…`).join(', ')}`
        ]
      : []),
    ...(disabled > 0
      ? [
          `${disabled} of ${requests.length} requests are disabled in the plan, each with a comment that says why.`
        ]
      : []),
    'The values in paths, queries and bodies are those of the examples, or made up from the schemas: put ones into the plan that the application knows.'
  ]
  return { target: main.target, requests, notes }
}

function listOperations(api: ApiDocument, main: ApiServer): Operation[] {
  const paths = fieldIn(api.root, 'paths')
  return Object.entries(isObject(paths) ? paths : {}).flatMap(([path, value]) => {
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

function isSame({ target }: ApiServer, main: ApiServer): boolean {
  if (target === undefined || main.target === undefined) return target === main.target
  return addressOf(target) === addressOf(main.target)
}

function toRequest(api: ApiDocument, operation: Operation, allMethods: boolean): PlanRequest {
  const { path, method, facts } = operation
  const body = isSafe(method) ? {} : readBody(api, facts, operation.parameters)
  const credentials = readCredentials(api, facts)
  const note =
    body.note ??
    (isSafe(method) || allMethods
      ? undefined
      : 'Disabled, because it may change data. `loadgate init --all-methods` enables it.')
  return {
    name: readableName(textIn(facts, 'operationId')) || readableName(`${method} ${path}`),
    method,
    path: [...fillPath(api, operation), ...queryOf(api, operation, credentials.query)],
    headers: onceEach([...credentials.headers, ...(body.headers ?? []), ...headersOf(api, operation)]),
    ...(body.text !== undefined && { body: [body.text] }),
    isEnabled: note === undefined,
    ...(note !== undefined && { note })
  }
}

function fillPath(api: ApiDocument, { path, parameters, server }: Operation): PlanText {
  const filled = path.replace(/\{([^{}]*)\}/g, (_, name: string) => {
    const parameter = parameters.find((one) => textIn(one, 'in') === 'path' && textIn(one, 'name') === name)
    return encodeURIComponent(wellFormed(plainText(parameter && sampleOf(api, parameter)) || '1'))
  })
  return [encodePath(server.basePath + filled)]
}

function queryOf(api: ApiDocument, { parameters }: Operation, credentials: readonly string[]): PlanText {
  const pairs = parameters
    .filter((one) => textIn(one, 'in') === 'query' && fieldIn(one, 'required') === true)
    .map((one): PlanText => {
      const value = plainText(sampleOf(api, one))
      return [[textIn(one, 'name'), value].map((part) => encodeURIComponent(wellFormed(part))).join('=')]
    })
  const secret = credentials.map((name): PlanText => [
    `${encodeURIComponent(wellFormed(name))}=`,
    { property: propertyName(name) }
  ])
  return [...pairs, ...secret].flatMap((pair, at) => [at === 0 ? '?' : '&', ...pair])
}

/** Some documents describe a credential as a parameter too. */
function onceEach(headers: readonly PlanHeader[]): PlanHeader[] {
  const names = headers.map(({ name }) => name.toLowerCase())
  return headers.filter((_, at) => names.indexOf(names[at] ?? '') === at)
}

/** The specification says that these three are described elsewhere. */
const DESCRIBED_ELSEWHERE = /^(?:accept|content-type|authorization)$/i

function headersOf(api: ApiDocument, { parameters }: Operation): PlanHeader[] {
  return parameters
    .filter((one) => textIn(one, 'in') === 'header' && fieldIn(one, 'required') === true)
    .filter((one) => /^[\w.-]+$/.test(textIn(one, 'name')) && !DESCRIBED_ELSEWHERE.test(textIn(one, 'name')))
    .map((one) => ({
      name: textIn(one, 'name'),
      value: [plainText(sampleOf(api, one)).replace(/\s+/g, ' ').trim()]
    }))
}

function wellFormed(text: string): string {
  return text.replace(/\p{Surrogate}/gu, '\ufffd')
}
