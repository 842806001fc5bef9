import { readAddress, type Address } from '../../client/http/address.js'
import { messageOf } from '../../contract/text.js'
import { basicAuthorization } from '../../client/http/http.js'
import type { Ports } from '../ports.js'

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

/** The runner masks exact values only, so the encoded form in the Authorization header is masked as well. */
export function maskToken(ports: Pick<Ports, 'mask'>, token: string): void {
  if (token === '') return
  ports.mask(token)
  ports.mask(basicAuthorization(token).slice('Basic '.length))
}
