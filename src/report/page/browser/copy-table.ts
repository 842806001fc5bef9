import { make } from './elements.js'
import { writeMarkdown } from './export-text.js'

const SAID_MS = 2_000

/** Every table has a button, wherever it was rendered and whenever. */
export function watchCopying(): void {
  const status = make('p', { className: 'unseen' })
  status.setAttribute('role', 'status')
  document.body.append(status)
  document.addEventListener('click', ({ target }) => {
    const button = target instanceof Element ? target.closest<HTMLButtonElement>('button.copy') : null
    const table = button?.parentElement?.querySelector('table')
    if (button === null || table == null) return
    // While a dialog is open, what is outside of it is not read out.
    const around = button.closest('dialog') ?? document.body
    if (status.parentElement !== around) around.append(status)
    void copyTable(button, table, status)
  })
}

async function copyTable(button: HTMLButtonElement, table: HTMLTableElement, status: HTMLElement) {
  const text = writeMarkdown(readTable(table))
  try {
    await navigator.clipboard.writeText(text)
    say(button, status, 'Copied')
  } catch {
    // Only pages of a secure origin may write to the clipboard, and only if the reader allows it.
    offerText(button, text)
  }
}

function say(button: HTMLButtonElement, status: HTMLElement, words: string): void {
  const before = button.textContent
  button.textContent = words
  button.disabled = true
  status.textContent = words
  setTimeout(() => {
    button.textContent = before
    button.disabled = false
    status.textContent = ''
  }, SAID_MS)
}

/** The text itself, selected: one key copies it. */
function offerText(button: HTMLButtonElement, text: string): void {
  const box = make('textarea', { className: 'to-copy' })
  box.readOnly = true
  box.rows = 6
  box.value = text
  box.setAttribute('aria-label', 'The table as Markdown, selected: copy it with Ctrl+C or ⌘C')
  button.after(box)
  button.hidden = true
  const close = (): void => {
    button.hidden = false
    box.remove()
  }
  box.addEventListener('blur', close)
  box.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return
    // It closes this box alone, not a dialog around it.
    event.preventDefault()
    event.stopPropagation()
    button.hidden = false
    // The box loses the focus by it, and closes.
    button.focus()
  })
  box.focus()
  box.select()
}

function readTable(table: HTMLTableElement): string[][] {
  const rows = [...table.rows].filter(({ classList }) => !classList.contains('more'))
  return rows.map(({ cells }) => [...cells].map((cell) => cell.innerText.trim()))
}
