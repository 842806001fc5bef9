/** An element that the page's own markup always has. */
export function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`)
  return element
}

export function make<Name extends keyof HTMLElementTagNameMap>(
  name: Name,
  { className = '', text = '' } = {}
): HTMLElementTagNameMap[Name] {
  const element = document.createElement(name)
  if (className !== '') element.className = className
  element.textContent = text
  return element
}

/** Fills a collapsible part when it is opened, and again when its content changes while it is open. */
export function fillWhenOpen(fold: HTMLDetailsElement, render: () => string): () => void {
  const content = make('div')
  fold.append(content)
  const refresh = (): void => {
    if (fold.open) rewrite(content, render())
  }
  fold.addEventListener('toggle', refresh)
  return refresh
}

/** Replaces the content where it differs, and keeps the focus, how far tables are scrolled, and which parts are open. */
export function rewrite(element: HTMLElement, html: string): void {
  if (written.get(element) === html) return
  const places = [...element.querySelectorAll('.scroll')].map(({ scrollLeft, scrollTop }) => {
    return { scrollLeft, scrollTop }
  })
  const open = [...element.querySelectorAll('details')].map((fold) => fold.open)
  const focused = element.contains(document.activeElement) ? document.activeElement : null
  const selector = focused === null || focused === element ? undefined : selectorOf(focused)
  const among = selector === undefined ? [] : [...element.querySelectorAll(selector)]
  const index = focused === null ? -1 : among.indexOf(focused)
  element.innerHTML = html
  written.set(element, html)
  for (const [i, scrolled] of [...element.querySelectorAll('.scroll')].entries())
    Object.assign(scrolled, places[i] ?? {})
  for (const [i, fold] of [...element.querySelectorAll('details')].entries()) fold.open = open[i] ?? fold.open
  if (selector === undefined) return
  const same = element.querySelectorAll<HTMLElement>(selector)
  // What had the focus may be gone: then its surroundings have it, not the top of the page.
  const next = same[index] ?? same[same.length - 1] ?? element.querySelector<HTMLElement>('.scroll')
  next?.focus({ preventScroll: true })
}

const written = new WeakMap<HTMLElement, string>()

/** Finds an element again that was rendered anew. */
function selectorOf(element: Element): string {
  const attribute = ['id', 'href', 'aria-label', 'name'].find((name) => element.hasAttribute(name))
  const tag = element.tagName.toLowerCase()
  return attribute === undefined
    ? tag
    : `${tag}[${attribute}="${CSS.escape(element.getAttribute(attribute) ?? '')}"]`
}
