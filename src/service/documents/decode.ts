import { decode } from '../../contract/decode.js'
import type { Schema } from '../../contract/decode.js'
import { MalformedReplyError } from '../errors.js'
import { describeErrorBody } from '../http/error-body.js'

/** Decodes a reply's body, or says what is odd about it or was sent instead. */
export function decodeReply<T>(operation: string, body: string, schema: Schema<T>): T {
  const decoded = decode(schema, parseReply(operation, body))
  if ('value' in decoded) return decoded.value
  throw new MalformedReplyError(operation, `the reply is not as documented: ${decoded.odd}`)
}

function parseReply(operation: string, body: string): unknown {
  try {
    // Some servers start with a byte order mark, which is not JSON.
    return JSON.parse(body.replace(/^\uFEFF/, ''))
  } catch {
    const found = body.trim() === '' ? 'an empty body' : describeErrorBody(redactTokens(body), '')
    // Without the cause: the parser's message quotes the body, which may contain a token.
    throw new MalformedReplyError(operation, `the service reported success but sent no JSON: ${found}`)
  }
}

/** Half a reply is not JSON, but may still contain a token. */
function redactTokens(body: string): string {
  return body.replace(/("[^"]*_token"\s*:\s*)("[^"]*"?|[^\s,}]+)/g, '$1"***"')
}
