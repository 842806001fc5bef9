import { count, formatDuration } from '../../../contract/text.js'
import { describeExit } from '../../lines.js'
import type { TestOptions } from './options.js'
import type { K6Facts } from './order.js'
import type { Samples } from './samples.js'
import { listThresholds, readSummary } from './summary.js'
import type { K6Words } from './words.js'

export interface Ending {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
  /** Set if k6 was ended because it had taken this long. */
  readonly limitMs?: number | undefined
}

interface Found {
  readonly end: Ending
  readonly words: K6Words
  readonly samples: Pick<Samples, 'translation' | 'failure'>
  readonly options: TestOptions
  /** Where k6 writes its summary. */
  readonly summary: string
}

/** How k6 exits, as far as it is not an error: a threshold is crossed, or the script has called `exec.test.fail()`. */
const CROSSED = 99
const MARKED_FAILED = 110

export function conclude(found: Found): K6Facts {
  const { end, words, samples } = found
  const { problems, losses, notes } = samples.translation.facts
  const summary = readSummary(found.summary, found.options)
  const lines = summary?.lines ?? []
  const problem = findProblem(found)
  const said = words.firstException.split('\n', 1)[0] ?? ''
  return {
    problem,
    losses: [
      ...losses,
      ...problems.map((each) => `k6 wrote samples that cannot be read: ${each}`),
      ...(words.exceptions > 0
        ? [`k6: an exception ended ${count(words.exceptions, 'iteration')}: ${said}`]
        : []),
      // If k6 ended otherwise, it may not have written everything, and its iterations are interrupted.
      ...(problem === null ? [...words.describeInterrupted(), ...doubtSamples(found, summary)] : [])
    ],
    doubts: notes,
    lines: [
      ...lines,
      ...(end.code === MARKED_FAILED ? [{ text: 'the script marked the test as failed', holds: false }] : []),
      // Never green where k6 says that a threshold is crossed, whatever its summary says.
      ...(end.code === CROSSED && lines.every(({ holds }) => holds)
        ? [{ text: 'thresholds of the script', holds: false }]
        : [])
    ],
    ...{ requests: samples.translation.requests, isIdle: false }
  }
}

export function describeFailure(words: string): string {
  return `The samples of k6 could not be written: ${words}`
}

function findProblem({ end, words, samples }: Found): string | null {
  if (samples.failure !== undefined) return describeFailure(samples.failure)
  const how = describeExit(end)
  const said = words.errors.length === 0 ? '' : `: ${words.errors.join('\n')}`
  if (end.limitMs !== undefined)
    return `k6 was stopped, because it was still running after ${formatDuration(end.limitMs)}, which is longer than the script can take with setup() and teardown() (${how})${said}`
  return end.code === 0 || end.code === CROSSED || end.code === MARKED_FAILED
    ? null
    : `k6 ended with ${how}${said}`
}

/** What k6's summary lacks, or says against the samples. */
function doubtSamples({ samples, options }: Found, summary: ReturnType<typeof readSummary>): string[] {
  if (summary === undefined)
    return [
      'k6 wrote no summary that can be read, so nothing says that its samples and thresholds are complete'
    ]
  const { requests, facts } = samples.translation
  const isOther = summary.requests !== requests && facts.problems.length === 0
  const unjudged = listThresholds(options)
    .map(({ text }) => text)
    .filter((text) => !summary.lines.some((line) => line.text === text))
  return [
    ...(isOther
      ? [
          `k6 counted ${count(summary.requests, 'request')}, and wrote samples of ${requests}: the samples are not complete, or not all of them are of this test`
        ]
      : []),
    ...(unjudged.length === 0 ? [] : [`k6 did not say whether these thresholds hold: ${unjudged.join(', ')}`])
  ]
}
