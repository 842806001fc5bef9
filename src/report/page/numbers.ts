import { escapeHtml } from '../escape.js'
import type { Measurements, TimeSeries } from '../../analysis/results/figures/measurements.js'

/** Creating a formatter takes longer than using one a thousand times. */
const whole = new Intl.NumberFormat('en-US', { maximumFractionDigits: 0 })
const tenths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const hundredths = new Intl.NumberFormat('en-US', { maximumFractionDigits: 2 })
const NONE = '–'
const NO_LABEL = '(no name)'

/** With a sensible number of digits: `1,240`, `55.3`, `2.75`. */
export function formatNumber(value: number | null): string {
  if (value === null) return NONE
  const size = Math.abs(value)
  return (size >= 100 ? whole : size >= 10 ? tenths : hundredths).format(value)
}

export function formatMs(value: number | null): string {
  return value === null ? NONE : `${formatNumber(value)} ms`
}

export function formatRate(value: number | null): string {
  return value === null ? NONE : `${formatNumber(value)}/s`
}

/** A share above zero is never shown as 0 %. */
export function formatPercent(share: number | null): string {
  if (share === null) return NONE
  return share > 0 && share < 0.0001 ? '< 0.01 %' : `${formatNumber(share * 100)} %`
}

/** Truncated, never rounded up: 0.8499 is not 0.85. */
export function formatApdex(score: number | null): string {
  return score === null ? NONE : (Math.floor(score * 1000 + 1e-9) / 1000).toString()
}

/** Time since the start: `0:05`, `12:30`, `1:02:03`; with tenths if needed. */
export function formatElapsed(seconds: number): string {
  const total = Math.round(seconds * 10) / 10
  const hours = Math.floor(total / 3600)
  const minutes = Math.floor((total % 3600) / 60)
  const rest = Number((total % 60).toFixed(1))
  const padded = rest < 10 ? `0${rest}` : String(rest)
  return hours > 0 ? `${hours}:${String(minutes).padStart(2, '0')}:${padded}` : `${minutes}:${padded}`
}

export interface TableParts {
  readonly name: string
  readonly headings: readonly string[]
  readonly rows: readonly string[]
  /** Each row begins with an outcome; on a narrow screen it is a list of cells. */
  readonly hasOutcomes?: boolean
}

/** A table in its own scrollable box, also by keyboard, for narrow screens. */
export function renderTable({ name, headings, rows, hasOutcomes = false }: TableParts): string {
  const head = headings.map((heading) => `<th scope="col">${heading}</th>`).join('')
  const kind = hasOutcomes ? ' class="outcomes"' : ''
  return wrapTable(
    name,
    `<table${kind}><thead><tr>${head}</tr></thead><tbody>${rows.join('\n')}</tbody></table>`
  )
}

export function numberCells(cells: readonly string[]): string {
  return cells.map((cell) => `<td class="number">${cell}</td>`).join('')
}

/** With the names of their columns, for a table with outcomes. */
export function namedCells(cells: readonly (readonly [name: string, html: string, kind?: string])[]): string {
  return cells
    .map(([name, html, kind = 'number']) => `<td class="${kind}" data-name="${name}">${html}</td>`)
    .join('')
}

/** Names and values, which are HTML; empty if there are none. */
export function renderFacts(facts: readonly (readonly [name: string, html: string])[]): string {
  const items = facts.map(([name, html]) => `<div><dt>${escapeHtml(name)}</dt><dd>${html}</dd></div>`)
  return items.length === 0 ? '' : `<dl class="facts">${items.join('')}</dl>`
}

/** Its content has the title; hidden without any. */
export function renderSection(id: string, content: string): string {
  const hidden = content === '' ? ' hidden=""' : ''
  return `<section id="${id}" class="card" aria-labelledby="${id}-title"${hidden}>${content}</section>`
}

/** With a button that the page's script shows and serves. */
export function wrapTable(name: string, table: string): string {
  return `<div class="table"><div class="scroll" tabindex="0" role="group" aria-label="${name}">${table}</div><button type="button" class="copy" aria-label="Copy as Markdown: ${name}">Copy as Markdown</button></div>`
}

/** Half a character, which no address can hold. */
const HALF_CHARACTER = /\p{Surrogate}/gu

/** What opens a label, after the `#` of the page's address. */
export function labelAddress(label: string): string {
  return `label=${encodeURIComponent(asWritten(label))}`
}

/** A label as an address can hold it. */
export function asWritten(label: string): string {
  return label.replace(HALF_CHARACTER, '\uFFFD')
}

/** A label as people read it; some requests have none. */
export function nameLabel(label: string): string {
  return label.trim() === '' ? NO_LABEL : label
}

/** It opens the label; the row that stands for all other errors has none. */
export function linkLabel(label: string): string {
  if (label === '' || label === NO_LABEL) return escapeHtml(label)
  return `<a href="#${escapeHtml(labelAddress(label))}">${escapeHtml(label)}</a>`
}

/** When the first bucket begins. Undefined without a common axis: a series of several runs has no gaps between them, so is too short. */
export function findOrigin({ series, startMs, endMs = NaN }: Measurements): number | undefined {
  if (series === undefined || startMs === undefined) return undefined
  const originMs = bucketStart(startMs, series)
  return endMs <= originMs + series.atMs.length * series.bucketMs ? originMs : undefined
}

/** Buckets begin at multiples of their width. */
export function bucketStart(atMs: number, { bucketMs }: Pick<TimeSeries, 'bucketMs'>): number {
  return Math.floor(atMs / bucketMs) * bucketMs
}
