import { REHEARSAL } from '../../../analysis/outcome.js'
import type { FiguresDocument } from '../../../contract/verdict.js'
import { escapeHtml } from '../../escape.js'
import { samplesNeeded } from '../../../analysis/baseline/statistics/classify.js'
import { factsOf, metricNamed } from '../../../analysis/thresholds/metrics.js'
import { LIST_SCRIPT, LIST_SCRIPT_HASH } from '../assets.js'
import type { LabelRow, PageDocument, View } from '../build-document.js'
import { formatNumber, nameLabel, numberCells, renderSection, renderTable } from '../numbers.js'
import { pagePolicy } from '../page.js'
import { FIGURE_COLUMNS } from '../sections.js'
import { type RunChoice, renderChoices } from './run-actions.js'
import { renderHead, renderTop, type RenderedPage, type Visitor } from './served-parts.js'

/** One of two runs that have ended. */
export interface ComparedRun {
  readonly name: string
  readonly path: string
  /** The same names for both runs; a fact that neither run has is not shown. */
  readonly facts: readonly (readonly [name: string, value: string])[]
  readonly page: PageDocument
}

interface ComparisonView {
  /** The run to which the address belongs. */
  readonly run: ComparedRun
  /** The one that it is compared with; undefined if there is none. */
  readonly other: ComparedRun | undefined
  /** Why their figures may not be comparable, one sentence each. */
  readonly warnings: readonly string[]
  readonly comparePath: string
  readonly choices: readonly RunChoice[]
  readonly chosen: string | undefined
  readonly homePath: string
  readonly visitor: Visitor
}

/** A browser easily shows this many rows; those with the fewest samples are left out and counted. */
const MOST_LABELS = 500
const TITLE = 'Compare two runs'
const NONE = '–'
const CHANCE =
  'Two runs of the same test also differ by chance. Only a gate with a baseline can tell whether a change is more than that.'

/** Two runs side by side: A is the other one, B the one whose page leads here. It works without its script. */
export function renderComparePage(view: ComparisonView): RenderedPage {
  const policy = pagePolicy({ homePath: view.homePath }, LIST_SCRIPT_HASH)
  const { run, other, homePath, visitor, comparePath, choices, chosen } = view
  const form = renderChoices(comparePath, choices, chosen)
  const html = `${renderHead({ policy, title: TITLE })}
<body>
<button type="button" id="theme" hidden="">Dark</button>
<main>
${renderTop(visitor, { path: homePath, isHere: false })}
<h1>${TITLE}</h1>
<section class="card" id="actions" aria-label="The runs"><div class="bar">${form}<a href="${escapeHtml(run.path)}">Back to the run</a></div>
${other === undefined ? '<p>There is no other run of this project that has ended.</p>' : renderRuns(run, other, view.warnings)}</section>
${other === undefined ? '' : `${renderOverall(run, other)}\n${renderLabels(run, other)}`}
</main>
<script>${LIST_SCRIPT}</script>
</body>
</html>
`
  return { html, policy }
}

function renderRuns(run: ComparedRun, other: ComparedRun, warnings: readonly string[]): string {
  const valueOf = ({ facts }: ComparedRun, name: string): string =>
    facts.find(([each]) => each === name)?.[1] ?? NONE
  const known = run.facts.filter(([name]) => [other, run].some((each) => valueOf(each, name) !== NONE))
  const rows = known.map(([name]) => {
    const cells = [other, run].map((each) => `<td class="words">${escapeHtml(valueOf(each, name))}</td>`)
    return `<tr><th scope="row">${escapeHtml(name)}</th>${cells.join('')}</tr>`
  })
  const links = [other, run].map(
    (each) =>
      `<td class="words"><a href="${escapeHtml(each.path)}">${escapeHtml(each.name)}</a>${each.page.rehearsal === null ? '' : ` <span class="pill doubtful">${REHEARSAL}</span>`}</td>`
  )
  const table = renderTable({
    name: 'The runs',
    headings: ['', 'A', 'B'].map((heading) => heading || '<span class="unseen">What</span>'),
    rows: [`<tr><th scope="row">Run</th>${links.join('')}</tr>`, ...rows]
  })
  const warned = warnings.map(
    (warning) => `<p class="warning"><strong>Warning:</strong> ${escapeHtml(warning)}</p>`
  )
  return `${warned.join('')}${table}<p class="hint">${CHANCE}</p>`
}

function renderOverall(run: ComparedRun, other: ComparedRun): string {
  const [before, after] = [other, run].map(({ page }) => page.views[0]?.figures)
  const title = '<h2 id="overall-title">All samples</h2>'
  const missing = [other, run].filter(({ page }) => page.views.length === 0)
  if (before === undefined || after === undefined)
    return renderSection('overall', `${title}<p>${missing.map(describeMissing).join(' ')}</p>`)
  const rows = FIGURE_COLUMNS.map(({ key, name, write }) => {
    const cells = [write(before[key]), write(after[key]), renderChange(key, before, after)]
    return `<tr><th scope="row">${name}</th>${numberCells(cells)}</tr>`
  })
  return renderSection(
    'overall',
    `${title}${renderTable({ name: 'All samples', headings: ['Figure', 'A', 'B', 'Change'], rows })}`
  )
}

function describeMissing({ name, page }: ComparedRun): string {
  return `There are no figures of ${escapeHtml(name)}: ${escapeHtml(page.reason)}`
}

const LABEL_COLUMNS = ['p95', 'median', 'error_rate', 'samples'] as const

function renderLabels(run: ComparedRun, other: ComparedRun): string {
  const [before, after] = [other, run].map(({ page }) => page.views[0])
  if (before === undefined || after === undefined) return ''
  const pairs = pairLabels(before, after)
  if (pairs.length === 0) return ''
  const shown = pairs.slice(0, MOST_LABELS).sort((one, two) => growthOf(two) - growthOf(one))
  const headings = [
    'Label',
    ...LABEL_COLUMNS.flatMap((key) => {
      const { name = key, shortName = name } = FIGURE_COLUMNS.find((column) => column.key === key) ?? {}
      return [`${shortName} A`, `${shortName} B`, ...(key === 'samples' ? [] : ['Change'])]
    })
  ]
  const [countA, countB] = [before, after].map((view) =>
    formatNumber(view.labels.length + view.labelsLeftOut)
  )
  const isCut = pairs.length > shown.length || before.labelsLeftOut + after.labelsLeftOut > 0
  const more = isCut
    ? ` A has ${countA} labels, B ${countB}: the ${formatNumber(shown.length)} with the most samples are shown.`
    : ''
  return renderSection(
    'compared-labels',
    `<h2 id="compared-labels-title">By label</h2><p class="hint">The label whose p95 grew by the most milliseconds comes first.${more}</p>${renderTable({ name: 'By label', headings, rows: shown.map(renderPair) })}`
  )
}

interface Pair {
  readonly label: string
  readonly before: LabelRow | undefined
  readonly after: LabelRow | undefined
}

/** Those with the most samples first. A label that is missing in a shortened list may be one of those left out of it. */
function pairLabels(before: View, after: View): Pair[] {
  const [old, now] = [before, after].map(({ labels }) => new Map(labels.map((row) => [row.label, row])))
  const samplesOf = (pair: Pair): number => Math.max(pair.before?.samples ?? 0, pair.after?.samples ?? 0)
  return [...new Set([...after.labels, ...before.labels].map(({ label }) => label))]
    .map((label) => ({ label, before: old?.get(label), after: now?.get(label) }))
    .filter(
      (pair) => (pair.before ?? before.labelsLeftOut === 0) && (pair.after ?? after.labelsLeftOut === 0)
    )
    .sort((one, two) => samplesOf(two) - samplesOf(one))
}

/** In ms; a label of one run alone comes last. */
function growthOf({ before, after }: Pair): number {
  return before?.p95 == null || after?.p95 == null ? -Infinity : after.p95 - before.p95
}

function renderPair({ label, before, after }: Pair): string {
  const cells = LABEL_COLUMNS.flatMap((key) => {
    const write = FIGURE_COLUMNS.find((column) => column.key === key)?.write ?? formatNumber
    const [old, now] = [before?.[key] ?? null, after?.[key] ?? null]
    if (key === 'samples') return [write(old), write(now)]
    return [write(old), write(now), renderChange(key, before, after)]
  })
  return `<tr><th scope="row">${escapeHtml(nameLabel(label))}</th>${numberCells(cells)}</tr>`
}

/** Of times also in ms; grey where one of the runs has fewer samples than a gate would judge. */
function renderChange(
  key: keyof FiguresDocument,
  before: FiguresDocument | undefined,
  after: FiguresDocument | undefined
): string {
  const [old, now] = [before?.[key] ?? null, after?.[key] ?? null]
  const change = formatChange(key, old, now)
  const metric = metricNamed(key)
  if (old === null || now === null || metric === undefined || !factsOf(metric).isTime) return change
  const isFew = Math.min(before?.samples ?? 0, after?.samples ?? 0) < samplesNeeded(metric)
  const words = `${signed(now - old, Math.abs(now - old) < 10 ? 2 : 1)} ms <span class="origin">${change}${isFew ? ', few samples' : ''}</span>`
  return isFew ? `<span class="few">${words}</span>` : words
}

/** In per cent; percentage points for a rate of errors, plain for an apdex; a dash where there is nothing to say. */
export function formatChange(
  key: keyof FiguresDocument,
  before: number | null,
  after: number | null
): string {
  if (before === null || after === null) return NONE
  const change = after - before
  if (key === 'error_rate') return `${signed(change * 100)} points`
  if (key === 'apdex') return signed(change, 3)
  if (change === 0) return '0 %'
  return before === 0 ? NONE : `${signed((change / before) * 100, 1)} %`
}

/** With a sign of its own; what rounds to zero is zero. */
function signed(value: number, digits = 2): string {
  const rounded = Number(value.toFixed(Math.abs(value) >= 100 ? 0 : digits))
  const text = Math.abs(rounded).toLocaleString('en-US', { maximumFractionDigits: digits })
  return rounded === 0 ? '0' : `${rounded > 0 ? '+' : '−'}${text}`
}
