import { Connection } from './connection.js'
import { find } from './elements.js'
import { watchTheme } from './theme.js'

watchTheme(() => undefined)
const runs = find('runs', HTMLElement)
new Connection(runs.dataset.events ?? '', (data) => {
  // Rendered by the service, with all text escaped.
  keepPlace(() => (runs.innerHTML = JSON.parse(data) as string))
  return false
})

/** Keeps the reader's focus and scroll position when the list is replaced. */
function keepPlace(rewrite: () => void): void {
  const before = runs.querySelector('.scroll')?.scrollLeft ?? 0
  const focused = runs.contains(document.activeElement) ? document.activeElement : null
  const selector = focused?.hasAttribute('href')
    ? `a[href="${CSS.escape(focused.getAttribute('href') ?? '')}"]`
    : '.scroll'
  rewrite()
  const table = runs.querySelector('.scroll')
  if (table !== null) table.scrollLeft = before
  if (focused !== null) runs.querySelector<HTMLElement>(selector)?.focus({ preventScroll: true })
}
