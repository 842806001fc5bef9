import { describeLoad } from '../../plans/make/load.js'
import { plain } from '../screen.js'
import type { Choices } from './choices.js'
import { CONFIG_PATH, PLAN_PATH, WORKFLOW_PATH } from './paths.js'
import { describeStart } from './start-step.js'
import type { Start } from './start-step.js'

/** What `--json` prints. */
export interface InitResult {
  readonly written: readonly string[]
  readonly target: string
  /** The labels of what the plan sends. */
  readonly requests: readonly string[]
  readonly disabled: readonly string[]
  readonly thresholds: readonly string[]
  readonly start: Start
  readonly notes: readonly string[]
}

const SHOWN_REQUESTS = 5

/** What was written, what to know about it, and what to do next. */
export function describeResult(result: InitResult, { load, durationSeconds }: Choices): string {
  const { target, requests, thresholds, start, notes } = result
  // A user may visit the same page several times.
  const names = [...new Set(requests)]
  const shown = names.slice(0, SHOWN_REQUESTS).join(', ')
  const more = names.length > SHOWN_REQUESTS ? `, and ${names.length - SHOWN_REQUESTS} more` : ''
  const lines = [
    `Wrote ${PLAN_PATH}: ${shown}${more}, at ${target}.`,
    `Wrote ${CONFIG_PATH}: ${describeLoad(load)} for ${durationSeconds} s; ${thresholds.join(', ')}.`,
    `Wrote ${WORKFLOW_PATH}: the gate on every pull request; it starts ${describeStart(start)}.`,
    ...(notes.length === 0 ? [] : ['', 'To know:', ...notes.map((note) => `- ${note}`)]),
    '',
    'Next:',
    `1. Start the application, and run \`loadgate check --config ${CONFIG_PATH}\`: it finds mistakes in seconds.`,
    `2. \`loadgate run --config ${CONFIG_PATH}\` gives a first verdict on this machine, with Java 17 and Maven.`,
    `3. ${
      start.kind === 'elsewhere'
        ? 'Commit the three files'
        : `Read the step "Start the application" in ${WORKFLOW_PATH}, then commit the three files`
    }, and open a pull request.`,
    '4. When it works, make the check "Load gate" required: Settings, Rules, Rulesets.'
  ]
  return `${plain(lines.join('\n'))}\n`
}
