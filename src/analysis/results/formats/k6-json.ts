import { StringDecoder } from 'node:string_decoder'
import { STEPS_HEADER } from '../../../contract/sample-row.js'
import { readDate } from '../csv/timestamp.js'
import { K6Points, type K6Options, type K6Tag } from './k6-points.js'
import { BadRows, type Translation, type TranslationFacts } from './translation.js'

/** A longer line is not k6's. */
const MAX_LINE = 1 << 20

interface PointLine {
  readonly metric?: unknown
  readonly type?: unknown
  readonly data?: {
    readonly time?: unknown
    readonly value?: unknown
    readonly tags?: Readonly<Record<string, unknown>> | null
    readonly metadata?: Readonly<Record<string, unknown>> | null
  }
}

/** Reads what `k6 run --out json` writes: a document per line, a metric's description or a point. */
export class K6Json implements Translation {
  readonly header = STEPS_HEADER
  readonly #points: K6Points
  readonly #bad = new BadRows()
  readonly #decoder = new StringDecoder('utf8')
  #rest = ''
  #number = 0
  #isBroken = false

  constructor(options: K6Options = {}) {
    this.#points = new K6Points(options)
  }

  push(chunk: Uint8Array): Buffer {
    if (this.#isBroken) return this.#points.flush()
    const lines = (
      this.#rest + this.#decoder.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length))
    ).split('\n')
    this.#rest = lines.pop() ?? ''
    for (const line of lines) this.#take(line)
    if (this.#rest.length > MAX_LINE) this.#break('it has no end within 1 MiB')
    return this.#points.flush()
  }

  end(): Buffer {
    // The last line may have no line break; half a document does not count.
    if (this.#rest.trim() !== '') this.#take(this.#rest, 'the file ends in the middle of it')
    return this.#points.end()
  }

  get facts(): TranslationFacts {
    const { facts } = this.#points
    return { ...facts, problems: [...facts.problems, ...this.#bad.problems] }
  }

  #take(line: string, otherwise = 'it is not a JSON document'): void {
    this.#number++
    if (line.trim() === '') return
    let found: PointLine | null
    try {
      found = JSON.parse(line) as PointLine | null
    } catch {
      this.#bad.add(this.#number, otherwise)
      return
    }
    if (found?.type === 'Metric') return
    const { metric, data } = found ?? {}
    const timeMs = typeof data?.time === 'string' ? (readDate(data.time) ?? NaN) : NaN
    if (
      found?.type !== 'Point' ||
      typeof metric !== 'string' ||
      typeof data?.value !== 'number' ||
      Number.isNaN(timeMs)
    ) {
      this.#bad.add(this.#number, 'it is not a point of k6')
      return
    }
    const tags = { ...data.tags, ...data.metadata }
    const tag = (name: K6Tag): string => textOf(tags[name])
    this.#points.take({ metric, timeMs, value: data.value, tag, vu: textOf(tags.vu) })
  }

  #break(words: string): void {
    this.#isBroken = true
    this.#rest = ''
    this.#bad.add(this.#number + 1, words)
  }
}

function textOf(value: unknown): string {
  return typeof value === 'string'
    ? value
    : typeof value === 'number' || typeof value === 'boolean'
      ? String(value)
      : ''
}
