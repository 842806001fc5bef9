import { readAddress } from '../../service/http/address.js'
import type { Address } from '../../service/http/address.js'
import { parsePattern } from '../../values/setting-values.js'
import type { Parsed } from '../../values/setting-values.js'
import { messageOf } from '../../contract/text.js'

const SERVICE_NAME = /^[a-z][a-z0-9_-]{0,63}$/

export function parseServiceName(text: string): Parsed<string> {
  return parsePattern(text, SERVICE_NAME, 'a word of lowercase letters, digits, - and _')
}

/** The address of a service, or what is wrong with it. */
export function parseServiceAddress(
  text: string
): { readonly address: Address } | { readonly problem: string } {
  try {
    return { address: readAddress(text) }
  } catch (thrown) {
    return {
      problem: `"${withoutSecrets(text)}" ${messageOf(thrown)}`
    }
  }
}

/** What is wrong with a token that was given. */
export function tokenProblem(token: string): string | undefined {
  return /[\s:]/.test(token) ? 'must not contain whitespace or a colon' : undefined
}

/** Messages never quote a password or token from an address. */
export function withoutSecrets(address: string): string {
  return address.replace(/\/\/[^/]*@/, '//***@').replace(/[?#].*$/s, '?***')
}
