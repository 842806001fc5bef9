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

/** What a chart is drawn in, with what it shows in words. */
export function makePlot(words: string): HTMLDivElement {
  const plot = make('div', { className: 'plot' })
  plot.setAttribute('role', 'img')
  plot.setAttribute('aria-label', words)
  return plot
}

/** A colour of a chart, and what it stands for. */
export function makeLegendItem(swatch: string, text: string): HTMLElement {
  const item = make('span', { className: 'legend' })
  item.append(make('i', { className: `swatch ${swatch}` }), make('span', { text }))
  return item
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
