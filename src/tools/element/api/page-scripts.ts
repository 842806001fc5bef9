// Functions for the page, as text: they run in another world than the code around them, and have its types only.

export const READ_TEXT = '(element) => (element.textContent ?? "").trim()'
export const READ_TAG = '(element) => element.tagName.toLowerCase()'
export const READ_PROPERTY = '(element, name) => element[name]'
export const IS_SELECTED = '(element) => Boolean(element.selected ?? element.checked)'
export const IS_SELECTABLE = '(element) => element.matches("option, input[type=checkbox], input[type=radio]")'
export const BLUR = '(element) => element.blur()'
export const CLEAR_SELECT = `(element) => {
  element.selectedIndex = -1
  element.dispatchEvent(new Event('input', { bubbles: true }))
  element.dispatchEvent(new Event('change', { bubbles: true }))
}`
export const ACTIVE_ELEMENT = 'document.activeElement ?? document.body'
export const SCROLL_BY = `([x, y]) => {
  const resolve = (value) => value === 'window.innerWidth' ? innerWidth : value === 'window.innerHeight' ? innerHeight : Number(value)
  scrollBy(resolve(x), resolve(y))
}`
export const SCROLL_TO_POINT = '([x, y]) => scrollTo(x, y)'
export const SCROLL_TO_EDGE = `(edge) => {
  const { scrollWidth, scrollHeight } = document.scrollingElement
  const x = edge === 'right' ? scrollWidth : edge === 'left' ? 0 : scrollX
  const y = edge === 'bottom' ? scrollHeight : edge === 'top' ? 0 : scrollY
  scrollTo(x, y)
}`

/** Calls a script's own function in the page; the browser library has room for one argument only. */
export const CALL = '([source, args]) => (0, eval)(`(${source})`)(...args)'

/** The last document's own timing, in ms since its navigation started. */
export const READ_TIMING = `() => {
  const [navigation] = performance.getEntriesByType('navigation')
  if (navigation === undefined) return null
  const observer = new PerformanceObserver(() => {})
  observer.observe({ type: 'largest-contentful-paint', buffered: true })
  const lcp = observer.takeRecords().at(-1)
  observer.disconnect()
  return {
    startMs: performance.timeOrigin,
    status: navigation.responseStatus ?? 0,
    bytes: navigation.transferSize,
    connectMs: navigation.connectEnd - navigation.connectStart,
    ttfbMs: navigation.responseStart,
    domReadyMs: navigation.domContentLoadedEventEnd,
    loadMs: navigation.loadEventEnd,
    lcpMs: lcp ? lcp.startTime : 0
  }
}`
