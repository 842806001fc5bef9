import { type EventEmitter, on } from 'node:events'
import type { BrowserContext, Frame, Page, Request, Response } from 'playwright-core'

/** A page that responded with an error, or not at all (0). */
export interface BadPage {
  readonly status: number
  readonly url: string
  readonly failure: string
}

const FIRST_ERROR = 400
/** A newer navigation took its place, or it is a download. */
const REPLACED = 'net::ERR_ABORTED'

/** Sees every page that is loaded in a context, in popups too. */
export class Navigations {
  readonly #navigated = new WeakSet<Page>()
  #worst: BadPage | undefined
  readonly #onResponse = (response: Response): void => {
    const status = response.status()
    if (status >= FIRST_ERROR && isOfPage(response.request()))
      this.#add({ status, url: response.url(), failure: `the page responded with ${status}` })
  }
  readonly #onFailure = (request: Request): void => {
    const { errorText = REPLACED } = request.failure() ?? {}
    if (errorText !== REPLACED && isOfPage(request))
      this.#add({ status: 0, url: request.url(), failure: `the page did not load: ${errorText}` })
  }

  constructor(private readonly context: BrowserContext) {
    context.on('response', this.#onResponse)
    context.on('requestfailed', this.#onFailure)
  }

  dispose(): void {
    this.context.off('response', this.#onResponse)
    this.context.off('requestfailed', this.#onFailure)
  }

  get hasBadPage(): boolean {
    return this.#worst !== undefined
  }

  /** The worst page since the last time this was asked. */
  takeBadPage(): BadPage | undefined {
    const worst = this.#worst
    this.#worst = undefined
    return worst
  }

  watch(page: Page): void {
    page.on('framenavigated', (frame) => {
      if (frame === page.mainFrame()) this.#navigated.add(page)
    })
  }

  /** An action begins, which may lead to another page. */
  beginAction(page: Page): void {
    this.#navigated.delete(page)
  }

  /** Waits until the page has navigated since the last action. */
  async untilNavigated(page: Page, timeoutMs: number): Promise<void> {
    if (this.#navigated.has(page)) return
    const signal = AbortSignal.timeout(timeoutMs)
    try {
      const frames = on(page as unknown as EventEmitter, 'framenavigated', { signal, close: ['close'] })
      for await (const [frame] of frames as AsyncIterable<[Frame]>) if (frame === page.mainFrame()) return
    } catch (thrown) {
      if (!signal.aborted) throw thrown
      const words = `waited ${timeoutMs / 1000} s for a navigation, without success: nothing led to another page`
      throw new Error(words, { cause: thrown })
    }
    throw new Error('the page was closed while waiting for a navigation')
  }

  #add(page: BadPage): void {
    if (this.#worst === undefined || page.status > this.#worst.status) this.#worst = page
  }
}

/** Whether it is for a page itself and not for a part of it. */
function isOfPage(request: Request): boolean {
  if (!request.isNavigationRequest()) return false
  try {
    return request.frame().parentFrame() === null
  } catch {
    // The frame does not exist yet: a popup that is being opened.
    return true
  }
}
