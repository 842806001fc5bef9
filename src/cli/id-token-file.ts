import { readFile, stat } from 'node:fs/promises'
import type { TokenSource } from '../client/http/id-tokens.js'
import { messageOf } from '../contract/text.js'
import {
  BOTH_VARIABLES,
  ID_TOKEN_FILE,
  isOidc,
  NO_VARIABLE,
  OIDC_VARIABLE
} from '../gate/settings/token-settings.js'
import { UsageError } from './arguments.js'

/** More than a request's headers can have is not a token. */
const MOST_BYTES = 16 * 1024

/** The file that LOADGATE_ID_TOKEN_FILE names. It is read for each request, since whoever writes it may renew the token at any time. */
export class IdTokenFile implements TokenSource {
  /** Everything that was read, to be redacted. */
  readonly seen = new Set<string>()
  readonly #listeners: ((token: string) => void)[] = []

  constructor(private readonly path: string) {}

  async take(): Promise<string> {
    return this.#read().catch((cause: unknown) => {
      throw new Error(`${ID_TOKEN_FILE}: ${messageOf(cause)}`, { cause })
    })
  }

  /** What is wrong with the file, if anything is. */
  async findProblem(): Promise<string | undefined> {
    return this.#read().then(() => undefined, messageOf)
  }

  /** Tells of each token, also of those that were read before. */
  onToken(listener: (token: string) => void): void {
    this.#listeners.push(listener)
    for (const token of this.seen) listener(token)
  }

  async #read(): Promise<string> {
    const { path } = this
    const refuse = (words: string): never => {
      throw new Error(`"${path}" ${words}; write the ID token into it`)
    }
    const unreadable = (thrown: unknown): never => {
      const { code = messageOf(thrown) } = Object(thrown) as NodeJS.ErrnoException
      return refuse(`cannot be read (${code})`)
    }
    const found = await stat(path).catch((thrown: unknown) => {
      // Not quoted: what names no file may be the token itself.
      throw new Error(
        `there is no such file (${(thrown as NodeJS.ErrnoException).code ?? 'unknown'}); set it to the path of a file, and write the ID token into that`
      )
    })
    // Anything else could be read only once, or never ends.
    if (!found.isFile()) refuse('is not a file')
    if (found.size > MOST_BYTES) refuse(`has ${found.size} bytes, which is no token`)
    const token = (await readFile(path, 'utf8').catch(unreadable)).trim()
    if (token === '') refuse('is empty')
    // It goes into a header. What it is instead may be a secret of another kind, and is not quoted.
    if (!/^[\w.~+/=-]+$/.test(token)) refuse('is not a single token')
    if (!this.seen.has(token)) {
      this.seen.add(token)
      for (const listener of this.#listeners) listener(token)
    }
    return token
  }
}

/** What a command that needs a service sends. */
export async function takeToken({
  token,
  idTokens
}: {
  readonly token: string
  readonly idTokens?: IdTokenFile | undefined
}): Promise<string | TokenSource> {
  if (idTokens === undefined) {
    if (token === '') throw new UsageError(NO_VARIABLE)
    if (isOidc(token)) throw new UsageError(`LOADGATE_TOKEN ${OIDC_VARIABLE}`)
    return token
  }
  if (token !== '') throw new UsageError(BOTH_VARIABLES)
  const problem = await idTokens.findProblem()
  if (problem !== undefined) throw new UsageError(`${ID_TOKEN_FILE}: ${problem}`)
  return idTokens
}
