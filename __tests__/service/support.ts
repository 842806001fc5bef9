import { mkdtempSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  type EmbeddedService,
  type Service,
  type ServiceOptions,
  startService
} from '../../src/service/server.js'
import { openDatabase } from '../../src/service/store/database.js'
import { openStore } from '../../src/service/serve.js'
import type { GridRecord, RunRecord } from '../../src/contract/records.js'
import { RunTable, GridTable } from '../../src/service/store/tables.js'
import type { Store } from '../../src/service/store/store.js'
import { removeFolder } from '../support/remove-folder.js'

export const PLAN = `<?xml version="1.0" encoding="UTF-8"?>
<jmeterTestPlan version="1.2"><hashTree><TestPlan testname="t"></TestPlan><hashTree>
<ThreadGroup testname="users"></ThreadGroup><hashTree>
<HTTPSamplerProxy guiclass="x" testclass="HTTPSamplerProxy" testname="home" enabled="true"></HTTPSamplerProxy><hashTree/>
<HTTPSamplerProxy testname="check &amp; out" enabled="true"></HTTPSamplerProxy><hashTree/>
<HTTPSamplerProxy testname="off" enabled="false"></HTTPSamplerProxy><hashTree/>
</hashTree></hashTree></hashTree></jmeterTestPlan>
`

/** The fields that tests read, in documents of any kind. */
export interface Doc {
  readonly uuid: string
  readonly batch_id: string
  readonly name: string
  readonly tool: string
  readonly status: string
  readonly apdex: string | null
  readonly permalink: string
  readonly remote_errors: string | null
  readonly started: string
  readonly stopped: string
  readonly region: string
  readonly href: string
  readonly stop_after: number
  readonly summary: string
  readonly warnings: readonly string[]
  readonly mean_throughput: number
  readonly total: number
  readonly error: string
  readonly _links: Readonly<Record<'self' | 'next' | 'last', { href: string }>>
  readonly _embedded: Readonly<
    Record<'grids' | 'files' | 'results' | 'runs' | 'acmes' | 'run_files' | 'acme_files', readonly Doc[]>
  >
}

/** The address of a service, in this process or in another one. */
export type Address = Pick<Service, 'url' | 'token'>

export interface Reply {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly text: string
  readonly bytes: Buffer
  readonly json: Doc
}

export interface Call {
  readonly headers?: Record<string, string>
  readonly body?: string | Buffer
  readonly token?: string | null
  /** Does not send the length of the body. */
  readonly isChunked?: boolean
}

/** Temporary folders of a test file, all removed by one call. */
export function createFolders(): { create(): string; remove(): void } {
  const folders: string[] = []
  return {
    create: () => {
      const folder = mkdtempSync(join(tmpdir(), 'loadgate-local-'))
      folders.push(folder)
      return folder
    },
    remove: () => folders.forEach((folder) => removeFolder(folder))
  }
}

/** What is in the database, seen from outside. */
export function readTables<T>(dataDir: string, read: (tables: { runs: RunTable; grids: GridTable }) => T): T {
  const database = openDatabase(dataDir)
  try {
    const log = (): void => undefined
    return read({ runs: new RunTable(database, log), grids: new GridTable(database, log) })
  } finally {
    database.close()
  }
}

export const readRun = (dataDir: string, id: string): RunRecord =>
  readTables(dataDir, ({ runs }) => runs.find(id)!)

export const readGrid = (dataDir: string, id: string): GridRecord =>
  readTables(dataDir, ({ grids }) => grids.find(id)!)

/** Starts services and creates folders; one call closes the services and removes all folders. */
export function createServices(): {
  folder(): string
  start(
    options?: Partial<ServiceOptions>
  ): Promise<EmbeddedService & { lines: string[]; dataDir: string; store: Store }>
  closeAll(): Promise<void>
} {
  const folders = createFolders()
  const services: Service[] = []
  return {
    folder: () => folders.create(),
    start: async (options = {}) => {
      const lines: string[] = []
      const dataDir = options.dataDir ?? folders.create()
      const log = (line: string): void => void lines.push(line)
      const store = options.store ?? openStore(dataDir, { log, clock: options.clock })
      const service = await startService({ engine: 'rehearsal', log, ...options, store, dataDir })
      services.push(service)
      return { ...service, lines, dataDir, store }
    },
    closeAll: async () => {
      await Promise.all(services.splice(0).map((service) => service.close()))
      folders.remove()
    }
  }
}

/** A request as it goes over the wire, with arbitrary headers. */
export function send(service: Address, method: string, path: string, call: Call = {}): Promise<Reply> {
  const { port } = new URL(service.url)
  const token = call.token === undefined ? service.token : call.token
  const authorization =
    token === null ? {} : { authorization: `Basic ${Buffer.from(`${token}:`).toString('base64')}` }
  const length = call.isChunked ? { 'transfer-encoding': 'chunked' } : lengthOf(call.body)
  return new Promise((resolve, reject) => {
    const outgoing = request(
      {
        host: '127.0.0.1',
        port,
        method,
        path,
        headers: { ...authorization, ...length, ...call.headers },
        agent: false
      },
      (incoming) => {
        const chunks: Buffer[] = []
        incoming.on('data', (chunk: Buffer) => chunks.push(chunk))
        incoming.on('error', reject)
        incoming.on('end', () => {
          const bytes = Buffer.concat(chunks)
          const text = bytes.toString('utf8')
          resolve({
            status: incoming.statusCode ?? 0,
            headers: incoming.headers,
            ...{ text, bytes },
            json: parseDocument(text)
          })
        })
      }
    )
    outgoing.on('error', reject)
    outgoing.end(call.body)
  })
}

function lengthOf(body: string | Buffer | undefined): Record<string, string> {
  return body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
}

/** A body that is not JSON has no fields. */
function parseDocument(text: string): Doc {
  try {
    return JSON.parse(text) as Doc
  } catch {
    return {} as Doc
  }
}

export const get = (service: Address, path: string, call?: Call): Promise<Reply> =>
  send(service, 'GET', path, call)

export function postJson(service: Address, path: string, body: unknown): Promise<Reply> {
  return send(service, 'POST', path, {
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body)
  })
}

export type FormPart =
  readonly [name: string, value: string] | { name: string; fileName: string; content: string | Buffer }

/** A multipart body as curl sends it, parts in the order given. */
export function formOf(parts: readonly FormPart[]): Required<Pick<Call, 'headers' | 'body'>> {
  const boundary = '------------------------d74496d66958873e'
  const pieces = parts.flatMap((part) =>
    'fileName' in part
      ? [
          `--${boundary}\r\nContent-Disposition: form-data; name="${part.name}"; filename="${part.fileName}"\r\nContent-Type: application/octet-stream\r\n\r\n`,
          part.content,
          '\r\n'
        ]
      : [`--${boundary}\r\nContent-Disposition: form-data; name="${part[0]}"\r\n\r\n${part[1]}\r\n`]
  )
  return {
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
    body: Buffer.concat([...pieces, `--${boundary}--\r\n`].map((piece) => Buffer.from(piece)))
  }
}

export function postForm(service: Address, path: string, parts: readonly FormPart[]): Promise<Reply> {
  return send(service, 'POST', path, formOf(parts))
}

export const SPEC: readonly (readonly [string, string])[] = [
  ['infrastructure', 'demand'],
  ['instance_quantity', '1'],
  ['region', 'us-east-1'],
  ['instance_type', 'm5.large'],
  ['stop_after', '10']
]

/** The fields of one grid specification within a run. */
export function specFields(overrides: Record<string, string> = {}, word = 'run'): FormPart[] {
  return SPEC.map(([key, value]) => [`${word}[grids][][${key}]`, overrides[key] ?? value])
}

export function runForm(
  fields: Record<string, string> = {},
  grids: readonly FormPart[] = specFields(),
  plan: string | Buffer = PLAN
): FormPart[] {
  return [
    ['run[tool]', 'jmeter'],
    ...Object.entries(fields).map(([key, value]): FormPart => [`run[${key}]`, value]),
    ...grids,
    { name: 'run_files[]', fileName: 'plan.jmx', content: plan }
  ]
}

/** Creates a run with a form and returns its id. */
export async function createRun(service: Address, parts: readonly FormPart[] = runForm()): Promise<string> {
  const reply = await postForm(service, '/runs', parts)
  if (reply.status !== 201) throw new Error(`no run was created: ${reply.status} ${reply.text}`)
  return reply.json.uuid
}

/** Polls for something that no reply shows. */
export async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 1500) throw new Error('it never came to pass')
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

/** Polls until the document at the path has one of the statuses. */
export async function waitForStatus(
  service: Address,
  path: string,
  wanted: readonly string[],
  patienceMs = 60_000
): Promise<Reply> {
  const deadlineMs = Date.now() + patienceMs
  for (;;) {
    const reply = await get(service, path)
    if (wanted.includes(reply.json.status)) return reply
    if (Date.now() > deadlineMs) throw new Error(`${path} is still ${reply.text}`)
    await new Promise((resolve) => setTimeout(resolve, 10))
  }
}

export async function finishRun(service: Address, parts: readonly FormPart[] = runForm()): Promise<Reply> {
  const id = await createRun(service, parts)
  return waitForStatus(service, `/runs/${id}`, ['finished', 'problem'])
}
