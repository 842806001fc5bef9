import { escapeHtml } from '../escape.js'
import { REHEARSAL } from '../outcome.js'
import { LIST_SCRIPT, LIST_SCRIPT_HASH, PAGE_STYLE } from './assets.js'
import type { RunStatus } from './document.js'
import { formatElapsed, formatNumber, formatPercent, formatTime } from './numbers.js'
import { cutToBytes } from '../size.js'
import { renderTable } from './table.js'
import { pagePolicy } from './page.js'
import type { RenderedPage } from './run-page.js'
import { SIGN_OUT } from './sign-out.js'

/** A run in the list: facts, no verdict. */
export interface RunLine {
  readonly path: string
  readonly id: string
  readonly name: string | undefined
  readonly status: RunStatus
  /** As the service writes it: `0.83 [500]`. */
  readonly apdex: string | undefined
  readonly createdMs: number
  readonly elapsedMs: number | undefined
  readonly samples: number | undefined
  /** 0 to 1. */
  readonly errorRate: number | undefined
  readonly rehearsal: boolean
  /** Remarks on its end. */
  readonly problem?: string | undefined
  /** It ended, but part of the requested load was not generated. */
  readonly isLoadLost?: boolean
}

/** One page of the list, with links to the others. */
export interface RunListPage {
  readonly runs: readonly RunLine[]
  /** The position of the first of them in the whole list, from 1. */
  readonly first: number
  readonly total: number
  readonly newestPath?: string
  readonly newerPath?: string
  readonly olderPath?: string
  readonly oldestPath?: string
}

const TITLE = 'Load tests on this machine'
/** The run's page has all of it. */
const MOST_TITLE_BYTES = 500
const HEADINGS = ['Run', 'Status', 'Apdex', 'Duration', 'Samples', 'Errors', 'Created']

/** The list of runs as a page that updates from `eventsPath` whenever the list changes. */
export function renderListPage(list: RunListPage, eventsPath: string): RenderedPage {
  const policy = pagePolicy({ eventsPath }, LIST_SCRIPT_HASH)
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="${policy}">
<meta name="color-scheme" content="light dark">
<title>${TITLE}</title>
<style>${PAGE_STYLE}</style>
</head>
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${SIGN_OUT}<h1>${TITLE}</h1>
<section class="card" aria-label="Runs"><p id="connection" class="hint" role="status"></p>
<div id="runs" data-events="${escapeHtml(eventsPath)}">${renderRunList(list)}</div></section>
</main>
<script>${LIST_SCRIPT}</script>
</body>
</html>
`
  return { html, policy }
}

/** The list itself, in the given order. */
export function renderRunList(list: RunListPage): string {
  const { runs } = list
  if (runs.length === 0) return '<p>No runs yet.</p>'
  return `${renderTable({ name: 'Runs', headings: HEADINGS, rows: runs.map(renderLine) })}${renderPages(list)}`
}

/** Nothing if one page shows them all. */
function renderPages({ runs, first, total, ...paths }: RunListPage): string {
  if (runs.length === total) return ''
  const link = (path: string | undefined, words: string, more = ''): string =>
    path === undefined ? '' : `<a href="${escapeHtml(path)}"${more}>${words}</a>`
  const last = first + runs.length - 1
  return `<nav class="bar pages" aria-label="Pages">
<div class="tools">${link(paths.newestPath, 'Newest')}${link(paths.newerPath, '← Newer', ' rel="prev"')}</div>
<span class="hint number">${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(total)} runs</span>
<div class="tools">${link(paths.olderPath, 'Older →', ' rel="next"')}${link(paths.oldestPath, 'Oldest')}</div>
</nav>`
}

function renderLine(run: RunLine): string {
  const mark = run.rehearsal ? ` <span class="pill doubtful">${REHEARSAL}</span>` : ''
  const cells = [
    `<td>${renderStatus(run)}</td>`,
    number(escapeHtml(run.apdex ?? '–')),
    number(run.elapsedMs === undefined ? '–' : formatElapsed(Math.round(run.elapsedMs / 1000))),
    number(formatNumber(run.samples ?? null)),
    number(formatPercent(run.errorRate ?? null)),
    number(formatTime(run.createdMs))
  ]
  const name = run.name === undefined || run.name.trim() === '' ? run.id : run.name
  const link = `<a href="${escapeHtml(run.path)}">${escapeHtml(name)}</a>`
  return `<tr><th scope="row">${link}${mark}</th>${cells.join('')}</tr>`
}

/** A run that lost load has finished like any other, but must not look like one. */
function renderStatus({ status, problem, isLoadLost = false }: RunLine): string {
  const isDoubtful = status === 'finished' && isLoadLost
  const tone = status === 'problem' ? 'bad' : isDoubtful ? 'doubtful' : 'neutral'
  const title = problem === undefined ? '' : ` title="${escapeHtml(cutToBytes(problem, MOST_TITLE_BYTES))}"`
  return `<span class="pill ${tone}"${title}>${status}${isDoubtful ? ', load lost' : ''}</span>`
}

function number(text: string): string {
  return `<td class="number">${text}</td>`
}
