import http from 'node:http'
import https from 'node:https'
import { ClusterError, refusal, unreachable } from './cluster.js'
import type { Access, Credentials } from './credentials.js'

export const SILENCE_MS = 30_000

interface RequestParts {
  readonly server: string
  readonly credentials: Credentials
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | undefined
}

/** Asks once; again only where the credentials were not accepted. */
export async function requestJson(parts: RequestParts): Promise<unknown> {
  const { credentials, method, path, server, signal } = parts
  signal?.throwIfAborted()
  const access = await credentials.access(signal)
  let reply = await send(parts, access)
  if (reply.status === 401) reply = await send(parts, await credentials.renew(access, signal))
  if (reply.status < 200 || reply.status > 299) throw refusal(`${method} ${path}`, reply)
  try {
    return JSON.parse(reply.text) as unknown
  } catch {
    throw new ClusterError(
      `${method} ${path} was answered by ${server} with something that is not JSON: is this the address of a Kubernetes API?`,
      reply.status
    )
  }
}

function send(
  { server, method, path, body, signal }: RequestParts,
  { agent, headers }: Access
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const request = (server.startsWith('http:') ? http : https).request(server + path, {
      method,
      agent,
      ...(signal && { signal }),
      headers: {
        ...headers,
        Accept: 'application/json',
        ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
      }
    })
    const silence = setTimeout(
      () => request.destroy(new Error(`no reply within ${SILENCE_MS / 1000} s`)),
      SILENCE_MS
    )
    const fail = (error: Error): void => {
      clearTimeout(silence)
      reject(signal?.aborted ? (signal.reason as Error) : unreachable(server, error))
    }
    request.on('error', fail)
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => {
        silence.refresh()
        chunks.push(chunk)
      })
      response.on('error', fail)
      response.on('end', () => {
        clearTimeout(silence)
        resolve({
          status: response.statusCode ?? 0,
          text: Buffer.concat(chunks).toString('utf8'),
          retryAfterMs: readSeconds(response.headers['retry-after'])
        })
      })
    })
    request.end(bytes)
  })
}

/** Kubernetes says seconds; a date is a proxy's, and not worth it. */
function readSeconds(text: string | undefined): number | undefined {
  return text !== undefined && /^\d{1,6}$/.test(text) ? Number(text) * 1000 : undefined
}
