import { basicAuthorization } from '../../service/http/http.js'
import type { Workbench } from '../ports.js'

/** The runner masks what it is told; the header's value is the token in another dress. */
export function maskToken(bench: Pick<Workbench, 'mask'>, token: string): void {
  if (token === '') return
  bench.mask(token)
  bench.mask(basicAuthorization(token).slice('Basic '.length))
}
