import http, { type IncomingMessage } from 'node:http'
import https from 'node:https'
import { readUpTo } from '../../../contract/files.js'
import { isOnLoopback } from '../../addresses.js'
import { ConfigProblem, type TrustedIssuer } from '../../config/config.js'
import { clauseOf } from '../../errors.js'
import { readGiven } from '../../regular-file.js'

export interface FetchOptions {
  /** File with the only authorities that count. It is read each time, so that it can be replaced. */
  readonly ca: string | undefined
  readonly mostBytes: number
  readonly signal: AbortSignal
  /** Where the proxies are named. */
  readonly env: NodeJS.ProcessEnv
}

/** Fetches a small JSON document. Redirects are not followed: whoever is trusted is named in the config file. */
export async function fetchJson(url: URL, options: FetchOptions): Promise<unknown> {
  const { ca, mostBytes, signal, env } = options
  const agentOptions = {
    ...(ca !== undefined && { ca: await readGiven(ca) }),
    // What is on this machine is reached directly. Older versions of Node know no proxies.
    ...(!isOnLoopback(url) && { proxyEnv: env })
  }
  const agent = url.protocol === 'https:' ? new https.Agent(agentOptions) : new http.Agent(agentOptions)
  try {
    const reply = await send(url, agent, signal)
    const { bytes, hasMore } = await readUpTo(reply as AsyncIterable<Buffer>, mostBytes)
    if (reply.statusCode !== 200) throw new Error(`${url.href} was answered by ${reply.statusCode ?? 0}`)
    if (hasMore) throw new Error(`${url.href} is larger than ${mostBytes} bytes`)
    return parse(bytes.toString(), url)
  } catch (thrown) {
    throw signal.aborted ? new Error(`${url.href} did not answer in time`, { cause: thrown }) : thrown
  } finally {
    agent.destroy()
  }
}

function send(url: URL, agent: http.Agent, signal: AbortSignal): Promise<IncomingMessage> {
  const headers = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'loadgate' }
  return new Promise((resolve, reject) => {
    const { request } = url.protocol === 'https:' ? https : http
    request(url, { agent, signal, headers }, resolve).once('error', reject).end()
  })
}

function parse(text: string, url: URL): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    throw new Error(`${url.href} is not JSON`, { cause: thrown })
  }
}

/** A file that is missing is found at the start, and not with the first token. */
export async function requireAuthorities(issuers: readonly TrustedIssuer[]): Promise<void> {
  for (const { issuer, ca } of issuers)
    if (ca !== undefined)
      await readGiven(ca).catch((thrown: unknown) => {
        throw new ConfigProblem(`oidc: ca of ${issuer} cannot be read: ${clauseOf(thrown)}`, {
          cause: thrown
        })
      })
}
