import { STEPS_HEADER } from '../../../contract/sample-row.js'
import { RowFinder, type FoundRow } from '../kernel/row-finder.js'
import { findMetric, SKIPPED } from './k6-metrics.js'
import { K6Points, type K6Options } from './k6-points.js'
import { K6Row } from './k6-row.js'
import { BadRows, type Translation, type TranslationFacts } from './translation.js'

export const K6_CSV_HEADER = 'metric_name,timestamp,metric_value,'

/** A longer row is not k6's. */
const MAX_ROW_BYTES = 1 << 20

/** Reads what `k6 run --out csv` writes. */
export class K6Csv implements Translation {
  readonly header = STEPS_HEADER
  readonly #points: K6Points
  readonly #bad = new BadRows()
  readonly #row = new K6Row()
  readonly #finder: RowFinder

  constructor(options: K6Options = {}) {
    this.#points = new K6Points(options)
    this.#finder = new RowFinder({
      take: (row) => this.#take(row),
      skipped: SKIPPED.map(({ bytes }) => bytes)
    })
  }

  push(chunk: Uint8Array): Buffer {
    this.#finder.push(chunk)
    if (this.#finder.restBytes > MAX_ROW_BYTES) this.#break(this.#finder.rows, 'it has no end within 1 MiB')
    return this.#points.flush()
  }

  end(): Buffer {
    if (this.#finder.restBytes > 0) this.#break(this.#finder.rows, 'the file ends in the middle of it')
    return this.#points.end()
  }

  get requests(): number {
    return this.#points.requests
  }

  get facts(): TranslationFacts {
    const { facts } = this.#points
    return { ...facts, problems: [...facts.problems, ...this.#bad.problems] }
  }

  #take(found: FoundRow): void {
    const row = this.#row
    if (!row.isHeaderRead) {
      if (!row.readHeader(found)) this.#break(1, 'there is no header of k6 before it')
      return
    }
    const known = findMetric(found.bytes, found.start)
    if (known?.use === 'skipped') return
    if (known !== undefined && row.readKnown(known, found)) {
      this.#points.take(row)
      return
    }
    const isRead = row.read(found)
    if (isRead === undefined) {
      this.#points.take(row)
      if (known?.use === 'tags') row.remember()
    } else if (isRead !== '') this.#bad.add(found.number - 1, isRead)
  }

  #break(row: number, words: string): void {
    this.#finder.stop()
    this.#bad.add(row, words)
  }
}
