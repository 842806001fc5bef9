import { createHash, timingSafeEqual } from 'node:crypto'

/** Digests have one length, so the comparison takes the same time for any guess. */
export function isSameSecret(guess: string, secret: string): boolean {
  const digest = (text: string): Buffer => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(guess), digest(secret))
}
