import { afterAll, beforeAll } from '@jest/globals'
import axe from 'axe-core'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Browser, BrowserContextOptions, Page } from 'playwright-core'
import type { Outcome } from '../../src/analysis/outcome.js'
import type { PageDocument } from '../../src/report/page/build-document.js'
import { pagePolicy, renderPage, renderPageDocument } from '../../src/report/page/page.js'
import { launchChromium } from './chromium.js'

export const DESKTOP = { width: 1280, height: 900 }
export const PHONE = { width: 390, height: 844 }

/** How many pixels of a canvas have, about, a colour of the style sheet; it runs in the page. */
export const COUNT_PIXELS = `globalThis.countPixels = (canvas, name) => {
  const probe = document.body.appendChild(document.createElement('span'))
  probe.style.color = 'var(--' + name + ')'
  const [r, g, b] = getComputedStyle(probe).color.match(/\\d+/g).map(Number)
  probe.remove()
  const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true })
  copy.drawImage(canvas, 0, 0)
  const { data } = copy.getImageData(0, 0, canvas.width, canvas.height)
  let count = 0
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] > 200 && Math.abs(data[i] - r) + Math.abs(data[i + 1] - g) + Math.abs(data[i + 2] - b) < 24) count++
  return count
};`

interface Opened {
  readonly page: Page
  /** Everything that went wrong, and every address that was asked for. */
  readonly complaints: string[]
  readonly requests: string[]
}

interface OpenOptions extends BrowserContextOptions {
  /** Runs in the page before its own script. */
  readonly script?: string
}

/** A browser for the tests of a file, and reports to open in it. `init` runs in every page. */
export function usePages(init = '') {
  let browser: Browser
  let folder: string
  let fileCount = 0

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'loadgate-page-'))
    browser = await launchChromium()
  }, 60_000)

  afterAll(async () => {
    await browser.close()
    await rm(folder, { recursive: true })
  })

  const newPage = (options: BrowserContextOptions = {}): Promise<Page> =>
    browser.newPage({ viewport: DESKTOP, ...options })

  async function openAt(url: string, { script = '', ...options }: OpenOptions = {}): Promise<Opened> {
    const page = await newPage(options)
    const complaints: string[] = []
    const requests: string[] = []
    page.on('console', (message) => complaints.push(`${message.type()}: ${message.text()}`))
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('dialog', (dialog) => complaints.push(`dialog: ${dialog.message()}`))
    page.on('request', (request) => requests.push(request.url()))
    await page.addInitScript({ content: `${init};${script}` })
    await page.goto(url)
    return { page, complaints, requests }
  }

  async function writePage(outcome: Outcome): Promise<string> {
    const path = join(folder, `report-${++fileCount}.html`)
    await writeFile(path, renderPage(outcome))
    return pathToFileURL(path).href
  }

  async function openFile(
    outcome: Outcome,
    { hash = '', ...options }: OpenOptions & { readonly hash?: string } = {}
  ): Promise<Opened & { url: string }> {
    const url = await writePage(outcome)
    return { ...(await openAt(url + hash, options)), url }
  }

  return { newPage, openAt, writePage, openFile }
}

/** A page as a service serves it: with its policy as a header too, and fed with newer documents. */
export async function servePage(first: PageDocument) {
  const streams: ServerResponse[] = []
  const server = createServer((request, response) => {
    if (request.url === '/events') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).write('retry: 20\n\n')
      streams.push(response)
      server.emit('stream')
    } else {
      const paths = { eventsPath: '/events' }
      response.setHeader('content-security-policy', pagePolicy(paths))
      response.end(renderPageDocument(first, paths))
    }
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    ...{ streams, server, connected: once(server, 'stream') },
    send: (document: object): boolean => streams.at(-1)!.write(`data: ${JSON.stringify(document)}\n\n`),
    close: (): void => {
      server.closeAllConnections()
      server.close()
    }
  }
}

/** What axe finds fault with. */
export async function findingsOf(page: Page): Promise<string[]> {
  await page.evaluate(axe.source)
  return page.evaluate(
    `axe.run().then(({ violations }) => violations.map(({ id, impact, nodes }) => impact + ' ' + id + ': ' + nodes[0].html))`
  )
}

/** Folds hold tables too. */
export function openFolds(page: Page): Promise<void> {
  return page.evaluate(`document.querySelectorAll('details').forEach((fold) => { fold.open = true })`)
}

/** Waits until something holds in the page; its policy forbids what playwright's own way of waiting does. */
export async function until(page: Page, condition: string): Promise<void> {
  const deadlineMs = Date.now() + 20_000
  while (!(await page.evaluate<boolean>(condition)))
    if (Date.now() > deadlineMs) throw new Error(`waited in vain for ${condition}`)
}

/** For people who want to look at what the tests saw. */
export async function keepPicture(page: Page, name: string): Promise<void> {
  const folder = process.env.LOADGATE_PICTURES
  if (folder !== undefined) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true })
}
