import { escapeMarkdown } from '../../escape.js'

export type Cell = string | number | null

/** What a spreadsheet would take for a formula. */
const FORMULA = /^[=+\-@\t\r]/
const LONGEST_NAME = 80

/** Text that would be a formula in a spreadsheet gets a quote before it; numbers stay numbers. */
export function writeCsv(rows: readonly (readonly Cell[])[]): string {
  return rows.map((row) => `${row.map(writeCell).join(',')}\r\n`).join('')
}

function writeCell(cell: Cell): string {
  if (cell === null) return ''
  if (typeof cell === 'number') return String(cell)
  const text = FORMULA.test(cell) ? `'${cell}` : cell
  return /[",;\t\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text
}

/** The first row is the heading; columns of pictures, which have no text, are left out. */
export function writeMarkdown(rows: readonly (readonly string[])[]): string {
  const [headings = [], ...others] = rows
  const columns = headings.flatMap((_, i) => (others.every((row) => (row[i] ?? '') === '') ? [] : [i]))
  const shown = others.length === 0 ? headings.map((_, i) => i) : columns
  const lineOf = (row: readonly string[]): string =>
    `| ${shown.map((i) => escapeMarkdown(row[i] ?? '')).join(' | ')} |\n`
  return `${lineOf(headings)}|${shown.map(() => ' --- |').join('')}\n${others.map(lineOf).join('')}`
}

/** A name that means the same on every system, whatever a label or a title contains. */
export function fileNameOf(parts: readonly string[], ending: string): string {
  const words = ['loadgate', ...parts].map((part) =>
    part
      .toLowerCase()
      .replace(/[^a-z0-9]+/g, '-')
      .replace(/^-+|-+$/g, '')
  )
  const name = words
    .filter((word) => word !== '')
    .join('-')
    .slice(0, LONGEST_NAME)
  return `${name}.${ending}`
}
