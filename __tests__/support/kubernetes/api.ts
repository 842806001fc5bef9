import { readFileSync } from 'node:fs'
import { request, type RequestOptions } from 'node:https'
import { parse } from 'yaml'

interface Kubeconfig {
  readonly 'current-context': string
  readonly contexts: readonly { name: string; context: { cluster: string; user: string } }[]
  readonly clusters: readonly {
    name: string
    cluster: { server: string; 'certificate-authority-data': string }
  }[]
  readonly users: readonly { name: string; user: Readonly<Record<string, string>> }[]
}

/** The fields that tests read, of any kind of object. */
export interface KubeObject {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> }
  readonly spec: Readonly<Record<string, unknown>>
  readonly status?: { readonly phase?: string }
}

/** The API of the cluster of KUBECONFIG, past everything that is to be tested. Users are known by their certificate. */
export class KubeApi {
  readonly context: string
  readonly server: string
  readonly #tls: RequestOptions

  constructor(kubeconfig: string) {
    const config = parse(readFileSync(kubeconfig, 'utf8')) as Kubeconfig
    this.context = config['current-context']
    const { context } = config.contexts.find(({ name }) => name === this.context)!
    const { cluster } = config.clusters.find(({ name }) => name === context.cluster)!
    const { user } = config.users.find(({ name }) => name === context.user)!
    const bytesOf = (text = ''): Buffer => Buffer.from(text, 'base64')
    this.server = cluster.server
    this.#tls = {
      ca: bytesOf(cluster['certificate-authority-data']),
      cert: bytesOf(user['client-certificate-data']),
      key: bytesOf(user['client-key-data'])
    }
  }

  async list(path: string): Promise<KubeObject[]> {
    return ((await this.request('GET', path)) as { items: KubeObject[] }).items
  }

  async request(method: string, path: string, body?: unknown): Promise<unknown> {
    const patch = Array.isArray(body) ? 'application/json-patch+json' : 'application/merge-patch+json'
    const headers = { 'content-type': method === 'PATCH' ? patch : 'application/json' }
    const [status, text] = await new Promise<[number, string]>((resolve, reject) => {
      const outgoing = request(`${this.server}${path}`, { ...this.#tls, method, headers }, (incoming) => {
        let text = ''
        incoming.on('data', (chunk: Buffer) => (text += chunk.toString()))
        incoming.on('error', reject)
        incoming.on('end', () => resolve([incoming.statusCode ?? 0, text]))
      })
      outgoing.on('error', reject)
      outgoing.end(body === undefined ? undefined : JSON.stringify(body))
    })
    if (status >= 300) throw new Error(`${method} ${path}: ${status} ${text}`)
    return JSON.parse(text) as unknown
  }
}
