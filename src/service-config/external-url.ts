import type { Parsed } from '../values/setting-values.js'

/** An origin, without a slash at its end: pages and links are made for the root of a host. */
export function parseExternalUrl(text: string): Parsed<string> {
  const url = /^https?:\/\/[^/\s]+\/?$/i.test(text) && URL.canParse(text) ? new URL(text) : undefined
  if (url?.username === '' && url.password === '' && url.search === '' && url.hash === '')
    return { ok: true, value: url.origin }
  return {
    ok: false,
    accepted: 'an https address without path, user name or query, such as https://load.example.com',
    // It may carry a password.
    ...(text.includes('@') && { shown: text.replace(/\/\/.*@/, '//…@') })
  }
}
