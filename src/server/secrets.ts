import { createHash, timingSafeEqual } from 'node:crypto'

/** Digests have the same length, so the comparison takes constant time. */
export function isSameSecret(guess: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(secret))
}
