import { escapeMarkdown } from '../escape.js'
import { cutToBytes } from '../size.js'

const MOST_CELL_BYTES = 1_000

/** Text that the project did not write, for one cell or line: escaped, and short enough to leave room for the others. */
export function foreign(text: string, mostBytes = MOST_CELL_BYTES): string {
  const shown = cutToBytes(text, mostBytes)
  return escapeMarkdown(shown) + (shown === text ? '' : '…')
}

/** A table of rows whose cells are Markdown already. A heading that ends in a colon is for numbers, set to the right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = headings.map((heading) => heading.replace(/:$/, ''))
  const rule = headings.map((heading) => (heading.endsWith(':') ? '---:' : '---'))
  return [names, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Sections with a blank line between them; empty ones leave no trace. */
export function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join('\n\n')
}

/** Lines that stand out, each in text that the project did not write. */
export function warningBox(lines: readonly string[]): string {
  return lines.map((line) => `> ⚠️ ${foreign(line)}`).join('\n>\n')
}

/** A part that opens on a click. The title is Markdown-free text of our own. */
export function fold(title: string, content: string): string {
  return content === '' ? '' : `<details><summary>${title}</summary>\n\n${content}\n\n</details>`
}
