import { parseDurationSeconds } from '../../values/setting-values.js'
import type { Parsed } from '../../values/setting-values.js'
import { withoutSecrets } from './service-values.js'

export interface WaitFor {
  readonly url: URL
  readonly timeoutMs: number
}

/** Short enough to be no secret. */
const DURATION_LIKE = /^-?[\d.,]{1,6}\s?[A-Za-z]{0,7}$/
const DEFAULT_SECONDS = 120
const ACCEPTED =
  'an http or https address without a password, and optionally how long to wait for it: `http://localhost:8080/health 5m`'

/** `<address>` or `<address> <duration>`. */
export function parseWaitFor(text: string): Parsed<WaitFor> {
  const [address = '', duration, ...others] = text.split(/\s+/)
  const url = URL.canParse(address) ? new URL(address) : undefined
  const seconds =
    duration === undefined ? { ok: true as const, value: DEFAULT_SECONDS } : parseDurationSeconds(duration, 1)
  const isPlain = url !== undefined && /^https?:$/.test(url.protocol) && url.username + url.password === ''
  return isPlain && seconds.ok && others.length === 0
    ? { ok: true, value: { url, timeoutMs: seconds.value * 1000 } }
    : { ok: false, accepted: ACCEPTED, shown: hideSecrets(address, [duration ?? '', ...others]) }
}

/** Whatever stands before an @ or after a ? may be a secret, also in what is not an address. */
function hideSecrets(address: string, rest: readonly string[]): string {
  const hidden = withoutSecrets(address.replace(/^((?:\w+:)?\/*).*@/s, '$1***@'))
  const shown = rest.filter((word) => word !== '').map((word) => (DURATION_LIKE.test(word) ? word : '***'))
  return [hidden, ...shown].join(' ')
}
