import { createServer } from 'node:http'
import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { unzip } from './unzip.js'

/** What the runner offers to the artifact client: a Twirp service, and a blob store that takes blocks. */
export class ArtifactService {
  readonly artifacts = new Map<string, Map<string, Buffer>>()
  /** Answers creation with this status instead; 0 resets the connection. */
  failWith: number | undefined
  failText = '{"msg":"refused"}'
  /** How often it does so. */
  failures = Infinity
  attempts = 0
  /** Names that an earlier attempt of the workflow run has used: they must be deleted first. */
  readonly taken = new Set<string>()
  readonly deleted: string[] = []
  readonly #blocks = new Map<string, Map<string, Buffer>>()
  readonly #blobs = new Map<string, Buffer>()
  #server: Server | undefined

  async start(): Promise<this> {
    this.#server = createServer((request, response) => {
      void this.#receive(request, response)
    })
    await new Promise<void>((resolve) => this.#server?.listen(0, '127.0.0.1', resolve))
    return this
  }

  async stop(): Promise<void> {
    this.#server?.closeAllConnections()
    await new Promise((resolve) => this.#server?.close(resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server?.address() as AddressInfo).port}`
  }

  /** The variables by which a step finds this service. */
  get env(): Record<string, string> {
    const claims = Buffer.from(JSON.stringify({ scp: 'Actions.Results:a:b' })).toString('base64url')
    return { ACTIONS_RESULTS_URL: `${this.url}/`, ACTIONS_RUNTIME_TOKEN: `e30.${claims}.x` }
  }

  async #receive(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
    const body = Buffer.concat(chunks)
    const url = new URL(request.url ?? '', this.url)
    if (url.pathname.startsWith('/blob/')) this.#blob(url, body, response)
    else
      this.#twirp(
        url.pathname.split('/').at(-1) ?? '',
        JSON.parse(body.toString() || '{}') as Twirp,
        response
      )
  }

  #twirp(method: string, { name = '' }: Twirp, response: ServerResponse): void {
    if (method === 'ListArtifacts' || method === 'DeleteArtifact') {
      this.#listOrDelete(method, name, response)
      return
    }
    if (method === 'CreateArtifact' && this.taken.has(name)) {
      const msg = 'an artifact with this name already exists on the workflow run'
      response.writeHead(409, JSON_TYPE).end(JSON.stringify({ code: 'already_exists', msg }))
      return
    }
    if (method === 'CreateArtifact') {
      this.attempts++
      if (this.attempts > this.failures) this.failWith = undefined
      if (this.failWith === 0) response.socket?.destroy()
      else if (this.failWith !== undefined) response.writeHead(this.failWith, JSON_TYPE).end(this.failText)
      else
        response.writeHead(200, JSON_TYPE).end(
          JSON.stringify({
            ok: true,
            signed_upload_url: `${this.url}/blob/${encodeURIComponent(name)}?sig=signature-of-the-upload`
          })
        )
      return
    }
    const blob = this.#blobs.get(name)
    if (blob !== undefined) this.artifacts.set(name, unzip(blob))
    response.writeHead(200, JSON_TYPE).end(JSON.stringify({ ok: true, artifact_id: '4711' }))
  }

  #listOrDelete(method: string, name: string, response: ServerResponse): void {
    const ids = { workflow_run_backend_id: 'a', workflow_job_run_backend_id: 'b' }
    const listed = [...this.taken].map((each) => ({ ...ids, database_id: '1', name: each, size: '1' }))
    if (method === 'DeleteArtifact' && this.taken.delete(name)) this.deleted.push(name)
    const reply = method === 'DeleteArtifact' ? { ok: true, artifact_id: '1' } : { artifacts: listed }
    response.writeHead(200, JSON_TYPE).end(JSON.stringify(reply))
  }

  #blob(url: URL, body: Buffer, response: ServerResponse): void {
    const name = decodeURIComponent(url.pathname.slice('/blob/'.length))
    const blocks = this.#blocks.get(name) ?? new Map<string, Buffer>()
    this.#blocks.set(name, blocks)
    const id = url.searchParams.get('blockid')
    if (id !== null) blocks.set(id, body)
    else if (url.searchParams.get('comp') === 'blocklist') {
      const ids = [...body.toString().matchAll(/<Latest>([^<]+)<\/Latest>/g)].map((match) => match[1] ?? '')
      this.#blobs.set(name, Buffer.concat(ids.map((each) => blocks.get(each) ?? Buffer.alloc(0))))
    } else this.#blobs.set(name, body)
    response.writeHead(201, { etag: '"1"', 'last-modified': new Date().toUTCString() }).end()
  }
}

interface Twirp {
  readonly name?: string
}

const JSON_TYPE = { 'content-type': 'application/json' }
