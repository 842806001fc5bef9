import { JMETER_HEADER, STEPS_HEADER } from '../../../contract/sample-row.js'
import { RowSplitter, type Row } from '../csv/row-splitter.js'
import { BadRows, formatRow, plainAddress, type Translation, type TranslationFacts } from './translation.js'

const COMMA = 44
const MAX_ROW_BYTES = 1 << 24

/** Takes a CSV's rows as texts. */
abstract class PlainCsv implements Translation {
  readonly header: string = STEPS_HEADER
  protected readonly bad = new BadRows()
  protected rows = ''
  protected number = 0
  readonly #splitter: RowSplitter
  readonly #columns: number
  readonly #decoder = new TextDecoder()
  #rest = new Uint8Array(0)

  constructor(columns: number) {
    this.#columns = columns
    this.#splitter = new RowSplitter(COMMA, columns)
  }

  protected abstract take(fields: readonly string[]): void

  push(chunk: Uint8Array): string {
    this.#rest = this.#split(chunk, false)
    if (this.#rest.length > MAX_ROW_BYTES) {
      this.bad.add(this.number + 1, 'it has no end within 16 MiB')
      this.#rest = new Uint8Array(0)
    }
    return this.flush()
  }

  end(): string {
    this.#split(new Uint8Array(0), true)
    return this.flush()
  }

  get facts(): TranslationFacts {
    return { problems: this.bad.problems, losses: [], notes: [] }
  }

  protected flush(): string {
    const rows = this.rows
    this.rows = ''
    return rows
  }

  #split(chunk: Uint8Array, isLast: boolean): Uint8Array<ArrayBuffer> {
    const length = this.#rest.length + chunk.length
    const buffer = new Uint8Array(length + 1)
    buffer.set(this.#rest)
    buffer.set(chunk, this.#rest.length)
    const used = this.#splitter.split({ buffer, length, limit: length, isLast }, (row) => this.#read(row))
    return buffer.slice(used, length)
  }

  #read(row: Row): void {
    this.number++
    // A tool ends every row with a line break.
    if (row.isUnended) this.bad.add(this.number, 'the file ends in the middle of it')
    else if (row.fault !== undefined || row.columns !== this.#columns)
      this.bad.add(
        this.number,
        row.fault === undefined
          ? `it has ${row.columns} columns, not ${this.#columns}`
          : 'its quotes do not match'
      )
    else this.take(this.#texts(row))
  }

  #texts({ buffer, starts, ends, columns, escapes }: Row): string[] {
    return Array.from({ length: columns }, (_, i) => {
      const text = this.#decoder.decode(buffer.subarray(starts[i], ends[i]))
      return escapes[i] === 1 ? text.replaceAll('""', '"') : text
    })
  }
}

const VEGETA_COLUMNS = 12
/** Time in ns, status, latency in ns, and so on; the header of a reply is the last. */
export const VEGETA_ROW = /^\d{16,19},\d{1,3},\d+,\d+,\d+,/

/** Reads what `vegeta encode -to csv` writes: time in ns, code, latency in ns, bytes out and in, error, body, attack, number, method, URL, headers. */
export class VegetaCsv extends PlainCsv {
  constructor() {
    super(VEGETA_COLUMNS)
  }

  protected override take(fields: readonly string[]): void {
    const [
      time = '',
      code = '',
      latency = '',
      ,
      bytes = '',
      error = '',
      ,
      attack = '',
      number = '',
      method = '',
      url = ''
    ] = fields
    if (!/^\d{16,19}$/.test(time) || !/^\d{1,16}$/.test(latency) || !/^\d{1,3}$/.test(code)) {
      this.bad.add(this.number, 'its time, status or latency is not a number')
      return
    }
    const status = Number(code)
    const label = `${method} ${plainAddress(url)}`.trim() || attack || 'request'
    const isFailed = error !== '' || status < 200 || status >= 400
    this.rows += formatRow({
      startMs: Number(time.slice(0, -6)),
      elapsedMs: Number(latency) / 1e6,
      ...{ label, code, isFailed, message: error || `status ${code}`, bytes: Number(bytes) || 0 },
      // An open model: a request never waits for another one.
      thread: `request ${number}`
    })
  }
}

export const HEY_HEADER =
  'response-time,DNS+dialup,DNS,Request-write,Response-delay,Response-read,status-code,offset'

const HEY_NOTE =
  'hey writes no row for a request without a reply, and no time of day: failures to connect are not in these figures, and the time of the run is that of the file.'
/** hey keeps no more. */
const MOST_OF_HEY = 1_000_000

/** Reads what `hey -o csv` writes: times in seconds, offsets from the start of the test, and nothing of requests without a reply. */
export class HeyCsv extends PlainCsv {
  readonly #writtenMs: number
  #isHeader = true
  #lastEndMs = 0
  #isFull = false
  readonly #samples: { offsetMs: number; elapsedMs: number; code: string }[] = []

  /** When the file was written: the only hint at when the test was. */
  constructor(writtenMs: number) {
    super(HEY_HEADER.split(',').length)
    this.#writtenMs = writtenMs
  }

  override end(): string {
    super.end()
    const startMs = this.#writtenMs - this.#lastEndMs
    this.#samples.forEach(({ offsetMs, elapsedMs, code }, index) => {
      const isFailed = Number(code) < 200 || Number(code) >= 400
      const sample = { startMs: startMs + offsetMs, elapsedMs, label: 'request', code, isFailed }
      this.rows += formatRow({ ...sample, message: `status ${code}`, thread: `request ${index + 1}` })
    })
    return this.flush()
  }

  override get facts(): TranslationFacts {
    const full = this.#isFull
      ? ['it has the most rows that hey writes, 1,000,000: there may have been more requests']
      : []
    return { problems: [...super.facts.problems, ...full], losses: [], notes: [HEY_NOTE] }
  }

  protected override take(fields: readonly string[]): void {
    if (this.#isHeader) {
      this.#isHeader = false
      this.number = 0
      return
    }
    const [elapsed = '', , , , , , code = '', offset = ''] = fields
    const [elapsedMs, offsetMs] = [Number(elapsed) * 1000, Number(offset) * 1000]
    if (elapsed === '' || offset === '' || !(elapsedMs >= 0) || !(offsetMs >= 0) || !/^\d{3}$/.test(code)) {
      this.bad.add(this.number, 'its response time, status or offset is not a number')
      return
    }
    if (this.#samples.length < MOST_OF_HEY) this.#samples.push({ offsetMs, elapsedMs, code })
    this.#isFull ||= this.#samples.length === MOST_OF_HEY
    this.#lastEndMs = Math.max(this.#lastEndMs, offsetMs + elapsedMs)
  }
}

/** A row in JMeter's default columns: time, elapsed, label, code, message, thread, type, success. */
export const HEADERLESS_ROW =
  /^\d{12,14},\d+,(?:"(?:[^"]|"")*"|[^,"]*),(?:"(?:[^"]|"")*"|[^,"]*),(?:"(?:[^"]|"")*"|[^,"]*),(?:"(?:[^"]|"")*"|[^,"]*),[^,]*,(?:true|false),/

/** JMeter's CSV without its header, in the default columns. */
export class Headerless implements Translation {
  readonly header = JMETER_HEADER
  readonly facts = { problems: [], losses: [], notes: [] }
  readonly #decoder = new TextDecoder()

  push(chunk: Uint8Array): string {
    return this.#decoder.decode(chunk, { stream: true })
  }

  end(): string {
    return this.#decoder.decode()
  }
}
