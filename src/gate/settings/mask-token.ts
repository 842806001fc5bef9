import { basicAuthorization } from '../../service/http/http.js'
import type { Ports } from '../ports.js'

/** The runner masks what it is told; the header's value is the token in another dress. */
export function maskToken(ports: Pick<Ports, 'mask'>, token: string): void {
  if (token === '') return
  ports.mask(token)
  ports.mask(basicAuthorization(token).slice('Basic '.length))
}
