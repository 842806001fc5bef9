import { request } from 'node:https'
import { rootCertificates } from 'node:tls'
import type { CustomFetch } from 'openid-client'
import { ConfigProblem } from '../../config/config.js'
import { whyUnread } from '../../errors.js'
import { readGiven } from '../../regular-file.js'

/** Far more than any provider sends; a reply that has no end must not fill the memory. */
const LARGEST_REPLY_BYTES = 1024 ** 2
const WITHOUT_BODY = [204, 205, 304]

/** Sends requests to the provider. Node's own `fetch` cannot be given the certificates of a company. */
export function createProviderFetch(readAuthorities: () => Promise<string | undefined>): CustomFetch {
  return async (url, { method, headers, body, signal }) => {
    const ca = await readAuthorities()
    const trusted = ca === undefined ? {} : { ca: [...rootCertificates, ca] }
    return new Promise<Response>((resolve, reject) => {
      const options = { method, headers, ...trusted, ...(signal && { signal }) }
      const outgoing = request(url, options, (incoming) => {
        const chunks: Buffer[] = []
        let bytes = 0
        incoming.on('data', (chunk: Buffer) => {
          chunks.push(chunk)
          bytes += chunk.length
          if (bytes > LARGEST_REPLY_BYTES) incoming.destroy(new Error('the reply is too large'))
        })
        incoming.on('error', reject)
        incoming.on('end', () => {
          const { statusCode: status = 0 } = incoming
          const content = WITHOUT_BODY.includes(status) ? null : Buffer.concat(chunks)
          resolve(new Response(content, { status, headers: new Headers(pairsOf(incoming.rawHeaders)) }))
        })
      })
      outgoing.on('error', reject)
      // The library sends forms only.
      outgoing.end(body instanceof URLSearchParams ? body.toString() : (body as string | undefined))
    })
  }
}

function pairsOf(raw: readonly string[]): [string, string][] {
  return raw.flatMap((name, at): [string, string][] => (at % 2 === 0 ? [[name, raw[at + 1] ?? '']] : []))
}

/** The text of a file that `login` names. */
export async function readLoginFile(file: string, key: string): Promise<string> {
  const text = await readGiven(file).then(String, (thrown: unknown) => {
    throw new ConfigProblem(`login.${key} cannot be read: ${whyUnread(thrown)}`, { cause: thrown })
  })
  if (text.trim() === '') throw new ConfigProblem(`login.${key}: ${file} is empty`)
  return text.trim()
}
