import { request } from 'node:http'
import type { IncomingMessage } from 'node:http'
import { readEmbedded, type EmbeddedDocument } from '../../../src/report/page/label-rows.js'
import type { PageDocument } from '../../../src/report/page/build-document.js'
import type { Service, ServiceOptions } from '../../../src/service/server.js'
import { get, type Reply, send } from '../support.js'

/** Services of these tests have pages, as the command line's has. */
export const WITH_PAGES: Pick<ServiceOptions, 'pages'> = {
  pages: () => import('../../../src/report/page/served/served-pages.js')
}

export const HTML = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }

/** Visits the address that the service prints, as a browser does, and returns the cookie it got. */
export async function visit(service: Service): Promise<string> {
  const reply = await get(service, `/?token=${service.token}`, { token: null, headers: HTML })
  const [cookie] = reply.headers['set-cookie'] ?? []
  if (reply.status !== 303 || cookie === undefined)
    throw new Error(`no cookie: ${reply.status} ${reply.text}`)
  return cookie.split(';')[0] ?? ''
}

export interface Listener {
  readonly response: IncomingMessage
  /** Everything received, unchanged. */
  text(): string
  /** Waits for the data of the next event; undefined if the stream has ended. */
  next(): Promise<unknown>
  close(): void
}

/** Listens to server-sent events. */
export function listen(
  service: Service,
  path: string,
  cookie: string,
  more: Record<string, string> = {}
): Promise<Listener> {
  const { port } = new URL(service.url)
  const headers = { cookie, accept: 'text/event-stream', ...more }
  return new Promise((resolve, reject) => {
    const outgoing = request({ host: '127.0.0.1', port, path, headers, agent: false }, (response) => {
      resolve(createListener(response))
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function createListener(response: IncomingMessage): Listener {
  let text = ''
  let taken = 0
  let isOver = false
  let wake = (): void => undefined
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    wake()
  })
  response.on('close', () => {
    isOver = true
    wake()
  })
  const events = (): string[] => [...text.matchAll(/^data: (.*)\n\n/gm)].map(([, data]) => data ?? '')
  return {
    response,
    text: () => text,
    next: async () => {
      while (events().length <= taken && !isOver) await new Promise<void>((resolve) => (wake = resolve))
      const data = events()[taken++]
      return data === undefined ? undefined : (JSON.parse(data) as unknown)
    },
    close: () => response.destroy()
  }
}

/** The next document of a run's page that meets a condition. */
export async function nextWhere(
  listener: Listener,
  holds: (document: PageDocument) => boolean
): Promise<PageDocument> {
  for (;;) {
    const document = (await listener.next()) as PageDocument | undefined
    if (document === undefined) throw new Error(`the stream has ended: ${listener.text().slice(-300)}`)
    if (holds(document)) return document
  }
}

/** What a browser sends for a form of one of the service's pages. */
export function submit(
  { url }: Pick<Service, 'url'>,
  path: string,
  fields: Record<string, string>,
  headers: Record<string, string> = {}
): Promise<Reply> {
  return send({ url, token: '' }, 'POST', path, {
    token: null,
    headers: { ...HTML, origin: url, 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: new URLSearchParams(fields).toString()
  })
}

/** The cookie of whoever has this token. */
export async function logIn(address: Pick<Service, 'url' | 'token'>): Promise<string> {
  const reply = await submit(address, '/login', { token: address.token })
  return reply.headers['set-cookie']?.[0]?.split(';')[0] ?? ''
}

/** The document in a run's page. */
export function readDocument(html: string): PageDocument {
  const [, json = ''] = /<script type="application\/json"[^>]*>(.*?)<\/script>/s.exec(html) ?? []
  return readEmbedded(JSON.parse(json) as EmbeddedDocument)
}
