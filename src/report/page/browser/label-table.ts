import { count } from '../../../contract/text.js'
import type { LabelRow, View } from '../build-document.js'
import { formatNumber, labelAddress } from '../numbers.js'
import { FIGURE_COLUMNS, renderLabel } from '../sections.js'
import { find, make } from './elements.js'

type Key = Exclude<keyof LabelRow, 'spark' | 'isAside'>

interface Column {
  readonly name: string
  /** Undefined for a column that cannot be sorted. */
  readonly key: Key | undefined
}

const COLUMNS: readonly Column[] = [
  { name: 'Label', key: 'label' },
  { name: 'Distribution', key: undefined },
  ...FIGURE_COLUMNS.map(({ key, name, shortName = name }) => ({ name: shortName, key }))
]
const ROWS_AT_FIRST = 100
const collator = new Intl.Collator('en', { numeric: true })

export class LabelTable {
  readonly #table = find('label-table', HTMLTableElement)
  readonly #search = find('label-search', HTMLInputElement)
  readonly #count = find('label-count', HTMLElement)
  readonly #more = find('more-labels', HTMLButtonElement)
  readonly #headings = new Map<Key, HTMLTableCellElement>()
  #view: View | undefined
  #sortedBy: Key = 'samples'
  #isAscending = false
  #isWhole = false

  constructor() {
    this.#table.tHead?.append(this.#makeHead())
    this.#search.addEventListener('input', () => this.#fill())
    // A row is as wide as the table: all of it leads where its link does.
    this.#table.tBodies[0]?.addEventListener('click', ({ target }) => {
      const isSelecting = getSelection()?.isCollapsed === false
      if (!(target instanceof Element) || target.closest('a') !== null || isSelecting) return
      target.closest('tr')?.querySelector('a')?.click()
    })
    this.#more.addEventListener('click', () => {
      this.#isWhole = true
      this.#fill()
    })
  }

  show(view: View | undefined): void {
    this.#view = view
    find('labels', HTMLElement).hidden = view === undefined || view.labels.length === 0
    this.#fill()
  }

  /** For the keyboard, after a label was closed; nothing if its row is not shown. */
  focusOn(label: string): void {
    const address = `#${labelAddress(label)}`
    const links = [...this.#table.querySelectorAll<HTMLAnchorElement>('tbody a')]
    links.find((link) => link.getAttribute('href') === address)?.focus()
  }

  #makeHead(): HTMLTableRowElement {
    const row = make('tr')
    for (const { name, key } of COLUMNS) {
      const cell = make('th')
      cell.scope = 'col'
      if (key === undefined) cell.textContent = name
      else {
        const button = make('button', { className: 'sort', text: name })
        button.type = 'button'
        button.addEventListener('click', () => this.#sortBy(key))
        cell.append(button)
        this.#headings.set(key, cell)
      }
      row.append(cell)
    }
    return row
  }

  /** Names are sorted from a to z first, numbers from the largest. */
  #sortBy(key: Key): void {
    this.#isAscending = this.#sortedBy === key ? !this.#isAscending : key === 'label'
    this.#sortedBy = key
    this.#fill()
  }

  #fill(): void {
    const { labels = [], labelsLeftOut = 0 } = this.#view ?? {}
    for (const [key, cell] of this.#headings)
      cell.ariaSort = key !== this.#sortedBy ? null : this.#isAscending ? 'ascending' : 'descending'
    const words = this.#search.value.trim().toLowerCase()
    const found = labels
      .filter(({ label }) => label.toLowerCase().includes(words))
      .sort((a, b) => compare(a[this.#sortedBy], b[this.#sortedBy], this.#isAscending))
    const shown = this.#isWhole ? found : found.slice(0, ROWS_AT_FIRST)
    const [body] = this.#table.tBodies
    if (body !== undefined) body.innerHTML = shown.map(renderLabel).join('')
    this.#more.hidden = shown.length === found.length
    this.#more.textContent = `Show all ${formatNumber(found.length)}`
    this.#count.textContent = describeCount(shown.length, found.length, labels.length, labelsLeftOut)
  }
}

/** Rows without a number come last in both directions. */
function compare(a: string | number | null, b: string | number | null, isAscending: boolean): number {
  if (a === null || b === null) return Number(a === null) - Number(b === null)
  const order =
    typeof a === 'string' || typeof b === 'string' ? collator.compare(String(a), String(b)) : a - b
  return isAscending ? order : -order
}

function describeCount(shown: number, found: number, all: number, labelsLeftOut: number): string {
  const labels = count(all, 'label')
  const matches = found === all ? labels : `${formatNumber(found)} of ${labels}`
  const cut = shown < found ? `, the first ${formatNumber(shown)} shown` : ''
  const rest =
    labelsLeftOut > 0 ? `; ${formatNumber(labelsLeftOut)} with fewer samples are in verdict.json alone` : ''
  return `${matches}${cut}${rest}. Times in ms, rate in samples per second. Open a label to see it by itself.`
}
