import { MalformedReplyError } from '../errors.js'
import { describeErrorBody } from '../http/error-body.js'

export function parseReply(operation: string, body: string): unknown {
  try {
    // Some servers start with a byte order mark, which is not JSON.
    return JSON.parse(body.replace(/^\uFEFF/, ''))
  } catch {
    const found = body.trim() === '' ? 'an empty body' : describeErrorBody(body, '')
    // Without the cause: the parser's message quotes the body, which may contain a token.
    throw new MalformedReplyError(operation, `the service reported success but sent no JSON: ${found}`)
  }
}
