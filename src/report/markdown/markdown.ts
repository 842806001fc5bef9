import { formatValue } from '../../analysis/thresholds/format.js'
import { escapeHtml, escapeMarkdown, replaceControls, cutToBytes } from '../escape.js'

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

/** A table under its heading, and how many rows are not in it; empty without rows. */
export function tableSection(
  heading: string,
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  total = rows.length
): string {
  const others = total - rows.length
  const more = others === 0 ? '' : `${formatValue('samples', others)} more are in verdict.json.`
  return rows.length === 0 ? '' : joinSections([heading, table(headings, rows), more])
}

/** Sections separated by a blank line, without empty ones. */
export function joinSections(sections: readonly string[]): string {
  return sections.filter((section) => section !== '').join('\n\n')
}

export function warningBox(lines: readonly string[]): string {
  return lines.map((line) => `> ⚠️ ${foreign(line)}`).join('\n>\n')
}

/** A part that opens on a click. The title is our own text without Markdown. */
export function fold(title: string, content: string): string {
  return content === '' ? '' : `<details><summary>${title}</summary>\n\n${content}\n\n</details>`
}

/** Colours that are visible on a light and on a dark page; Mermaid's own are hard to see on white. */
export const BLUE = '#2f81f7'
export const ORANGE = '#d9730d'
export const RED = '#e5534b'
export const GREY = '#8b949e'
/** Mermaid does not parse exponents. */
const LARGEST = 1e15

export interface MermaidChart {
  readonly title: string
  /** The line of the axis, without `x-axis`. */
  readonly xAxis: string
  readonly height: number
  readonly lines: readonly { readonly colour: string; readonly values: readonly number[] }[]
}

/** Old and new versions understand `xychart-beta`; GitHub chooses which one draws. */
export function drawChart({ title, xAxis, height, lines }: MermaidChart): string {
  const rows = lines.map(({ values }) => values.map(writable))
  const look = {
    xyChart: { width: 900, height },
    themeVariables: { xyChart: { plotColorPalette: lines.map(({ colour }) => colour).join(', ') } }
  }
  return [
    '```mermaid',
    `%%{init: ${JSON.stringify(look)}}%%`,
    'xychart-beta',
    `    title "${title}"`,
    `    x-axis ${xAxis}`,
    // An axis from 0 to 0 has no scale.
    `    y-axis 0 --> ${Math.max(1, ...rows.flat())}`,
    ...rows.map((row) => `    line [${row.join(', ')}]`),
    '```'
  ].join('\n')
}

function writable(value: number): number {
  const bounded = Math.min(LARGEST, value)
  return bounded >= 100 ? Math.round(bounded) : Number(bounded.toFixed(2))
}
