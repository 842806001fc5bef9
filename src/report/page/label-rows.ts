import { bytesOf } from '../escape.js'
import type { LabelRow, PageDocument, View } from './build-document.js'

/** Rows as lists under one list of names: a third of the bytes. */
interface PackedRows {
  readonly keys: readonly string[]
  /** Names without a value in any row. */
  readonly empty: readonly string[]
  readonly rows: readonly (readonly unknown[])[]
}

/** A document as the page embeds it. */
export type EmbeddedDocument = Omit<PageDocument, 'views'> & {
  readonly views: readonly (Omit<View, 'labels'> & { readonly labels: PackedRows })[]
}

/** Regions and grids share at most this part of the space; the labels of all samples have the rest. */
const SHARE_OF_PARTS = 0.25

/** As many labels as fit into so many bytes of JSON; those with the fewest samples are left out and counted. */
export function embedDocument(page: PageDocument, mostBytes: number): EmbeddedDocument {
  const packed = page.views.map((view) => ({ ...view, labels: packRows(view.labels) }))
  const [all, ...parts] = packed
  if (all === undefined) return { ...page, views: [] }
  const none = packed.map((view) => ({ ...view, labels: { ...view.labels, rows: [] } }))
  const space = mostBytes - bytesOf(writeJson({ ...page, views: none }))
  const cut = parts.map((view) => cutRows(view, (space * SHARE_OF_PARTS) / parts.length))
  const used = cut.reduce((sum, { labels }) => sum + sizeOf(labels.rows), 0)
  return { ...page, views: [cutRows(all, space - used), ...cut] }
}

type PackedView = EmbeddedDocument['views'][number]

function cutRows(view: PackedView, mostBytes: number): PackedView {
  const { rows } = view.labels
  let left = mostBytes
  const found = rows.findIndex((row) => (left -= sizeOf([row])) < 0)
  if (found < 0) return view
  const labelsLeftOut = view.labelsLeftOut + rows.length - found
  return { ...view, labels: { ...view.labels, rows: rows.slice(0, found) }, labelsLeftOut }
}

/** With a comma after each. */
function sizeOf(rows: PackedRows['rows']): number {
  return rows.reduce((sum, row) => sum + bytesOf(writeJson(row)) + 1, 0)
}

export function readEmbedded(page: EmbeddedDocument): PageDocument {
  return { ...page, views: page.views.map((view) => ({ ...view, labels: unpackRows(view.labels) })) }
}

/** Inside a script element `</script` and `<!--` would end it or change how it is parsed, so every `<` is escaped. */
export function writeJson(value: unknown): string {
  return JSON.stringify(value).replaceAll('<', '\\u003c')
}

function packRows(rows: readonly LabelRow[]): PackedRows {
  const [first] = rows
  const names = first === undefined ? [] : (Object.keys(first) as (keyof LabelRow)[])
  const empty = names.filter((name) => rows.every((row) => row[name] === null))
  const keys = names.filter((name) => !empty.includes(name))
  return { keys, empty, rows: rows.map((row) => keys.map((key) => row[key])) }
}

function unpackRows({ keys, empty, rows }: PackedRows): LabelRow[] {
  return rows.map((row) =>
    Object.fromEntries([
      ...keys.map((key, i): [string, unknown] => [key, row[i]]),
      ...empty.map((key): [string, unknown] => [key, null])
    ])
  ) as unknown as LabelRow[]
}
