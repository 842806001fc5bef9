import { basicAuthorization } from '../../service/http/http.js'
import type { Ports } from '../ports.js'

/** The runner masks exact values only, so the encoded form in the Authorization header is masked as well. */
export function maskToken(ports: Pick<Ports, 'mask'>, token: string): void {
  if (token === '') return
  ports.mask(token)
  ports.mask(basicAuthorization(token).slice('Basic '.length))
}
