import { readFileSync } from 'node:fs'
import type { ToolLine } from '../../../analysis/thresholds/judge/tool-lines.js'
import { count, formatDuration } from '../../../contract/text.js'
import type { TestOptions } from './options.js'
import type { K6Facts } from './order.js'
import type { Samples } from './samples.js'
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

/** What k6's end means for the run. */
export function conclude(found: Found): K6Facts {
  const { end, words, samples } = found
  const { problems, losses, notes } = samples.translation.facts
  const { lines, missing } = judgedLines(found)
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
      // After another end k6 may not have judged them, and whoever was there is interrupted.
      ...(problem === null ? [...words.describeInterrupted(), ...missing] : [])
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
  const how = end.signal === null ? `exit code ${end.code}` : `killed by ${end.signal}`
  const said = words.errors.length === 0 ? '' : `: ${words.errors.join('\n')}`
  if (end.limitMs !== undefined)
    return `k6 was ended, for it still ran after ${formatDuration(end.limitMs)}, which is longer than the script can take with setup() and teardown() (${how})${said}`
  return end.code === 0 || end.code === CROSSED || end.code === MARKED_FAILED
    ? null
    : `k6 ended with ${how}${said}`
}

/** The thresholds as k6 has judged them, and a sentence if it has not judged all that the script has. */
function judgedLines({ summary, options }: Found): { lines: ToolLine[]; missing: string[] } {
  // k6 writes them in any order.
  const lines = readThresholds(summary).sort((one, other) => (one.text < other.text ? -1 : 1))
  const metrics = Object.entries(options.thresholds ?? {})
  const unjudged = metrics
    .filter(([, expressions]) => expressions.length > 0)
    .map(([metric]) => metric)
    .filter((metric) => !lines.some(({ text }) => text.startsWith(`${metric} `)))
  const missing = `k6 did not say whether these thresholds hold: ${unjudged.join(', ')}`
  return { lines, missing: unjudged.length === 0 ? [] : [missing] }
}

/** `metric expression` of every threshold; in k6's summary `true` stands for a crossed one. */
function readThresholds(file: string): ToolLine[] {
  try {
    const { metrics = {} } = JSON.parse(readFileSync(file, 'utf8')) as {
      metrics?: Readonly<Record<string, { thresholds?: Readonly<Record<string, boolean | { ok: boolean }>> }>>
    }
    return Object.entries(metrics).flatMap(([metric, { thresholds = {} }]) =>
      Object.entries(thresholds).map(([expression, crossed]) => ({
        text: `${metric} ${expression}`,
        holds: typeof crossed === 'boolean' ? !crossed : crossed.ok
      }))
    )
  } catch {
    // There is none, or it is not k6's: what it should say is missing.
    return []
  }
}
