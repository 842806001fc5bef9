import { literal } from '../../../analysis/plans/check/request.js'
import type { PlanProof } from '../request.js'
import { mayBeSecret } from '../secrets.js'
import type { Recorded } from './recording.js'
import { cookieValues } from './reply-values.js'

/** What a reply must have besides its status: a refused login, or a page that wants one, may be answered with the same. */
export function proofsOf(recorded: Recorded, isLogin: boolean): PlanProof[] {
  return [...redirectProof(recorded), ...(isLogin ? cookieProofs(recorded) : [])]
}

/** A login that opened a session opens one again. */
function cookieProofs({ responseHeaders }: Recorded): PlanProof[] {
  return responseHeaders
    .filter(([name]) => name.toLowerCase() === 'set-cookie')
    .flatMap(([, lines]) => cookieValues(lines))
    .filter(({ value }) => mayBeSecret(value))
    .map(({ name, place }) => ({ words: `sets the cookie ${name}`, from: place }))
}

/** Within the application, a redirect leads where it did. */
function redirectProof({ status, redirect, url }: Recorded): PlanProof[] {
  const isRedirect = status >= 300 && status < 400 && redirect !== '' && URL.canParse(redirect, url.href)
  if (!isRedirect || new URL(redirect, url).origin !== url.origin) return []
  const from = { kind: 'header', name: 'Location', pattern: redirectPattern(redirect) } as const
  return [{ words: 'redirects as recorded', from }]
}

/** The words of its path, at any host, and whether there is a query: ids may be others. */
function redirectPattern(redirect: string): string {
  const [, path = '', query = ''] = /^(?:https?:\/\/[^/?#]*)?([^?#;]*)[^?#]*(\??)/i.exec(redirect) ?? []
  const words = path.split('/').map((word) => (/^[a-z._-]*$/i.test(word) ? literal(word) : '[^/?#;\\s]+'))
  const rest = query === '' ? '(?:#\\S*)?' : '\\?\\S*'
  return `^\\s*((?:https?://[^/?#\\s]*)?${words.join('/')}(?:;[^?#\\s]*)?${rest})\\s*$`
}
