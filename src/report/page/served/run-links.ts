import { escapeHtml, formatBytes } from '../../escape.js'
import { formatNumber, renderFacts, renderTable } from '../numbers.js'

// What a service knows of a run besides its figures. It is part of the document, so that an open page gets it with the run's end.

interface Linked {
  readonly name: string
  /** Null if there is nothing safe to link to. */
  readonly href: string | null
}

export interface RunFile extends Linked {
  /** Null in `href` means that it is not there any more. */
  readonly about: string
  readonly bytes: number | null
}

export interface RunLinks {
  /** The commit, the pull request, the workflow run: with where each of them is. */
  readonly source: readonly (Linked & { readonly what: string; readonly where: string })[]
  readonly project: Linked | null
  readonly tags: readonly Linked[]
  /** Who sees the run. */
  readonly seenBy: string
  readonly notes: string
  readonly files: readonly RunFile[]
  /** How many more there are. */
  readonly filesLeftOut: number
  /** What comes later. */
  readonly filesToCome: string | null
}

/** Empty for a page that is a file: it leads nowhere. */
export function renderLinks({ links }: { readonly links?: RunLinks }): string {
  if (links === undefined) return ''
  const { source, project, tags, seenBy, notes } = links
  const facts: [string, string][] = [
    ...source.map(({ what, where, ...link }): [string, string] => [
      what,
      `${renderLink(link, ' rel="noreferrer"')} <span class="hint">${escapeHtml(where)}</span>`
    ]),
    ['Project', project === null ? '' : renderLink(project)],
    ['Tags', tags.map((tag) => renderLink(tag)).join(', ')],
    ['Seen by', escapeHtml(seenBy)],
    ['Notes', notes === '' ? '' : `<span class="lines">${escapeHtml(notes)}</span>`]
  ]
  const list = renderFacts(facts.filter(([, html]) => html !== ''))
  return `<h2 id="links-title">Source and files</h2>${list}${renderFiles(links)}`
}

function renderFiles({ files, filesLeftOut, filesToCome }: RunLinks): string {
  const rows = files.map(({ name, href, about, bytes }) => {
    const cells = [
      `<th scope="row">${renderLink({ name, href }, ' download=""')}</th>`,
      `<td class="words">${escapeHtml(about)}</td>`,
      `<td class="number">${bytes !== null ? formatBytes(bytes) : href === null ? 'missing' : '–'}</td>`
    ]
    return `<tr>${cells.join('')}</tr>`
  })
  const table =
    rows.length === 0 ? '' : renderTable({ name: 'Files', headings: ['File', 'What it is', 'Size'], rows })
  const more =
    filesLeftOut === 0 ? '' : `<p class="note">${formatNumber(filesLeftOut)} more are not listed here.</p>`
  return `${table}${more}${filesToCome === null ? '' : `<p class="note">${escapeHtml(filesToCome)}</p>`}`
}

function renderLink({ name, href }: Linked, more = ''): string {
  const text = escapeHtml(name)
  return href === null ? text : `<a href="${escapeHtml(href)}"${more}>${text}</a>`
}
