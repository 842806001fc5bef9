import { rewrite } from './keep-place.js'

/** An element that the page's own markup always has. */
export function find<Kind extends HTMLElement>(id: string, kind: new () => Kind): Kind {
  const element = document.getElementById(id)
  if (!(element instanceof kind)) throw new Error(`the page has no ${kind.name} #${id}`)
  return element
}

/** Creates an element with a class and text. */
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
