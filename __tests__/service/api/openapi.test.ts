import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { operationsOf } from '../../../src/service/api/openapi.js'
import { apiRoutes, type ServicePorts } from '../../../src/service/api/routes.js'
import { createServices, get, postForm, type Reply, runForm, send, SPEC, waitForStatus } from '../support.js'

interface Description {
  readonly openapi: string
  readonly servers: { url: string }[]
  readonly paths: Record<string, Record<string, OperationDescription>>
  readonly components: { readonly schemas: Record<string, unknown> }
}
interface OperationDescription {
  readonly parameters?: { name: string; in: string }[]
  readonly requestBody?: { content: Record<string, { schema: { properties: Record<string, unknown> } }> }
  readonly responses: Record<string, { content: Record<string, { schema?: { $ref: string } }> }>
}

const services = createServices()
let service: Awaited<ReturnType<typeof services.start>>
let description: Description
let check: (name: string, document: unknown) => string[]

beforeAll(async () => {
  service = await services.start({ serviceName: 'acme' })
  const reply = await get(service, '/api/openapi.json')
  expect(reply.status).toBe(200)
  description = reply.json as unknown as Description
  check = validatorOf(description)
})
afterAll(() => services.closeAll())

/** What a document has beyond its schema counts as an error too: each field is in the description. */
function validatorOf({ components }: Description): (name: string, document: unknown) => string[] {
  const ajv = new Ajv2020({
    allErrors: true,
    formats: { 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ }
  })
  ajv.addKeyword('components')
  ajv.addSchema({ $id: 'api', components: closed(components) })
  return (name, document) => {
    const validate = ajv.getSchema(`api#/components/schemas/${name}`)
    if (!validate) throw new Error(`there is no schema ${name}`)
    return validate(document)
      ? []
      : (validate.errors ?? []).map(
          (error) => `${error.instancePath} ${error.message} ${JSON.stringify(error.params)}`
        )
  }
}

function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([key, value]) => [key, closed(value)]))
  return 'properties' in schema && 'type' in schema ? { ...inner, additionalProperties: false } : inner
}

/** Holds a reply against what the description says about its operation and status. */
function hold(operation: string, reply: Reply): void {
  const [method = '', path = ''] = operation.split(' ')
  const found = description.paths[path]?.[method.toLowerCase()]
  const content = (found?.responses[reply.status] ?? found?.responses.default)?.content
  const type = String(reply.headers['content-type']).split(';')[0]!
  expect([operation, Object.keys(content ?? {})]).toEqual([operation, [type]])
  const name = content?.[type]?.schema?.$ref.split('/').at(-1)
  const problems = name === undefined ? [] : check(name, reply.json)
  expect([operation, reply.status, problems]).toEqual([operation, reply.status, []])
}

describe('the description of the API', () => {
  test('has every route, and no other', () => {
    const words = vocabularyOf('acme')
    const ports = { facts: { words, store: {} } } as unknown as ServicePorts
    // Without what is only refused.
    const offered = apiRoutes(ports).filter(([, , config]) => config.open === undefined)
    const routes = offered.map(([method, path]) => `${method} ${path}`)
    expect(Object.keys(operationsOf(words)).sort()).toEqual(routes.sort())
  })

  test('has the words of the service, and its address', () => {
    expect(description).toMatchObject({ openapi: '3.1.0', servers: [{ url: service.url }] })
    const form =
      description.paths['/acmes']!.post!.requestBody!.content['multipart/form-data']!.schema.properties
    expect(Object.keys(form)).toEqual(
      expect.arrayContaining(['acme[tool]', 'acme[grids][][region]', 'acme[grids][][uuid]', 'acme_files[]'])
    )
    expect(JSON.stringify(description)).not.toMatch(/\bruns?(?:_files|\[)|"\/runs/)
  })

  test('is there at both addresses, for those with a token only', async () => {
    expect((await get(service, '/openapi.json')).json).toEqual(description)
    expect((await send(service, 'HEAD', '/openapi.json')).status).toBe(200)
    expect((await get(service, '/openapi.json', { token: null })).status).toBe(401)
  })
})

describe('replies are as the description says', () => {
  const form = runForm({ project: 'Shop' }).map((part) =>
    'fileName' in part
      ? { ...part, name: 'acme_files[]' }
      : ([part[0].replace('run[', 'acme['), part[1]] as const)
  )
  const at = (path: string): Promise<Reply> => get(service, path)

  test('a run from its creation to its results', async () => {
    const created = await postForm(service, '/acmes', form)
    hold('POST /acmes', created)
    const { uuid } = created.json
    const gridId = created.json._embedded.grids[0]!.uuid
    hold('GET /grids/{id}', await at(`/grids/${gridId}`))
    await waitForStatus(service, `/acmes/${uuid}`, ['finished', 'problem'])
    const run = await at(`/acmes/${uuid}`)
    hold('GET /acmes/{id}', run)
    expect(run.json._embedded.results).toHaveLength(1)
    hold('GET /acmes', await at('/acmes?status=finished&page=1'))
    hold('GET /acmes/{id}/report', await at(`/acmes/${uuid}/report`))
    hold('GET /acmes/{id}/result.csv', await at(`/acmes/${uuid}/result.csv?grid_id=${gridId}`))
    hold('GET /acmes/{id}/results', await at(`/acmes/${uuid}/results`))
    hold('GET /acmes/{id}/archives', await at(`/acmes/${uuid}/archives`))
    hold('GET /acmes/{id}/archive.tar.gz', await at(`/acmes/${uuid}/archive.tar.gz`))
    hold('GET /grids', await at('/grids'))
    hold('GET /projects', await at('/projects'))
    hold('GET /acmes/{id}/files/{file}', await at(new URL(run.json._embedded.files[0]!.href).pathname))
    const thresholds = { thresholds: 'p95 < 1ms\nerror_rate < 100%', warm_up: 0 }
    const headers = { 'content-type': 'application/json' }
    const put = { headers, body: JSON.stringify(thresholds) }
    hold('PUT /acmes/{id}/thresholds', await send(service, 'PUT', `/acmes/${uuid}/thresholds`, put))
    const judged = await at(`/acmes/${uuid}/thresholds`)
    hold('GET /acmes/{id}/thresholds', judged)
    expect(judged.text).toContain('"verdict":"failed"')
    const repeated = await at(`/acmes/${uuid}/repeat`)
    hold('GET /acmes/{id}/repeat', repeated)
    hold('GET /acmes/{id}/stop', await at(`/acmes/${repeated.json.uuid}/stop`))
    hold('POST /acmes/{id}/repeat', await send(service, 'POST', `/acmes/${uuid}/repeat`))
    hold('POST /acmes/{id}/stop', await send(service, 'POST', `/acmes/${uuid}/stop`))
  })

  test('a grid, and the account', async () => {
    const created = await postForm(
      service,
      '/grids',
      SPEC.map(([key, value]) => [`grid[${key}]`, value] as const)
    )
    hold('POST /grids', created)
    await waitForStatus(service, `/grids/${created.json.uuid}`, ['started'])
    hold('GET /grids/{id}', await at(`/grids/${created.json.uuid}`))
    hold('DELETE /grids/{id}', await send(service, 'DELETE', `/grids/${created.json.uuid}`))
    hold('DELETE /grid/{id}', await send(service, 'DELETE', `/grid/${created.json.uuid}`))
    const account = await at('/account')
    hold('GET /account', account)
    hold('GET /users/{id}', await at('/users/1'))
    hold('GET /openapi.json', await at('/openapi.json'))
  })

  test.each([
    { operation: 'GET /account', status: 401, send: () => get(service, '/account', { token: null }) },
    {
      operation: 'GET /account',
      status: 406,
      send: () => get(service, '/account', { headers: { accept: 'application/vnd.acme.v1+json' } })
    },
    { operation: 'GET /acmes/{id}', status: 404, send: () => at('/acmes/none') },
    {
      operation: 'POST /acmes',
      status: 422,
      send: () => postForm(service, '/acmes', [['acme[tool]', 'make']])
    },
    {
      operation: 'POST /grids',
      status: 422,
      send: () => postForm(service, '/grids', [['grid[region]', '?']])
    },
    { operation: 'GET /acmes', status: 400, send: () => at('/acmes?page=0') }
  ])('$operation with $status', async ({ operation, status, send }) => {
    const reply = await send()
    expect(reply.status).toBe(status)
    hold(operation, reply)
  })

  test('a document with a field that is not described, or without one that is, is refused', async () => {
    const { json } = await at('/account')
    expect(check('Account', json)).toEqual([])
    expect(check('Account', { ...json, more: 1 })).toHaveLength(1)
    expect(check('Account', { ...json, email: undefined })).toHaveLength(1)
  })
})
