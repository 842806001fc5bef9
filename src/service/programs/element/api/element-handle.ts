import type { Page, ElementHandle as PageElement } from 'playwright-core'
import { existsSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { toLocator } from './by.js'
import * as inPage from './page-scripts.js'

type Point = readonly [x: number, y: number]

interface ElementHost {
  readonly page: Page
  readonly timeoutMs: number
  readonly folder: string
  act<T>(action: () => Promise<T>): Promise<T>
  pressOrType(keys: readonly unknown[]): Promise<void>
  drag(from: ElementHandle, to: ElementHandle): Promise<void>
  takeScreenshot(): Promise<void>
}

export class ElementHandle {
  constructor(
    private readonly browser: ElementHost,
    /** The browser library's own handle, which some scripts use. */
    readonly element: PageElement,
    private readonly description: string
  ) {}

  readonly toErrorString = (): string => this.description
  readonly text = (): Promise<string> => this.element.evaluate(inPage.readText)
  readonly tagName = (): Promise<string> => this.element.evaluate(inPage.readTag)
  readonly getId = (): Promise<string | null> => this.element.getAttribute('id')
  readonly getAttribute = (name: string): Promise<string | null> => this.element.getAttribute(name)
  readonly getProperty = (name: string): Promise<unknown> => this.element.evaluate(inPage.readProperty, name)
  readonly isSelected = (): Promise<boolean> => this.element.evaluate(inPage.isSelected)
  readonly isSelectable = (): Promise<boolean> => this.element.evaluate(inPage.isSelectable)
  readonly isDisplayed = (): Promise<boolean> => this.element.isVisible()
  readonly isEnabled = (): Promise<boolean> => this.element.isEnabled()
  readonly dispose = (): Promise<void> => this.element.dispose()
  readonly focus = (): Promise<void> => this.browser.act(() => this.element.focus())
  readonly blur = (): Promise<void> => this.browser.act(() => this.element.evaluate(inPage.blur))
  readonly drag = (to: ElementHandle): Promise<void> => this.browser.drag(this, to)
  readonly takeScreenshot = (): Promise<void> => this.browser.takeScreenshot()
  readonly highlight = (): Promise<void> => Promise.resolve()
  readonly clearHighlights = (): Promise<void> => Promise.resolve()

  toString(): string {
    return this.description
  }

  click(options?: object): Promise<void> {
    return this.browser.act(() => this.element.click({ timeout: this.browser.timeoutMs, ...options }))
  }

  doubleClick(options?: object): Promise<void> {
    return this.browser.act(() => this.element.dblclick({ timeout: this.browser.timeoutMs, ...options }))
  }

  clear(): Promise<void> {
    return this.browser.act(async () => {
      if ((await this.tagName()) === 'select') await this.element.evaluate(inPage.clearSelect)
      else await this.element.fill('', { timeout: this.browser.timeoutMs })
    })
  }

  type(text: unknown, options?: { delay?: number }): Promise<void> {
    return this.browser.act(async () => {
      await this.element.focus()
      await this.browser.page.keyboard.type(String(text), options)
    })
  }

  sendKeys(...keys: unknown[]): Promise<void> {
    return this.browser.act(async () => {
      await this.element.focus()
      await this.browser.pressOrType(keys)
    })
  }

  uploadFile(...names: string[]): Promise<void> {
    const files = names.map((name) => findUploaded(this.browser.folder, name))
    return this.browser.act(() => this.element.setInputFiles(files, { timeout: this.browser.timeoutMs }))
  }

  async findElement(target: unknown): Promise<ElementHandle> {
    const [first] = await this.findElements(target)
    if (first === undefined)
      throw new Error(`no element was found by ${toLocator(target).text} within ${this.description}`)
    return first
  }

  async findElements(target: unknown): Promise<ElementHandle[]> {
    const { selector, text } = toLocator(target)
    if (selector === undefined) throw new Error(`${text} works on the whole page only`)
    // From here on, not from the document.
    const relative = selector.replace(/^xpath=(\(*)\/\//, 'xpath=$1.//')
    const found = await this.element.$$(relative)
    return found.map((element) => new ElementHandle(this.browser, element, text))
  }

  async location(): Promise<{ x: number; y: number }> {
    const { x, y } = await this.#box()
    return { x, y }
  }

  async size(): Promise<{ width: number; height: number }> {
    const { width, height } = await this.#box()
    return { width, height }
  }

  async centerPoint(): Promise<Point> {
    const { x, y, width, height } = await this.#box()
    return [x + width / 2, y + height / 2]
  }

  async #box(): Promise<NonNullable<Awaited<ReturnType<PageElement['boundingBox']>>>> {
    const box = await this.element.boundingBox()
    if (box === null) throw new Error(`${this.description} is not displayed, so it has no place on the page`)
    return box
  }
}

/** An uploaded file by the path that it has in the script's repository: all of them are uploaded into one folder. */
export function findUploaded(folder: string, path: string): string {
  const inPlace = resolve(folder, path)
  const inFolder = join(folder, basename(path))
  return !existsSync(inPlace) && existsSync(inFolder) ? inFolder : inPlace
}

const DRAG_MOVES = 5

export class Mouse {
  constructor(private readonly page: Page) {}

  readonly click = (x: number, y: number, options?: object): Promise<void> =>
    this.page.mouse.click(x, y, options)
  readonly down = (options?: object): Promise<void> => this.page.mouse.down(options)
  readonly up = (options?: object): Promise<void> => this.page.mouse.up(options)

  async move(...points: (number | Point)[]): Promise<void> {
    const [x, y] = points
    if (typeof x === 'number' && typeof y === 'number') await this.page.mouse.move(x, y)
    else for (const [toX, toY] of points as Point[]) await this.page.mouse.move(toX, toY)
  }

  async drag(from: Point, ...to: Point[]): Promise<void> {
    await this.page.mouse.move(...from)
    await this.page.mouse.down()
    for (const [x, y] of to) await this.page.mouse.move(x, y, { steps: DRAG_MOVES })
    await this.page.mouse.up()
  }
}
