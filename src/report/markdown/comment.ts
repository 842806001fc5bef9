import { writeMarker, type CommentWriter } from './comment-marker.js'
import { extendHistory, readHistory, renderHistory, writeHistory } from './history.js'
import { keyFigures, renderErrorTable, renderLabelTables } from './figure-tables.js'
import { failedLabelChanges } from './label-changes.js'
import { fold, foreign, joinSections, warningBox } from './markdown.js'
import type { Outcome } from '../../analysis/outcome.js'
import { bytesOf } from '../escape.js'
import { reasonBelowHeading, rehearsalMark, listWarnings } from '../sentences.js'
import { renderStalls, comparisonTable, comparisonWords, thresholdTable } from './threshold-tables.js'
import { earlyStop, linkLine, shortLink, verdictHeading, warmUpLine, type SummaryLinks } from './summary.js'

export interface CommentLinks extends SummaryLinks {
  /** The workflow run, whose summary has everything. */
  readonly workflowUrl: string | undefined
}

/** Where the comment is written, and what was there. */
export interface CommentPlace {
  /** The same for every comment of the same workflow, job, leg and name; letters and digits. */
  readonly key: string
  /** Undefined if the workflow run is unknown. */
  readonly writer?: CommentWriter | undefined
  /** What the key stands for, in words. */
  readonly title: string
  readonly commit: string
  readonly repositoryUrl: string | undefined
  readonly previous: string | undefined
}

/** GitHub rejects a comment of more than 65,536 characters; there are never more characters than bytes. */
const MOST_BYTES = 60_000
const MOST_TITLE_BYTES = 200
const ROW_COUNTS = [20, 10, 5, 2, 1]
const ERROR_COUNTS = [10, 3, 1]
const LABEL_CHANGE_COUNTS = [5, 2, 1]
const SENTENCE_COUNTS = [Infinity, 2, 1]

/** The pull request comment: verdict, thresholds, collapsed errors and labels, recent commits, links. */
export function renderComment(outcome: Outcome, links: CommentLinks, place: CommentPlace): string {
  const history = extendHistory(readHistory(place.previous ?? ''), place.commit, outcome)
  const head = joinSections([
    writeMarker(place.key, place.writer),
    headline(outcome, place.title),
    // The job summary has the other paragraphs.
    foreign(reasonBelowHeading(outcome).split('\n\n')[0] ?? ''),
    earlyStop(outcome),
    keyFigures(outcome)
  ])
  const notices = joinSections([warmUpLine(outcome), warningBox(listWarnings(outcome))])
  const foot = joinSections([evidence(outcome, links), writeHistory(history)])
  const parts = [
    LABEL_CHANGE_COUNTS.map((rows) => failedLabelChanges(outcome, rows)),
    ROW_COUNTS.map((rows) => thresholdTable(outcome, rows)),
    ROW_COUNTS.map((rows) => comparisonTable(outcome, rows)),
    SENTENCE_COUNTS.map((most) => comparisonWords(outcome, most)),
    ROW_COUNTS.map((rows) => renderStalls(outcome, rows)),
    ERROR_COUNTS.map((rows) =>
      fold(`Errors${rehearsalMark(outcome.rehearsal)}`, renderErrorTable(outcome, rows))
    ),
    [fold('Slowest and most failing labels', renderLabelTables(outcome, '####'))],
    [fold('Recent commits', renderHistory(history, place.repositoryUrl))]
  ]
  const mostBytes = MOST_BYTES - bytesOf(head) - bytesOf(notices) - bytesOf(foot)
  const [labelChanges = '', ...others] = fitParts(parts, mostBytes)
  return `${joinSections([head, labelChanges, notices, ...others, foot])}\n`
}

function headline(outcome: Outcome, title: string): string {
  const place = title === '' ? '' : ` · ${foreign(title, MOST_TITLE_BYTES)}`
  return `${verdictHeading(outcome)}${rehearsalMark(outcome.rehearsal)}${place}`
}

function evidence(outcome: Outcome, links: CommentLinks): string {
  const summary = shortLink(links.workflowUrl)
  return [linkLine(outcome, links), summary === undefined ? '' : `[Job summary with charts](${summary})`]
    .filter((part) => part !== '')
    .join(' · ')
}

/** The longest form of each part that still fits; a part that does not fit at all is dropped, so that no markup breaks. */
function fitParts(parts: readonly (readonly string[])[], mostBytes: number): string[] {
  const note = '_Cut to fit; the job summary has more._'
  let left = mostBytes - bytesOf(note) - parts.length * 4
  const fitting = parts.map((forms) => {
    const form = forms.find((text) => bytesOf(text) <= left) ?? ''
    left -= bytesOf(form)
    return form
  })
  const isCut = fitting.some((form, index) => form !== parts[index]?.[0])
  return isCut ? [...fitting, note] : fitting
}
