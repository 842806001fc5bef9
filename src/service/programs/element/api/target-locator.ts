import type { ElementHandle as PageElement, Frame, Page } from 'playwright-core'
import { ElementHandle, type ElementHost } from './element-handle.js'
import { readActive } from './page-scripts.js'

/** What is switched. */
interface Tabs extends ElementHost {
  readonly frame: Frame
  readonly pages: readonly Page[]
  enterFrame(frame: Frame | undefined): void
  enterPage(page: Page): Promise<void>
  maybeFindElement(target: unknown): Promise<ElementHandle | null>
}

/** `browser.switchTo()`. */
export class TargetLocator {
  constructor(private readonly browser: Tabs) {}

  async activeElement(): Promise<ElementHandle | null> {
    const handle = await this.browser.frame.evaluateHandle(readActive)
    const element = handle.asElement() as PageElement | null
    return element && new ElementHandle(this.browser, element, 'the active element')
  }

  defaultContent(): Promise<void> {
    this.browser.enterFrame(undefined)
    return Promise.resolve()
  }

  async frame(which: unknown): Promise<void> {
    const found = await this.#findFrame(which)
    if (found === null || found === undefined)
      throw new Error(`no frame was found by ${typeof which === 'string' ? `'${which}'` : String(which)}`)
    this.browser.enterFrame(found)
  }

  async page(which: number | Page): Promise<void> {
    const page = typeof which === 'number' ? this.browser.pages[which] : which
    if (page === undefined)
      throw new Error(`there is no such page: ${this.browser.pages.length} are open, counted from 0`)
    await this.browser.enterPage(page)
  }

  async #findFrame(which: unknown): Promise<Frame | null | undefined> {
    const { page, frame } = this.browser
    if (typeof which === 'number') return frame.childFrames()[which]
    const named = typeof which === 'string' ? page.frame({ name: which }) : null
    if (named !== null) return named
    // A word may be the id of the frame's element.
    const target = typeof which === 'string' && /^[\w-]+$/.test(which) ? `[id="${which}"]` : which
    return (await this.browser.maybeFindElement(target))?.element.contentFrame()
  }
}
