import { escapeHtml } from '../escape.js'
import { NO_MESSAGE } from '../rows.js'
import { formatTime } from '../sentences.js'
import type { PageDetails, PageDocument } from './build-document.js'
import {
  formatElapsed,
  formatMs,
  formatNumber,
  formatPercent,
  linkLabel,
  nameLabel,
  renderTable
} from './numbers.js'

/** More of them would push the charts off the screen. */
const MOST_OPEN_ERRORS = 3

export function renderErrors({ errors, details, startMs }: PageDocument): string {
  if (errors.length === 0) return ''
  return `<h2 id="errors-title">Errors</h2>${renderErrorTable(errors, { samples: details?.failures ?? [], startMs })}`
}

type ErrorRow = PageDocument['errors'][number]
type FailedSample = PageDetails['failures'][number]

interface ErrorParts {
  readonly samples: readonly FailedSample[]
  readonly startMs: number | null
  /** Of one label: it is said once, above. */
  readonly isOfLabel?: boolean
}

/** Why samples failed; below each reason the first samples that failed so, as far as they are known. */
export function renderErrorTable(errors: readonly ErrorRow[], parts: ErrorParts): string {
  const { isOfLabel = false } = parts
  const headings = ['Failed', 'Share', 'Code', 'Message', ...(isOfLabel ? [] : ['Label'])]
  const isOpen = errors.length <= MOST_OPEN_ERRORS
  const rows = errors.map((error) => {
    const cells = [
      `<td class="number">${formatNumber(error.count)}</td>`,
      `<td class="number">${formatPercent(error.share)}</td>`,
      `<td>${escapeHtml(error.code)}</td>`,
      `<th scope="row">${escapeHtml(error.message)}</th>`,
      ...(isOfLabel ? [] : [`<td>${linkLabel(error.label)}</td>`])
    ]
    const first = parts.samples.filter((sample) => isOfError(sample, error))
    const more = first.length === 0 ? '' : renderFirst(first, parts.startMs, isOpen)
    const below = more === '' ? '' : `\n<tr class="more"><td colspan="${headings.length}">${more}</td></tr>`
    return `<tr>${cells.join('')}</tr>${below}`
  })
  return renderTable({ name: 'Errors', headings, rows })
}

/** The rows of errors have words where there is no text. */
function isOfError(sample: FailedSample, { label, code, message }: ErrorRow): boolean {
  const isSame = sample.code === code && (sample.message || NO_MESSAGE) === message
  return isSame && nameLabel(sample.label) === label
}

function renderFirst(samples: readonly FailedSample[], startMs: number | null, isOpen: boolean): string {
  const items = samples.map(({ atMs, elapsedMs, thread, url }) => {
    const parts = [
      ...(startMs === null || atMs < startMs ? [] : [`at ${formatElapsed((atMs - startMs) / 1000)}`]),
      formatTime(atMs),
      `after ${formatMs(elapsedMs)}`,
      ...(thread === '' ? [] : [`thread ${escapeHtml(thread)}`]),
      ...(url === undefined ? [] : [`<code>${escapeHtml(url)}</code>`])
    ]
    return `<li>${parts.join(' · ')}</li>`
  })
  const words =
    samples.length === 1 ? 'The first failed sample' : `The first ${samples.length} failed samples`
  return `<details${isOpen ? ' open=""' : ''}><summary>${words}</summary><ul class="samples">${items.join('')}</ul></details>`
}
