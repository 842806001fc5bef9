import { createHash, timingSafeEqual } from 'node:crypto'

/** What is kept of a secret. */
export function hashSecret(text: string): Uint8Array {
  return createHash('sha256').update(text).digest()
}

/** Digests have the same length, so the comparison takes constant time. */
export function isSameSecret(guess: string, secret: string): boolean {
  return timingSafeEqual(hashSecret(guess), hashSecret(secret))
}
