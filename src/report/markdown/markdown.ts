import { escapeHtml, escapeMarkdown, replaceControls } from '../escape.js'
import { cutToBytes } from '../size.js'

const MOST_CELL_BYTES = 1_000

/** Untrusted text for one cell or line: escaped, and short enough to leave space for others. */
export function foreign(text: string, mostBytes = MOST_CELL_BYTES): string {
  const shown = cutToBytes(text, mostBytes)
  return escapeMarkdown(shown) + (shown === text ? '' : '…')
}

const MOST_BLOCK_BYTES = 20_000

/** Untrusted text of several paragraphs: the first as a line, the others with their line breaks and indentation, to be copied. */
export function foreignParagraphs(text: string): string {
  const [first = '', ...others] = text.split('\n\n')
  if (others.length === 0) return foreign(text)
  const block = cutToBytes(others.join('\n\n').trimEnd(), MOST_BLOCK_BYTES)
  const lines = block.split('\n').map((line) => escapeHtml(replaceControls(line)))
  return joinSections([foreign(first), `<pre>\n${lines.join('\n')}\n</pre>`])
}

/** A table of rows whose cells are already Markdown. A heading that ends in a colon is for numbers, aligned right. */
export function table(headings: readonly string[], rows: readonly (readonly string[])[]): string {
  const names = headings.map((heading) => heading.replace(/:$/, ''))
  const rule = headings.map((heading) => (heading.endsWith(':') ? '---:' : '---'))
  return [names, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')
}

/** Sections separated by a blank line, without empty ones. */
export function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join('\n\n')
}

/** Highlighted lines of untrusted text. */
export function warningBox(lines: readonly string[]): string {
  return lines.map((line) => `> ⚠️ ${foreign(line)}`).join('\n>\n')
}

/** A part that opens on a click. The title is our own text without Markdown. */
export function fold(title: string, content: string): string {
  return content === '' ? '' : `<details><summary>${title}</summary>\n\n${content}\n\n</details>`
}
