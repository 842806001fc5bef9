import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import type { Clock } from '../../../contract/clock.js'
import { asSentence, capitalize } from '../../../contract/text.js'
import type { LoginConfig } from '../../config/config.js'
import { attempt as tryTo } from '../../errors.js'
import { isSameSecret } from '../../secrets.js'
import { whenFree } from '../../store/when-free.js'
import type { TeamAccounts } from '../accounts.js'
import { AccountError, type User } from '../users.js'
import { type Attempt, Provider, SignOnError } from './provider.js'

/** How long a person may take at the provider. */
export const LONGEST_ATTEMPT_SEC = 600
/** A session lasts at least so long: clocks differ, and a browser must not go to and fro. */
const SHORTEST_SESSION_MS = 60_000

export interface Begun extends Attempt {
  readonly next: string
  readonly untilMs: number
}

/** Single sign-on: sends browsers to the provider, and opens sessions for those who come back. */
export class SignOn {
  readonly provider: Provider
  readonly #key = randomBytes(32)

  constructor(
    config: LoginConfig,
    private readonly parts: { accounts: TeamAccounts; clock: Clock; externalUrl: string }
  ) {
    this.provider = new Provider(config, parts.externalUrl)
  }

  /** The address at the provider, and what the browser keeps meanwhile: sealed, so that the service need not keep anything. */
  async begin(next: string): Promise<{ url: string; state: string; kept: string }> {
    const { url, attempt } = await this.provider.begin()
    const untilMs = this.parts.clock.now() + LONGEST_ATTEMPT_SEC * 1000
    return { url, state: attempt.state, kept: this.#seal({ ...attempt, next, untilMs }) }
  }

  /** The sign-in that this browser, by what it kept, has begun; the state is what it was sent back with. */
  recognize(state: string, kept: string): Begun {
    const begun = this.#unseal(kept)
    if (begun !== undefined && isSameSecret(state, begun.state)) return begun
    throw new SignOnError(
      400,
      'This sign-in was not started in this browser, took too long, or was already used. Sign in again.',
      begun === undefined ? 'the browser has no sign-in under way' : 'the state is not that of the browser'
    )
  }

  /** Who has come back with this query; the value of the session's cookie, and where to go. */
  async finish(query: string, begun: Begun): Promise<{ user: User; cookie: string; next: string }> {
    const { person, terms } = await this.provider.finish(query, begun)
    const latestMs = Math.max(terms.latestMs ?? 0, this.parts.clock.now() + SHORTEST_SESSION_MS)
    const { accounts, clock } = this.parts
    const signedIn = await whenFree(() => accounts.signIn(person, { ...terms, latestMs }), clock).catch(
      (thrown: unknown) => {
        if (!(thrown instanceof AccountError)) throw thrown
        throw new SignOnError(403, asSentence(capitalize(thrown.message)), thrown.message, { cause: thrown })
      }
    )
    return { ...signedIn, next: begun.next }
  }

  /** Where to end the session with the provider, if this one of ours came from there; undefined if that cannot be done. */
  async endUrl(cookie: string): Promise<string | undefined> {
    if (this.parts.accounts.issuerOf(cookie) === '') return undefined
    return this.provider.endUrl(`${this.parts.externalUrl}/login`)
  }

  #seal(begun: Begun): string {
    const iv = randomBytes(12)
    const cipher = createCipheriv('aes-256-gcm', this.#key, iv)
    const sealed = [iv, cipher.update(JSON.stringify(begun)), cipher.final()]
    return Buffer.concat([...sealed, cipher.getAuthTag()]).toString('base64url')
  }

  /** Undefined if it is not one of ours, or too old. */
  #unseal(kept: string): Begun | undefined {
    const bytes = Buffer.from(kept, 'base64url')
    const begun = tryTo(() => {
      const decipher = createDecipheriv('aes-256-gcm', this.#key, bytes.subarray(0, 12), {
        authTagLength: 16
      })
      decipher.setAuthTag(bytes.subarray(-16))
      const text = Buffer.concat([decipher.update(bytes.subarray(12, -16)), decipher.final()]).toString(
        'utf8'
      )
      return JSON.parse(text) as Begun
    })
    return begun && begun.untilMs > this.parts.clock.now() ? begun : undefined
  }
}
