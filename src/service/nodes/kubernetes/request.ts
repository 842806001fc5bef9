import http from 'node:http'
import https from 'node:https'
import { ClusterError } from './cluster.js'
import type { Access, Credentials } from './credentials.js'
import { refusal, unreachable } from './words.js'

/** How long the cluster may be silent. */
export const SILENCE_MS = 30_000

export interface RequestParts {
  readonly server: string
  readonly credentials: Credentials
  readonly method: string
  readonly path: string
  readonly body?: unknown
  readonly signal?: AbortSignal | undefined
  readonly silenceMs?: number
}

interface Reply {
  readonly status: number
  readonly text: string
  readonly retryAfterMs: number | undefined
}

/** Asks once; again only where the first one was certainly not served. */
export async function requestJson(parts: RequestParts): Promise<unknown> {
  const { credentials, method, path, server } = parts
  parts.signal?.throwIfAborted()
  const access = await credentials.access(parts.signal)
  let reply = await send(parts, access)
  if (reply.status === 401) reply = await send(parts, await credentials.renew(access, parts.signal))
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

async function send(parts: RequestParts, access: Access): Promise<Reply> {
  try {
    return await sendOnce(parts, access)
  } catch (error) {
    if (parts.signal?.aborted || !(error instanceof StaleConnection)) throw error
    return sendOnce(parts, access)
  }
}

/** A connection that was kept open had been closed by the other side; nothing was served on it. */
class StaleConnection extends ClusterError {}

function sendOnce(
  { server, method, path, body, signal, silenceMs = SILENCE_MS }: RequestParts,
  access: Access
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const bytes = body === undefined ? undefined : Buffer.from(JSON.stringify(body))
    const request = (server.startsWith('http:') ? http : https).request(server + path, {
      method,
      // What creates something must not meet a connection that is about to close.
      agent: method === 'GET' ? access.agent : access.streamAgent,
      headers: {
        ...access.headers,
        Accept: 'application/json',
        ...(bytes && { 'Content-Type': 'application/json', 'Content-Length': bytes.length })
      }
    })
    const fail = (error: unknown): void => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', abort)
      reject(error instanceof Error ? error : new Error(String(error)))
    }
    const abort = (): void => {
      fail(signal?.reason)
      request.destroy()
    }
    const timer = setTimeout(() => {
      request.destroy(new Error(`no reply within ${silenceMs / 1000} s`))
    }, silenceMs)
    signal?.addEventListener('abort', abort, { once: true })
    request.on('error', (error: NodeJS.ErrnoException) => {
      const told = unreachable(server, error)
      const isStale = method === 'GET' && request.reusedSocket && error.code === 'ECONNRESET'
      fail(isStale ? new StaleConnection(told.message, undefined, { cause: error }) : told)
    })
    request.on('response', (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => {
        timer.refresh()
        chunks.push(chunk)
      })
      response.on('error', (error) => fail(unreachable(server, error)))
      response.on('end', () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', abort)
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
