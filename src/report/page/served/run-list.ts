import { formatPosition, renderHead, renderTop, type RenderedPage, type Visitor } from './served-parts.js'
import { escapeHtml, cutToBytes } from '../../escape.js'
import { REHEARSAL } from '../../../analysis/outcome.js'
import { LIST_SCRIPT, LIST_SCRIPT_HASH } from '../assets.js'
import type { RunStatus } from '../build-document.js'
import { formatElapsed, formatNumber, formatPercent, renderTable } from '../numbers.js'
import { formatTime } from '../../sentences.js'
import { pagePolicy } from '../page.js'
import { HEADLINE_TONES } from '../sections.js'

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
  readonly project?: string | undefined
  readonly user?: string | undefined
  /** From 1, while it waits for its turn. */
  readonly queuePosition?: number | undefined
  /** By its thresholds; `pending` until it is known. */
  readonly verdict?: 'passed' | 'failed' | 'inconclusive' | 'left to the gate' | 'pending' | undefined
  readonly reason?: string | undefined
}

/** What the list is limited to, as it was typed in. */
type ListFilter = Readonly<Partial<Record<'name' | 'project' | 'tag' | 'user' | 'status', string>>>

export interface ListView {
  readonly eventsPath: string
  readonly homePath: string
  readonly filter: ListFilter
  readonly statuses: readonly string[]
  readonly visitor?: Visitor
}

/** One page of the list, with links to the others. */
export interface RunListPage extends Readonly<
  Partial<Record<'newestPath' | 'newerPath' | 'olderPath' | 'oldestPath', string>>
> {
  readonly runs: readonly RunLine[]
  /** The position of the first of them in the whole list, from 1. */
  readonly first: number
  readonly total: number
  /** Set if the list is filtered: it shows all runs again. */
  readonly clearPath?: string
}

const TITLE = 'Load tests'
/** The run's page has all of it. */
const MOST_TITLE_BYTES = 500
const HEADINGS = [
  ...['Run', 'Status', 'Verdict', 'Apdex', 'Duration', 'Samples', 'Errors', 'Project', 'Started by'],
  'Created'
]

/** The list of runs as a page that updates from `eventsPath` whenever the list changes. */
export function renderListPage(list: RunListPage, view: ListView): RenderedPage {
  const { eventsPath, homePath } = view
  const policy = pagePolicy({ eventsPath, homePath }, LIST_SCRIPT_HASH)
  const html = `${renderHead({ policy, title: TITLE })}
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${renderTop(view.visitor, { path: homePath, isHere: true })}
<h1>${TITLE}</h1>
${renderFilter(view)}
<section class="card" aria-label="Runs"><p id="connection" class="hint" role="status"></p>
<div id="runs" data-events="${escapeHtml(eventsPath)}">${renderRunList(list)}</div></section>
</main>
<script>${LIST_SCRIPT}</script>
</body>
</html>
`
  return { html, policy }
}

export function renderRunList(list: RunListPage): string {
  const { runs } = list
  if (runs.length === 0)
    return list.clearPath === undefined
      ? '<p>No runs yet.</p>'
      : `<p>No runs match. <a href="${escapeHtml(list.clearPath)}">Show all runs</a></p>`
  return `${renderTable({ name: 'Runs', headings: HEADINGS, rows: runs.map(renderLine) })}${renderPages(list)}`
}

/** A form that works without the page's script; its address can be kept and shared. */
function renderFilter({ filter, statuses, homePath }: ListView): string {
  const field = (name: 'name' | 'project' | 'tag' | 'user', label: string, hint = ''): string =>
    `<label>${label} <input type="search" name="${name}" value="${escapeHtml(filter[name] ?? '')}" maxlength="300" autocomplete="off" spellcheck="false"${hint}></label>`
  const options = statuses.map(
    (status) => `<option${status === filter.status ? ' selected=""' : ''}>${status}</option>`
  )
  const clear =
    Object.keys(filter).length === 0 ? '' : `<a href="${escapeHtml(homePath)}">Clear the filter</a>`
  return `<form class="card filter" method="get" action="${escapeHtml(homePath)}" role="search" aria-label="Filter the runs">
${field('name', 'Name contains')}
${field('project', 'Project')}
${field('tag', 'Tag')}
${field('user', 'Started by')}
<label>Status <select name="status"><option value="">any</option>${options.join('')}</select></label>
<div class="tools"><button type="submit">Filter</button>${clear}</div>
</form>`
}

/** Nothing if one page shows them all. */
function renderPages({ runs, first, total, ...paths }: RunListPage): string {
  if (runs.length === total) return paths.clearPath === undefined ? '' : countMatches(total)
  const link = (path: string | undefined, words: string, more = ''): string =>
    path === undefined ? '' : `<a href="${escapeHtml(path)}"${more}>${words}</a>`
  const last = first + runs.length - 1
  return `<nav class="bar pages" aria-label="Pages">
<div class="tools">${link(paths.newestPath, 'Newest')}${link(paths.newerPath, '← Newer', ' rel="prev"')}</div>
<span class="hint number">${formatNumber(first)} to ${formatNumber(last)} of ${formatNumber(total)} runs</span>
<div class="tools">${link(paths.olderPath, 'Older →', ' rel="next"')}${link(paths.oldestPath, 'Oldest')}</div>
</nav>`
}

function countMatches(total: number): string {
  return `<p class="hint number">${formatNumber(total)} ${total === 1 ? 'run matches' : 'runs match'}.</p>`
}

function renderLine(run: RunLine): string {
  const mark = run.rehearsal ? ` <span class="pill doubtful">${REHEARSAL}</span>` : ''
  const cells = [
    `<td>${renderStatus(run)}</td>`,
    `<td>${renderVerdict(run)}</td>`,
    number(escapeHtml(run.apdex ?? '–')),
    number(run.elapsedMs === undefined ? '–' : formatElapsed(Math.round(run.elapsedMs / 1000))),
    number(formatNumber(run.samples ?? null)),
    number(formatPercent(run.errorRate ?? null)),
    text(run.project),
    text(run.user),
    number(formatTime(run.createdMs))
  ]
  const name = run.name === undefined || run.name.trim() === '' ? run.id : run.name
  const link = `<a href="${escapeHtml(run.path)}">${escapeHtml(name)}</a>`
  return `<tr><th scope="row">${link}${mark}</th>${cells.join('')}</tr>`
}

/** A run that lost load has finished like any other, but must not look like one. */
function renderStatus({ status, problem, isLoadLost = false, queuePosition }: RunLine): string {
  const isDoubtful = status === 'finished' && isLoadLost
  const position = queuePosition === undefined ? '' : `, ${formatPosition(queuePosition)}`
  const tone = status === 'problem' ? 'bad' : isDoubtful ? 'doubtful' : 'neutral'
  const title = problem === undefined ? '' : ` title="${escapeHtml(cutToBytes(problem, MOST_TITLE_BYTES))}"`
  return `<span class="pill ${tone}"${title}>${status}${isDoubtful ? ', load lost' : position}</span>`
}

function renderVerdict({ verdict, reason }: RunLine): string {
  if (verdict === undefined) return '–'
  if (verdict === 'pending') return '<span class="hint">judging…</span>'
  const title = reason === undefined ? '' : ` title="${escapeHtml(cutToBytes(reason, MOST_TITLE_BYTES))}"`
  return `<span class="pill ${HEADLINE_TONES[verdict]}"${title}>${verdict}</span>`
}

function text(words: string | undefined): string {
  return `<td class="short">${words === undefined || words.trim() === '' ? '–' : escapeHtml(words)}</td>`
}

function number(text: string): string {
  return `<td class="number">${text}</td>`
}
