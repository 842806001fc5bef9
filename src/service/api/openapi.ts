import { type ConversionConfig, toJsonSchema, toJsonSchemaDefs } from '@valibot/to-json-schema'
import { replySchemas } from '../../contract/api/replies.js'
import {
  gridRequest,
  pageQuery,
  resultQuery,
  runRequest,
  runsQuery,
  thresholdsRequest,
  tokenRequest,
  userRequest
} from '../../contract/api/requests.js'
import type { Vocabulary } from '../../contract/vocabulary.js'

type Schema = Parameters<typeof toJsonSchema>[0]
type ReplyName = keyof ReturnType<typeof replySchemas>

interface Operation {
  readonly summary: string
  readonly description?: string
  readonly query?: Schema
  /** The content of the body by its media type. */
  readonly body?: Readonly<Record<string, unknown>>
  readonly isBodyOptional?: boolean
  readonly status?: number
  /** A document, or the media type of a file. */
  readonly reply: ReplyName | { readonly file: string }
  readonly errors?: readonly number[]
}

/** What a status means, in every operation. */
const ERRORS: Readonly<Record<number, string>> = {
  401: 'The token is missing or wrong, or has expired.',
  403: 'The role of the user does not allow it, no rule lets in the token of the issuer, or the request comes from a page of another site.',
  404: 'It does not exist, or not yet.',
  406: 'Another version of the API was requested.',
  409: 'It cannot be done in the state that it is in.',
  410: 'What it needs has been deleted.',
  413: 'The body is too large.',
  416: 'The range is outside the file.',
  422: 'Something is missing or wrong in the request; the text has every problem.',
  429: 'The quota of waiting runs is used up; `Retry-After` says when to try again.',
  507: 'The quota of the disk is used up, the service may keep no more, or its disk is full.'
}
const ALWAYS = [401, 406]

/** Describes the keys as they are read, whatever form they were sent in. */
const CONVERSION: ConversionConfig = { target: 'draft-2020-12', typeMode: 'output', errorMode: 'ignore' }
const MULTIPART = 'multipart/form-data'
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/** Every operation of a service with these words, by its method and path as in the table of routes. */
export function operationsOf(words: Vocabulary): Readonly<Record<string, Operation>> {
  const runs = `/${words.runs}`
  const run = `${runs}/:id`
  const endGrid = {
    summary: 'Terminates a grid. A run that uses it ends.',
    reply: 'GridWithResources',
    errors: [403, 404]
  } as const
  return {
    'GET /account': { summary: 'The account: its users, and its credentials.', reply: 'Account' },
    'GET /users': {
      summary: 'All users, for admins; an addition of this service, as are the other operations on users.',
      ...{ query: pageQuery, reply: 'UserList', errors: [403] }
    },
    'GET /users/:id': { summary: 'A user of the account.', reply: 'User', errors: [404] },
    'POST /users': {
      summary: 'Adds a user. The token is in this reply, and in no later one.',
      body: bodiesOf('user', userRequest),
      ...{ status: 201, reply: 'User', errors: [403, 409, 422] }
    },
    'POST /users/:id/rotate': {
      summary:
        'Gives a user another token, in this reply only. The earlier one and its sessions end at once.',
      body: bodiesOf('user', tokenRequest),
      ...{ isBodyOptional: true, reply: 'User', errors: [403, 404, 409, 422] }
    },
    'DELETE /users/:id': {
      summary: 'Removes a user, with their token and sessions. Their runs stay.',
      ...{ reply: 'RemovedUser', errors: [403, 404, 409] }
    },
    'GET /openapi.json': { summary: 'This description.', reply: { file: JSON_TYPE } },
    'POST /grids': {
      summary: 'Creates a grid.',
      body: bodiesOf('grid', gridRequest),
      ...{ status: 201, reply: 'Grid', errors: [403, 422] }
    },
    'GET /grids': { summary: 'The grids, the newest first.', query: pageQuery, reply: 'GridList' },
    'GET /projects': { summary: 'The projects that runs have.', query: pageQuery, reply: 'ProjectList' },
    'GET /grids/:id': { summary: 'A grid.', reply: 'GridWithResources', errors: [404] },
    'DELETE /grids/:id': endGrid,
    'DELETE /grid/:id': { ...endGrid, description: 'As with the plural.' },
    [`POST ${runs}`]: {
      summary: 'Creates a run from a plan and data files.',
      description: 'All keys of a grid stand together, and each grid starts with the same key.',
      body: { [MULTIPART]: runForm(words) },
      ...{ status: 201, reply: 'Run', errors: [403, 413, 422, 429, 507] }
    },
    [`GET ${runs}`]: {
      summary: 'The runs, the newest first.',
      query: runsQuery,
      reply: 'RunList'
    },
    [`GET ${run}`]: { summary: 'A run, with its grids, files and results.', reply: 'Run', errors: [404] },
    ...bothWays(`${run}/stop`, {
      summary: 'Stops a run, and waits until it has stopped. What was measured is kept.',
      ...{ reply: 'BriefRun', errors: [403, 404] }
    }),
    ...bothWays(`${run}/repeat`, {
      summary: 'Creates a run with the same files, settings, thresholds and grids.',
      ...{ reply: 'BriefRun', errors: [403, 404, 410, 422, 429, 507] }
    }),
    [`GET ${run}/report`]: { summary: 'The report of a run that has ended.', reply: 'Report', errors: [404] },
    [`GET ${run}/result.csv`]: {
      summary: 'The samples of a run that has ended, or those of a grid so far.',
      query: resultQuery,
      ...{ reply: { file: 'text/csv' }, errors: [404, 416] }
    },
    [`GET ${run}/results`]: {
      summary: 'The results of a run by themselves.',
      ...{ query: pageQuery, reply: 'ResultList', errors: [404] }
    },
    [`GET ${run}/archives`]: {
      summary: 'The archives of a run by themselves.',
      ...{ query: pageQuery, reply: 'ArchiveList', errors: [404] }
    },
    [`GET ${run}/archive.tar.gz`]: {
      summary: 'The report and the logs of a run that has ended.',
      ...{ reply: { file: 'application/gzip' }, errors: [404] }
    },
    [`GET ${run}/verdict.json`]: {
      summary:
        "The verdict of a run that has ended, by the thresholds that it has here, as the gate's verdict.json has it.",
      ...{ reply: { file: JSON_TYPE }, errors: [404, 409] }
    },
    [`GET ${run}/files/:file`]: {
      summary: 'An uploaded file.',
      ...{ reply: { file: 'application/octet-stream' }, errors: [403, 404, 416] }
    },
    [`GET ${run}/thresholds`]: {
      summary: 'What must hold in the run, and once it has ended, whether it does.',
      ...{ reply: 'Thresholds', errors: [404] }
    },
    [`PUT ${run}/thresholds`]: {
      summary: 'Sets the thresholds of the run, in place of earlier ones.',
      body: { [JSON_TYPE]: objectOf(thresholdsRequest) },
      ...{ reply: 'Thresholds', errors: [403, 404, 422] }
    },
    [`POST ${run}/pin`]: {
      summary: 'Keeps a run, whatever the limits of the service say.',
      ...{ reply: 'BriefRun', errors: [403, 404] }
    },
    [`POST ${run}/unpin`]: {
      summary: 'Lets the service delete a run that was pinned.',
      ...{ reply: 'BriefRun', errors: [403, 404] }
    },
    'GET /queue': { summary: 'The queue: who waits, and whether it is held.', reply: 'Queue' },
    'POST /queue/resume': {
      summary: 'Lets a held queue go, for admins. Runs that have results end, the others start.',
      ...{ reply: 'Queue', errors: [403] }
    }
  }
}

/** The API document has GET for what changes something; POST works too. */
function bothWays(path: string, operation: Operation): Record<string, Operation> {
  return { [`GET ${path}`]: operation, [`POST ${path}`]: operation }
}

export function describeApi(words: Vocabulary, { url, version }: { url: string; version: string }) {
  const schemas = toJsonSchemaDefs(replySchemas(words), {
    ...CONVERSION,
    overrideRef: ({ referenceId }) => `#/components/schemas/${referenceId}`
  })
  const paths: Record<string, Record<string, unknown>> = {}
  for (const [name, operation] of Object.entries(operationsOf(words))) {
    const [method = '', path = ''] = name.split(' ')
    const address = path.replace(/:(\w+)/g, '{$1}')
    paths[address] = { ...paths[address], [method.toLowerCase()]: describe(name, operation) }
  }
  return {
    openapi: '3.1.0',
    info: {
      title: `The API of the load-test service (${words.runs})`,
      version,
      description: `Version 2, which is the default: \`Accept: ${words.mediaType}\`. Every path is there below /api too, as in the links of replies.`
    },
    servers: [{ url }],
    security: [{ token: [] }, { bearer: [] }],
    paths,
    components: {
      schemas,
      securitySchemes: {
        token: {
          type: 'http',
          scheme: 'basic',
          description: 'The token as the user name, with any password or none.'
        },
        bearer: {
          type: 'http',
          scheme: 'bearer',
          description:
            'The token; or an ID token or JWT access token of an issuer that the service trusts. Opaque access tokens are not accepted.'
        }
      }
    }
  }
}

/** `name` is the method and the path. */
function describe(name: string, operation: Operation): Record<string, unknown> {
  const {
    summary,
    description,
    query,
    body,
    isBodyOptional = false,
    status = 200,
    reply,
    errors = []
  } = operation
  const parameters = [
    ...[...name.matchAll(/:(\w+)/g)].map(([, id]) => ({
      ...{ name: id, in: 'path', required: true, schema: { type: 'string' } }
    })),
    ...Object.entries(query ? objectOf(query).properties : {}).map(([key, schema]) => ({
      ...{ name: key, in: 'query', schema }
    }))
  ]
  const content =
    typeof reply === 'string'
      ? { [JSON_TYPE]: { schema: { $ref: `#/components/schemas/${reply}` } } }
      : { [reply.file]: {} }
  const error = { [JSON_TYPE]: { schema: { $ref: '#/components/schemas/Error' } } }
  return {
    operationId: name.toLowerCase().replace(/\W+/g, '_'),
    summary,
    ...(description && { description }),
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        required: !isBodyOptional,
        content: Object.fromEntries(Object.entries(body).map(([type, schema]) => [type, { schema }]))
      }
    }),
    responses: {
      [status]: { description: 'Done.', content },
      ...Object.fromEntries(
        [...ALWAYS, ...errors].map((code) => [code, { description: ERRORS[code], content: error }])
      ),
      default: { description: 'Any other error.', content: error }
    }
  }
}

type ObjectSchema = ReturnType<typeof objectOf>

/** Without the dialect, which the whole description names. */
function objectOf(schema: Schema) {
  const converted = toJsonSchema(schema, CONVERSION)
  delete converted.$schema
  return converted as { properties: Record<string, unknown>; required?: string[] }
}

/** The same keys as a form or as JSON. */
function bodiesOf(word: string, schema: Schema) {
  const form = formOf(word, schema)
  return { [MULTIPART]: form, [FORM]: form, [JSON_TYPE]: nested(word, schema) }
}

/** `{"grid": {…}}`. */
function nested(word: string, schema: Schema) {
  return { type: 'object', properties: { [word]: objectOf(schema) }, required: [word] }
}

/** `grid[region]` and so on. */
function formOf(word: string, schema: Schema) {
  return renamed(objectOf(schema), (key) => `${word}[${key}]`)
}

function renamed({ properties, required = [] }: ObjectSchema, rename: (key: string) => string) {
  return {
    type: 'object',
    properties: Object.fromEntries(Object.entries(properties).map(([key, schema]) => [rename(key), schema])),
    required: required.map(rename)
  }
}

function runForm(words: Vocabulary) {
  const { properties, required = [] } = objectOf(runRequest(words))
  const own = Object.entries(properties).filter(([key]) => key !== 'grids')
  const keys = { properties: Object.fromEntries(own), required: required.filter((key) => key !== 'grids') }
  const form = renamed(keys, (key) => `${words.run}[${key}]`)
  // Repeated for each grid: a uuid, or the keys of a specification.
  const ofGrid = { uuid: { type: 'string' }, ...objectOf(gridRequest).properties }
  const inList = (key: string): string => `${words.run}[grids][][${key}]`
  const grids = Object.entries(ofGrid).map(([key, schema]): [string, unknown] => [
    inList(key),
    { type: 'array', items: schema }
  ])
  const files = {
    type: 'array',
    items: { type: 'string', contentMediaType: 'application/octet-stream' },
    description: 'The plan, and the files that it reads.'
  }
  return {
    ...form,
    properties: { ...form.properties, ...Object.fromEntries(grids), [`${words.files}[]`]: files },
    required: [...form.required, `${words.files}[]`],
    anyOf: [['uuid'], objectOf(gridRequest).required ?? []].map((of) => ({ required: of.map(inList) }))
  }
}
