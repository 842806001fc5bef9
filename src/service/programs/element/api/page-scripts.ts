// Functions that run in the page: they are sent there as text, so each must be complete in itself.

/** As much of the page's types as is used here. */
interface PageElement {
  readonly textContent: string | null
  readonly tagName: string
  readonly selected?: boolean
  readonly checked?: boolean
  selectedIndex: number
  matches(selector: string): boolean
  blur(): void
  dispatchEvent(event: unknown): void
}

declare const Event: new (kind: string, options: { readonly bubbles: boolean }) => unknown

declare const window: Readonly<Record<'innerWidth' | 'innerHeight' | 'scrollX' | 'scrollY', number>> &
  Readonly<Record<'scrollBy' | 'scrollTo', (x: number, y: number) => void>>
declare const document: {
  readonly activeElement: unknown
  readonly body: unknown
  readonly scrollingElement: { readonly scrollWidth: number; readonly scrollHeight: number }
}

interface Observer {
  observe(options: object): void
  takeRecords(): { readonly startTime: number }[]
  disconnect(): void
}

export const readText = (element: PageElement): string => (element.textContent ?? '').trim()
export const readTag = (element: PageElement): string => element.tagName.toLowerCase()
export const readProperty = (element: PageElement, name: string): unknown =>
  (element as unknown as Record<string, unknown>)[name]
export const isSelected = (element: PageElement): boolean => Boolean(element.selected ?? element.checked)
export const isSelectable = (element: PageElement): boolean =>
  element.matches('option, input[type=checkbox], input[type=radio]')
export const blur = (element: PageElement): void => element.blur()
export const clearSelect = (element: PageElement): void => {
  element.selectedIndex = -1
  element.dispatchEvent(new Event('input', { bubbles: true }))
  element.dispatchEvent(new Event('change', { bubbles: true }))
}
export const readActive = (): unknown => document.activeElement ?? document.body

export const scrollBy = ([x, y]: readonly (number | string)[]): void => {
  const read = (value: number | string | undefined): number => {
    if (value === 'window.innerWidth') return window.innerWidth
    return value === 'window.innerHeight' ? window.innerHeight : Number(value)
  }
  window.scrollBy(read(x), read(y))
}
export const scrollToPoint = ([x, y]: readonly number[]): void => window.scrollTo(Number(x), Number(y))
export const scrollToEdge = (edge: string): void => {
  const { scrollWidth, scrollHeight } = document.scrollingElement
  const x = { left: 0, right: scrollWidth }[edge] ?? window.scrollX
  const y = { top: 0, bottom: scrollHeight }[edge] ?? window.scrollY
  window.scrollTo(x, y)
}

/** Calls a script's own function; the browser library has room for one argument only. */
export const call = ([source, args]: readonly [string, readonly unknown[]]): unknown => {
  const run = (0, eval)(`(${source})`) as (...all: readonly unknown[]) => unknown
  return run(...args)
}

/** What a document says about its own loading, in ms since its navigation started; 0 is unknown. */
export type PageTiming = NonNullable<ReturnType<typeof readTiming>>

export const readTiming = () => {
  const page = performance as unknown as { getEntriesByType(kind: string): Record<string, number>[] }
  const [navigation] = page.getEntriesByType('navigation')
  if (navigation === undefined) return null
  const read = (name: string): number => navigation[name] ?? 0
  const observer = new PerformanceObserver(() => undefined) as unknown as Observer
  observer.observe({ type: 'largest-contentful-paint', buffered: true })
  const largest = observer.takeRecords().at(-1)
  observer.disconnect()
  return {
    startMs: performance.timeOrigin,
    status: read('responseStatus'),
    bytes: read('transferSize'),
    connectMs: read('connectEnd') - read('connectStart'),
    ttfbMs: read('responseStart'),
    domReadyMs: read('domContentLoadedEventEnd'),
    loadMs: read('loadEventEnd'),
    lcpMs: largest?.startTime ?? 0
  }
}
