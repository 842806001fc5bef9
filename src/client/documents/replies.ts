import { accountSchema, gridSchema, madeGridSchema, reportSchema, runSchemas } from '../../contract/api.js'
import { type Decoded, type Schema, decode } from '../../contract/decode.js'
import type { Vocabulary } from '../../contract/vocabulary.js'
import { MalformedReplyError } from '../errors.js'
import { parseReply } from './parse-reply.js'

type Schemas = ReturnType<typeof repliesIn>
export type ReplyName = keyof Schemas
export type ReplyOf<Name extends ReplyName> = Decoded<Schemas[Name]>
export type DecodeReply = <Name extends ReplyName>(
  name: Name,
  body: string,
  operation: string
) => ReplyOf<Name>

/** A schema for every reply of a service with these words. */
function repliesIn(words: Vocabulary) {
  return {
    ...runSchemas(words),
    grid: gridSchema,
    madeGrid: madeGridSchema,
    report: reportSchema,
    account: accountSchema
  }
}

export function replyDecoder(words: Vocabulary): DecodeReply {
  const replies: { [Name in ReplyName]: Schema<ReplyOf<Name>> } = repliesIn(words)
  return (name, body, operation) => decodeReply(operation, body, replies[name])
}

export function decodeReply<T>(operation: string, body: string, schema: Schema<T>): T {
  const decoded = decode(schema, parseReply(operation, body))
  if ('value' in decoded) return decoded.value
  throw new MalformedReplyError(operation, `the reply is not as documented: ${decoded.odd}`)
}
