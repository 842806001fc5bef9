import { messageOf } from '../../../errors.js'

/** What was thrown, to continue the sentence after it. */
export function clauseOf(thrown: unknown): string {
  return messageOf(thrown).replace(/\.$/, '')
}

export function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}
