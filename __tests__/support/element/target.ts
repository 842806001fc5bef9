import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** How long /slow takes. */
export const SLOW_MS = 700

/** A small site for scripts; it counts what it serves. */
export class Target {
  readonly #hits = new Map<string, number>()
  readonly #headers: IncomingMessage['headers'][] = []
  readonly #server: Server

  private constructor() {
    this.#server = createServer((request, response) => this.#answer(request, response))
  }

  static async start(): Promise<Target> {
    const target = new Target()
    await new Promise<void>((resolve) => target.#server.listen(0, '127.0.0.1', resolve))
    return target
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}`
  }

  /** How often a path was served. */
  hits(path: string): number {
    return this.#hits.get(path) ?? 0
  }

  /** The pages served, of any path. */
  get total(): number {
    return [...this.#hits.values()].reduce((sum, count) => sum + count, 0)
  }

  /** The headers of the pages' requests, in their order. */
  get headers(): readonly IncomingMessage['headers'][] {
    return this.#headers
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #answer(request: IncomingMessage, response: ServerResponse): void {
    const { pathname } = new URL(request.url ?? '/', 'http://target')
    if (pathname === '/favicon.ico') {
      response.writeHead(204).end()
      return
    }
    this.#hits.set(pathname, this.hits(pathname) + 1)
    this.#headers.push(request.headers)
    if (pathname === '/never') return
    if (pathname === '/slow') {
      setTimeout(() => response.end(page('Slow', '<h1>Slow</h1>')), SLOW_MS)
      return
    }
    if (pathname === '/broken') {
      response.writeHead(500, { 'content-type': 'text/html' }).end(page('Broken', '<h1>Broken</h1>'))
      return
    }
    if (pathname === '/private' && request.headers.authorization === undefined) {
      response.writeHead(401, { 'www-authenticate': 'Basic realm="x"' }).end()
      return
    }
    if (pathname === '/data') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"items":3}')
      return
    }
    response.writeHead(200, {
      'content-type': 'text/html; charset=utf-8',
      'set-cookie': `seen=${pathname.slice(1) || 'home'}; Path=/`
    })
    response.end(PAGES[pathname] ?? page('Other', `<h1>Other</h1><p id="path">${pathname}</p>`))
  }
}

const page = (title: string, body: string): string =>
  `<!doctype html><html lang="en"><head><title>${title}</title></head><body>${body}</body></html>`

const PAGES: Readonly<Record<string, string>> = {
  '/': page(
    'Home',
    `<h1 class="title">Welcome</h1>
     <p class="item">one</p><p class="item">two</p><p class="item">three</p>
     <a href="/second">Next page</a> <a id="popup" href="/second" target="_blank">Open</a>
     <p id="hidden" style="display:none">Secret text</p>
     <div style="height:3000px"></div><p id="bottom">The end</p>`
  ),
  '/second': page(
    'Second',
    `<h1>Second</h1><p id="late"></p><a href="/">Back home</a>
     <script>setTimeout(() => { document.getElementById('late').textContent = 'ready' }, 150)</script>`
  ),
  '/form': page(
    'Form',
    `<form action="/done"><input id="name" name="name"><input name="email" data-kind="mail">
     <select id="age" name="age"><option value="">-</option><option value="30">thirty</option><option value="40">forty</option></select>
     <label><input type="checkbox" id="agree"> I agree</label>
     <button id="go" disabled>Send</button></form>
     <script>agree.onchange = () => { go.disabled = !agree.checked }</script>`
  ),
  '/links': page(
    'Links',
    `<a id="popup" href="/broken" target="_blank">Open</a> <a id="broken" href="/broken">Go</a>
     <a id="slow" href="/slow">Slow</a> <input id="text">
     <a id="late" href="#" onclick="setTimeout(() => { location = '/slow' }, 200); return false">Late</a>`
  ),
  '/done': page('Done', '<h1>Thank you, it’s done</h1>'),
  '/frames': page('Frames', '<iframe name="inner" id="frame-1" src="/inside"></iframe><p>outside</p>'),
  '/inside': page(
    'Inside',
    '<h2 id="word">within</h2><button onclick="word.textContent=\'clicked\'">Press</button>'
  ),
  '/mouse': page(
    'Mouse',
    `<style>body{margin:0}#box{position:absolute;left:50px;top:50px;width:100px;height:100px;background:#ccc}</style>
     <div id="box"></div><p id="seen" style="margin-top:300px"></p>
     <script>
       const say = (word) => { seen.textContent += word + ' ' }
       box.onclick = () => say('click'); box.ondblclick = () => say('double')
       box.onmousedown = () => say('down'); box.onmouseup = () => say('up')
       addEventListener('keydown', (event) => say(event.key))
       addEventListener('scroll', () => { document.title = 'scrolled' })
     </script>`
  ),
  '/alert': page(
    'Alert',
    `<p id="after"></p><script>setTimeout(() => { alert('hello'); after.textContent = 'closed' }, 50)</script>`
  ),
  '/agent': page(
    'Agent',
    `<p id="agent"></p><p id="size"></p><script>agent.textContent = navigator.userAgent; size.textContent = innerWidth + 'x' + innerHeight</script>`
  )
}
