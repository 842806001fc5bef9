import type { KubeConfig } from '@kubernetes/client-node'
import http from 'node:http'
import https, { type RequestOptions } from 'node:https'
import { createSecureContext } from 'node:tls'
import type { ChildProcess, spawn } from 'node:child_process'
import { BlockList, isIP } from 'node:net'
import { orAborted } from '../../../contract/clock.js'
import { messageOf } from '../../../contract/text.js'
import { ClusterError } from './cluster.js'
import { loadKubeconfig, withoutCredentials } from './kubeconfig.js'

/** How one connects as the user of a context. */
export interface Access {
  readonly headers: Readonly<Record<string, string>>
  /** For requests, one after another on the same connections. */
  readonly agent: http.Agent
  /** For streams, each on a connection of its own. */
  readonly streamAgent: http.Agent
}

/** Tokens of plugins live for minutes; reading files and asking plugins for each of a thousand requests is too slow. */
const KEPT_MS = 20_000
/** A plugin that asks somebody else may hang; the step must not. */
const ASK_WITHIN_MS = 30_000

/** The credentials of a context: tokens expire and files are replaced during a run, so they are asked for again and again. */
export class Credentials {
  readonly #paths: string | undefined
  readonly #context: string
  readonly #env: NodeJS.ProcessEnv
  #config: KubeConfig
  #access: Promise<Access> | undefined
  #askedAtMs = 0
  #agents: { key: string; agent: http.Agent; streamAgent: http.Agent } | undefined
  readonly #plugins = new Plugins()
  #waiting = 0

  constructor(
    config: KubeConfig,
    paths: string | undefined,
    context: string,
    env: NodeJS.ProcessEnv,
    private readonly askWithinMs = ASK_WITHIN_MS
  ) {
    this.#config = config
    this.#plugins.watch(config)
    this.#paths = paths
    this.#context = context
    this.#env = env
  }

  /** The same for all that ask at the same time: a plugin is a process. When nobody waits for it any more, it is ended. */
  async access(signal?: AbortSignal): Promise<Access> {
    if (this.#access === undefined || performance.now() - this.#askedAtMs > KEPT_MS) {
      this.#askedAtMs = performance.now()
      const asked = this.#ask()
      this.#access = asked
      asked.catch(() => this.#forget(asked))
    }
    const asked = this.#access
    this.#waiting++
    try {
      return await orAborted(asked, signal)
    } finally {
      this.#waiting--
      if (signal?.aborted && this.#waiting === 0) this.#plugins.end()
    }
  }

  /** After these were not accepted: reads the files again and forgets every token. */
  async renew(refused: Access, signal?: AbortSignal): Promise<Access> {
    const current = await this.access(signal)
    if (current !== refused) return current
    const config = loadKubeconfig(this.#paths, this.#env)
    config.setCurrentContext(this.#context)
    this.#plugins.watch(config)
    this.#config = config
    this.#access = undefined
    return this.access(signal)
  }

  #forget(asked: Promise<Access>): void {
    if (this.#access === asked) this.#access = undefined
  }

  async #ask(): Promise<Access> {
    const options: RequestOptions = { headers: {} }
    const cluster = this.#config.getCurrentCluster()
    if (cluster === null)
      throw new ClusterError(
        `The context ${this.#context} is not in the kubeconfig any more, or its cluster is not.`,
        undefined
      )
    const proxyUrl = cluster.proxyUrl ?? proxyFor(cluster.server, this.#env)
    if (proxyUrl !== undefined) Object.assign(cluster, { proxyUrl })
    const isPlain = cluster.server.startsWith('http:') && !cluster.skipTLSVerify
    try {
      if (isPlain) await withoutCredentials(cluster).applyToHTTPSOptions(options)
      else await this.#applyWithin(options)
    } catch (error) {
      throw new ClusterError(describePlugin(this.#config, this.#context, error), undefined)
    }
    return { headers: headersOf(options), ...this.#agentsFor(options, cluster.server, proxyUrl) }
  }

  async #applyWithin(options: RequestOptions): Promise<void> {
    const late = new AbortController()
    const timer = setTimeout(() => {
      late.abort(new Error(`no answer within ${this.askWithinMs / 1000} s`))
      this.#plugins.end()
    }, this.askWithinMs)
    try {
      await orAborted(this.#config.applyToHTTPSOptions(options), late.signal)
    } finally {
      clearTimeout(timer)
    }
  }

  /** New agents only for new certificates, so that connections are used again. */
  #agentsFor(options: RequestOptions, server: string, proxyUrl: string | undefined) {
    const { ca, cert, key, rejectUnauthorized, servername, agent } = options
    const tls = { ca, cert, key, rejectUnauthorized, servername }
    const name = JSON.stringify([server, proxyUrl, ...Object.values(tls).map(String)])
    if (this.#agents?.key === name) return this.#agents
    const proxied = proxyUrl === undefined ? undefined : (agent as http.Agent)
    const isPlain = server.startsWith('http:')
    const { Agent } = isPlain ? http : https
    const given = Object.fromEntries(Object.entries(tls).filter(([, value]) => value !== undefined))
    // Else every connection reads the certificates again and keeps them: 100 KB and a millisecond for each of a thousand streams.
    if (!isPlain) Object.assign(given, { secureContext: createSecureContext({ ca, cert, key }) })
    this.#agents = {
      key: name,
      agent: proxied ?? new Agent({ ...given, keepAlive: true, maxSockets: 16 }),
      streamAgent: proxied ?? new Agent({ ...given, keepAlive: false })
    }
    return this.#agents
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
  const what = plugin === undefined ? 'cannot be read' : `cannot be had from \`${plugin}\``
  const isOfOutput = error instanceof SyntaxError || error instanceof TypeError
  const why = isOfOutput ? 'its output is not an ExecCredential' : messageOf(error).trim().slice(0, 2_000)
  return `The credentials of the context ${context} ${what}: ${why}. Try \`kubectl --context ${context} version\` in the same environment.`
}

const KILL_AFTER_MS = 1000

interface WithExec {
  execFn?: typeof spawn
}

/** The running plugins of a kubeconfig: the package starts them and waits for ever. */
class Plugins {
  readonly #running = new Set<ChildProcess>()

  /** From now on, what this one starts is known. */
  watch(config: KubeConfig): void {
    // No other way leads to its processes.
    const { authenticators = [] } = config as unknown as { authenticators?: WithExec[] }
    for (const authenticator of authenticators) {
      const start = authenticator.execFn
      if (start === undefined) continue
      authenticator.execFn = ((...args: Parameters<typeof spawn>) => {
        const child = start(...args)
        this.#running.add(child)
        child.once('close', () => this.#running.delete(child))
        return child
      }) as typeof spawn
    }
  }

  /** Nobody waits for them any more. */
  end(): void {
    for (const child of this.#running) {
      this.#running.delete(child)
      child.kill('SIGTERM')
      setTimeout(() => child.kill('SIGKILL'), KILL_AFTER_MS).unref()
    }
  }
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
  if (host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'))) return true
  const hostAndPort = `${host}:${port || (protocol === 'http:' ? '80' : '443')}`
  return noProxy
    .toLowerCase()
    .split(/[\s,]+/)
    .filter((rule) => rule !== '')
    .some((rule) => rule === '*' || rule === hostAndPort || isWithin(host, rule))
}

function isWithin(host: string, rule: string): boolean {
  if (rule.includes('/')) return isInNetwork(host, rule)
  const domain = rule.replace(/^\*?\./, '')
  return (host === domain && !rule.startsWith('.') && !rule.startsWith('*.')) || host.endsWith(`.${domain}`)
}

function isInNetwork(host: string, rule: string): boolean {
  const [network = '', bits = ''] = rule.split('/')
  const family = isIP(host)
  if (family === 0 || family !== isIP(network) || !/^\d+$/.test(bits)) return false
  if (Number(bits) > (family === 6 ? 128 : 32)) return false
  const list = new BlockList()
  list.addSubnet(network, Number(bits), family === 6 ? 'ipv6' : 'ipv4')
  return list.check(host, family === 6 ? 'ipv6' : 'ipv4')
}
