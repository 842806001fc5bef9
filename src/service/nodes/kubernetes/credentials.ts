import type { KubeConfig } from '@kubernetes/client-node'
import { spawn, type SpawnOptions } from 'node:child_process'
import http from 'node:http'
import https, { type RequestOptions } from 'node:https'
import { createSecureContext } from 'node:tls'
import { orAborted } from '../../../contract/clock.js'
import { messageOf } from '../../../contract/text.js'
import { createRangeCheck, isLoopback } from '../../addresses.js'
import { attempt } from '../../errors.js'
import { ClusterError } from './cluster.js'
import { loadKubeconfig } from './kubeconfig.js'

export interface Access {
  readonly headers: Readonly<Record<string, string>>
  /** For requests and streams, each on a connection of its own, so that none gets one that is about to close. */
  readonly agent: http.Agent
}

/** Tokens of plugins live for minutes; reading files and asking plugins for each of a thousand requests is too slow. */
const KEPT_MS = 20_000
/** A plugin may hang; the step must not. */
const ASK_WITHIN_MS = 30_000

/** The credentials of a context. They are read again and again, because tokens expire and files are replaced during a run. */
export class Credentials {
  #access: Promise<Access> | undefined
  #askedAtMs = 0
  #agent: { key: string; agent: http.Agent } | undefined

  constructor(
    private config: KubeConfig,
    private readonly paths: string | undefined,
    private readonly context: string,
    private readonly env: NodeJS.ProcessEnv,
    private readonly askWithinMs = ASK_WITHIN_MS
  ) {
    limitPlugins(config, askWithinMs)
  }

  /** The same for all that ask at the same time: a plugin is a process. */
  access(signal?: AbortSignal): Promise<Access> {
    if (this.#access === undefined || performance.now() - this.#askedAtMs > KEPT_MS) {
      this.#askedAtMs = performance.now()
      const asked = this.#ask()
      this.#access = asked
      asked.catch(() => {
        if (this.#access === asked) this.#access = undefined
      })
    }
    return orAborted(this.#access, signal)
  }

  /** After these were not accepted: reads the files again and forgets every token. */
  async renew(refused: Access, signal?: AbortSignal): Promise<Access> {
    const current = await this.access(signal)
    if (current !== refused) return current
    this.config = loadKubeconfig(this.paths, this.env)
    this.config.setCurrentContext(this.context)
    limitPlugins(this.config, this.askWithinMs)
    this.#access = undefined
    return this.access(signal)
  }

  async #ask(): Promise<Access> {
    const options: RequestOptions = { headers: {} }
    const cluster = this.config.getCurrentCluster()
    if (cluster === null)
      throw new ClusterError(
        `The context ${this.context} is not in the kubeconfig any more, or its cluster is not.`
      )
    const proxyUrl = cluster.proxyUrl ?? proxyFor(cluster.server, this.env)
    if (proxyUrl !== undefined) Object.assign(cluster, { proxyUrl })
    const late = AbortSignal.timeout(this.askWithinMs)
    try {
      // Without TLS, as with `kubectl proxy`, nobody shows credentials.
      if (!cluster.server.startsWith('http:') || cluster.skipTLSVerify)
        await orAborted(this.config.applyToHTTPSOptions(options), late)
    } catch (error) {
      const why = late.aborted ? new Error(`no answer within ${this.askWithinMs / 1000} s`) : error
      throw new ClusterError(describePlugin(this.config, this.context, why))
    }
    return { headers: headersOf(options), agent: this.#agentFor(options, cluster.server, proxyUrl) }
  }

  /** A new one only for new certificates: otherwise every connection would read them again and keep 100 KB. */
  #agentFor(options: RequestOptions, server: string, proxyUrl: string | undefined): http.Agent {
    const { ca, cert, key, rejectUnauthorized, servername, agent } = options
    const parts = [ca, cert, key, rejectUnauthorized, servername].map(String)
    const name = JSON.stringify([server, proxyUrl, ...parts])
    if (this.#agent?.key === name) return this.#agent.agent
    const make = (): http.Agent => {
      if (proxyUrl !== undefined) return agent as http.Agent
      if (server.startsWith('http:')) return new http.Agent()
      const secureContext = createSecureContext({ ca, cert, key })
      return new https.Agent({
        ...{ secureContext, ...(rejectUnauthorized !== undefined && { rejectUnauthorized }) },
        ...(servername !== undefined && { servername })
      })
    }
    this.#agent = { key: name, agent: make() }
    return this.#agent.agent
  }
}

/** A token that was read from a file ends in a line break. */
function headersOf({ headers, auth }: RequestOptions): Record<string, string> {
  const given = Object.entries(headers ?? {}).map(([name, value]) => [name, String(value).trim()])
  const basic = auth ? [['Authorization', `Basic ${Buffer.from(auth).toString('base64')}`]] : []
  return Object.fromEntries([...given, ...basic]) as Record<string, string>
}

/** What a plugin wrote to its error output helps; what it wrote to its output is secret, and JSON's errors quote it. */
function describePlugin(config: KubeConfig, context: string, error: unknown): string {
  const plugin = (config.getCurrentUser()?.exec as { command?: string } | null | undefined)?.command
  const what = plugin === undefined ? 'cannot be read' : `could not be obtained from \`${plugin}\``
  const isOfOutput = error instanceof SyntaxError || error instanceof TypeError
  const why = isOfOutput ? 'its output is not an ExecCredential' : messageOf(error).trim().slice(0, 2_000)
  return `The credentials of the context ${context} ${what}: ${why}. Try \`kubectl --context ${context} version\` in the same environment.`
}

/** The package starts plugins and waits forever; there is no other way to its processes. */
function limitPlugins(config: KubeConfig, timeout: number): void {
  const { authenticators = [] } = config as unknown as { authenticators?: { execFn?: unknown }[] }
  const start = (file: string, args: readonly string[] = [], options: SpawnOptions = {}) =>
    spawn(file, args, { ...options, timeout, killSignal: 'SIGKILL' })
  for (const authenticator of authenticators) if (authenticator.execFn) authenticator.execFn = start
}

/** The proxy for a server, by the variables that kubectl honours; undefined to connect directly. */
export function proxyFor(server: string, env: NodeJS.ProcessEnv): string | undefined {
  const url = new URL(server)
  const read = (name: string): string | undefined =>
    [env[name], env[name.toUpperCase()]].find((value) => value !== undefined && value !== '')
  const proxy = read(url.protocol === 'http:' ? 'http_proxy' : 'https_proxy')
  if (proxy === undefined || isExcluded(url, read('no_proxy') ?? '')) return undefined
  return proxy.includes('://') ? proxy : `http://${proxy}`
}

/** Loopback never goes through a proxy. */
function isExcluded({ hostname, port, protocol }: URL, noProxy: string): boolean {
  const host = hostname.replace(/^\[|\]$/g, '').toLowerCase()
  if (isLoopback(host)) return true
  const hostAndPort = `${host}:${port || (protocol === 'http:' ? '80' : '443')}`
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((rule) => rule !== '')
    .some((rule) => rule === '*' || rule === hostAndPort || isWithin(host, rule))
}

function isWithin(host: string, rule: string): boolean {
  if (rule.includes('/'))
    return /\/\d+$/.test(rule) && (attempt(() => createRangeCheck([rule])(host)) ?? false)
  const domain = rule.replace(/^\*?\./, '')
  return (host === domain && !rule.startsWith('.') && !rule.startsWith('*.')) || host.endsWith(`.${domain}`)
}
