import { readFileSync } from 'node:fs'
import { request as requestPlain, type IncomingHttpHeaders } from 'node:http'
import { request as requestSecure } from 'node:https'

/** Where the service seems to be; a proxy in front of it serves https. */
export const SERVICE = 'https://load.example.com'

export interface Page {
  readonly url: string
  readonly status: number
  readonly text: string
  readonly headers: IncomingHttpHeaders
}

interface Cookie {
  readonly value: string
  readonly isStrict: boolean
  readonly attributes: string
}

const MOST_STEPS = 20

/** What a browser does with cookies, redirects and pages that lead on, between the service and the provider. */
export class WebBrowser {
  /** By host, then by name. */
  readonly cookies = new Map<string, Map<string, Cookie>>()
  /** Every address, in order. */
  readonly trail: string[] = []

  constructor(
    private readonly port: number,
    private readonly ca: string
  ) {}

  /** Goes there and wherever it leads, until a page stays, or `until` holds for an address that would be next. */
  async open(
    address: string,
    { isForeign = false, until = () => false }: { isForeign?: boolean; until?: (url: string) => boolean } = {}
  ): Promise<Page> {
    let url = new URL(address, SERVICE)
    // A chain that leads over another site counts as one of that site.
    let isOfOther = isForeign
    for (let steps = 0; steps < MOST_STEPS; steps++) {
      const page = await this.send(url.href, { isOfOther })
      const refresh = /http-equiv="refresh" content="0; url=([^"]*)"/.exec(page.text)?.[1]
      const next = page.headers.location ?? refresh?.replaceAll('&#38;', '&')
      if (next === undefined) return page
      const target = new URL(next, url)
      if (until(target.href)) return { ...page, url: target.href }
      const isOther = target.hostname !== url.hostname
      isOfOther = page.headers.location === undefined ? isOther : isOfOther || isOther
      url = target
    }
    throw new Error(`it leads on and on: ${this.trail.join('\n')}`)
  }

  async send(
    address: string,
    { isOfOther = false, form }: { isOfOther?: boolean; form?: Record<string, string> } = {}
  ): Promise<Page> {
    const url = new URL(address)
    this.trail.push(url.origin + url.pathname)
    const isService = url.origin === SERVICE
    const cookies = [...(this.cookies.get(url.hostname) ?? [])].filter(
      ([, { isStrict }]) => !isStrict || !isOfOther
    )
    const headers = {
      accept: 'text/html',
      cookie: cookies.map(([name, { value }]) => `${name}=${value}`).join('; '),
      'sec-fetch-site': isOfOther ? 'cross-site' : 'same-origin',
      'sec-fetch-mode': 'navigate',
      ...(isService && { 'x-forwarded-proto': 'https', host: url.host, 'x-forwarded-host': url.host }),
      ...(form && { origin: url.origin, 'content-type': 'application/x-www-form-urlencoded' })
    }
    const options = { method: form ? 'POST' : 'GET', headers, path: url.pathname + url.search, agent: false }
    const page = await new Promise<Page>((resolve, reject) => {
      const outgoing = isService
        ? requestPlain({ ...options, host: '127.0.0.1', port: this.port })
        : requestSecure({ ...options, host: url.hostname, port: url.port, ca: readFileSync(this.ca) })
      outgoing.on('error', reject)
      outgoing.on('response', (incoming) => {
        let text = ''
        incoming.setEncoding('utf8')
        incoming.on('data', (chunk: string) => (text += chunk))
        incoming.on('error', reject)
        incoming.on('end', () =>
          resolve({ url: url.href, status: incoming.statusCode ?? 0, text, headers: incoming.headers })
        )
      })
      outgoing.end(form && new URLSearchParams(form).toString())
    })
    for (const line of page.headers['set-cookie'] ?? []) this.#keep(url.hostname, line)
    return page
  }

  #keep(host: string, line: string): void {
    const [, name = '', value = '', attributes = ''] = /^([^=]+)=([^;]*)(.*)$/.exec(line) ?? []
    const kept = this.cookies.get(host) ?? new Map<string, Cookie>()
    this.cookies.set(host, kept)
    const isGone = /max-age=0\b|expires=thu, 01 jan 1970/i.test(attributes)
    if (isGone) kept.delete(name)
    else kept.set(name, { value, isStrict: /samesite=strict/i.test(attributes), attributes })
  }
}
