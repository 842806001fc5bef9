import { openSync, writeSync } from 'node:fs'
import { STEPS_HEADER } from '../../../../contract/sample-row.js'

/** The service redacts messages before it shortens them: half a secret would not be found. */
const MAX_MESSAGE = 8000

export interface StepRow {
  readonly startMs: number
  readonly elapsedMs: number
  readonly idleMs: number
  readonly label: string
  readonly user: number
  readonly code: string
  /** Null for a step that passed. */
  readonly failure: string | null
  readonly bytes: number
  readonly url: string
  readonly latencyMs: number
  readonly connectMs: number
}

/** Writes results, each at once, so that it can be read and survives a kill. */
export class Rows {
  readonly #file: number
  active = 0
  steps = 0

  constructor(path: string) {
    this.#file = openSync(path, 'w')
    writeSync(this.#file, STEPS_HEADER)
  }

  addStep(row: StepRow): void {
    const failure = oneLine(row.failure)
    const isPassed = row.failure === null
    this.steps++
    this.#add(
      ...[row.startMs, row.elapsedMs, row.label, row.code, isPassed ? 'OK' : failure, `user ${row.user}`],
      ...['text', isPassed, failure, row.bytes, 0, this.active, this.active, row.url],
      ...[row.latencyMs, row.idleMs, row.connectMs, '']
    )
  }

  addTiming(row: { startMs: number; elapsedMs: number; name: string; step: string; user: number }): void {
    this.#add(
      ...[row.startMs, row.elapsedMs, `${row.step} [${row.name}]`, '200', 'OK', `user ${row.user}`],
      ...['text', true, '', 0, 0, this.active, this.active, '', 0, 0, 0, row.step]
    )
  }

  #add(...fields: (string | number | boolean)[]): void {
    const texts = fields.map((field) => quote(String(typeof field === 'number' ? Math.round(field) : field)))
    writeSync(this.#file, `${texts.join(',')}\n`)
  }
}

/** The first line of an error's message, without the colours that some libraries put into it. */
export function oneLine(text: string | null): string {
  // eslint-disable-next-line no-control-regex -- these are what is looked for
  const plain = (text ?? '').replace(/\u001b\[[0-9;]*m/g, '').trimStart()
  const line = plain.split(/[\r\n]/)[0] ?? ''
  if (line.length <= MAX_MESSAGE) return line
  // Nor is a word cut in two.
  const start = line.slice(0, MAX_MESSAGE)
  return `${start.slice(0, start.lastIndexOf(' ') + 1)}…`
}

function quote(field: string): string {
  const plain = field.replace(/[\r\n\t]+/g, ' ')
  return /[",]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain
}
