import { parseDurationSeconds } from '../../values/setting-values.js'
import type { Parsed } from '../../values/setting-values.js'

export interface WaitFor {
  readonly url: URL
  readonly timeoutMs: number
}

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
    : { ok: false, accepted: ACCEPTED }
}
