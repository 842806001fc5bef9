import { randomBytes } from 'node:crypto'
import { hashSecret } from '../secrets.js'

/** What a user signs in with. It has 256 random bits, so that a fast hash of it is as good as a slow one. */
export interface Token {
  readonly text: string
  /** Not secret: it finds the user. */
  readonly id: string
  readonly hash: Uint8Array
}

const ID_BYTES = 6
const SECRET_BYTES = 32
const SHAPE = /^lg_([0-9a-f]{12})_[\w-]{43}$/

export function createToken(): Token {
  const id = randomBytes(ID_BYTES).toString('hex')
  const text = `lg_${id}_${randomBytes(SECRET_BYTES).toString('base64url')}`
  return { text, id, hash: hashSecret(text) }
}

/** The id in a token; an empty text, which is the id of none, if it is not one. */
export function readTokenId(text: string): string {
  return SHAPE.exec(text)?.[1] ?? ''
}
