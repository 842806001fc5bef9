import { makeRandom } from '../data/seeded-random.js'
import { quoteField } from '../data/sample-csv.js'

/** How many steps are transactions. */
const TRANSACTION_SHARE = 0.4

export type Random = () => number

/** One row of a CSV as it was meant, before any dialect. */
export interface TrueRow {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly isFailure: boolean
  readonly thread: string
  /** How many requests a controller's row stands for; undefined for a request. */
  readonly transactionOf: number | undefined
  /** False for a controller's row whose requests have rows of their own. */
  readonly isCounted: boolean
}

export interface TrueGrid {
  readonly id: string
  readonly region: string
  readonly nodeCount: number
  readonly shape: 'samples' | 'tidy'
  readonly rows: readonly TrueRow[]
  readonly csv: Buffer
}

export interface TruePlan {
  readonly origin: 'specifications' | 'references' | 'existing'
  readonly grids: readonly TrueGrid[]
  readonly threads: number
  /** Undefined where nobody says how long the run is to take. */
  readonly durationSeconds: number | undefined
  readonly startMs: number
  readonly spanSeconds: number
  readonly remoteErrors: string | null
}

const START_MS = Date.UTC(2026, 0, 5, 9)
const REGIONS = ['us-east-1', 'eu-west-1', 'ap-southeast-2']
const LABELS = [
  'home',
  'login, first',
  'say "hi"',
  'Käse',
  'semi;colon',
  'tab\there',
  'pi|pe',
  'two\nlines',
  ' x '
]
const FAILURE_RATES = [0, 0, 0.05, 0.3, 0.8]

export function pick<Item>(random: Random, list: readonly Item[]): Item {
  return list[Math.floor(random() * list.length)]!
}

export function upTo(random: Random, most: number): number {
  return Math.floor(random() * (most + 1))
}

function shuffle<Item>(random: Random, list: readonly Item[]): Item[] {
  return list
    .map((item) => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item)
}

/** A run with everything it measured, the same for the same seed. */
export function makePlan(seed: number): TruePlan {
  const random = makeRandom(seed * 7 + 1)
  const spanSeconds = 20 + upTo(random, 20)
  const threads = 1 + upTo(random, 3)
  const labels = shuffle(random, LABELS).slice(0, 1 + upTo(random, 4))
  const failureRate = pick(random, FAILURE_RATES)
  const isTidy = random() < 0.2
  const dialect = makeDialect(random)
  const grids = Array.from({ length: 1 + upTo(random, 2) }, (_, index): TrueGrid => {
    const region = pick(random, REGIONS)
    const shape = isTidy || random() < 0.05 ? 'tidy' : 'samples'
    // The tidy shapes have no rows that could be told apart as those of controllers.
    const transactionShare = shape === 'tidy' ? 0 : TRANSACTION_SHARE
    const rows = makeRows(random, { labels, failureRate, threads, spanSeconds, transactionShare })
    const text = shape === 'tidy' ? writeTidy(random, rows, dialect) : writeSamples(rows, dialect)
    return {
      id: `grid${seed}x${index}`,
      region,
      nodeCount: 1 + upTo(random, 2),
      shape,
      rows,
      csv: Buffer.from(text)
    }
  })
  return {
    origin: pick(random, ['specifications', 'specifications', 'references', 'existing']),
    grids,
    threads: Math.min(...grids.map(threadsSeenIn)),
    durationSeconds: random() < 0.7 ? spanSeconds : undefined,
    startMs: START_MS,
    spanSeconds,
    remoteErrors: pick(random, [null, null, null, null, null, null, 'a node was slow', 'load lost: node 2'])
  }
}

/** As many threads as every reader of the CSV sees: some may have no row, or none together with the others. */
function threadsSeenIn({ shape, rows }: TrueGrid): number {
  return shape === 'tidy' ? 1 : new Set(rows.map(({ thread }) => thread)).size
}

interface Load {
  readonly labels: readonly string[]
  readonly failureRate: number
  readonly threads: number
  readonly spanSeconds: number
  readonly transactionShare: number
}

/** Threads that each take one step after the other; the first is busy from the first moment to the last. */
function makeRows(random: Random, load: Load): TrueRow[] {
  const endMs = START_MS + load.spanSeconds * 1000
  const rows: TrueRow[] = []
  for (let number = 1; number <= load.threads; number++) {
    const thread = `group 1-${number}`
    let atMs = START_MS + (number === 1 ? 0 : upTo(random, 900))
    while (atMs < endMs) {
      const step = makeStep(random, load, { thread, atMs, endMs })
      rows.push(...step)
      atMs = Math.max(...step.map((row) => row.startMs + row.elapsedMs)) + 2 + upTo(random, 700)
      if (number === 1 && endMs - atMs < 3_000) {
        rows.push({
          ...makeRequest(random, load, { thread, atMs, endMs }),
          elapsedMs: Math.max(2, endMs - atMs)
        })
        break
      }
    }
  }
  return rows
    .map((row, order) => ({ row, order }))
    .sort((a, b) => a.row.startMs + a.row.elapsedMs - (b.row.startMs + b.row.elapsedMs) || a.order - b.order)
    .map(({ row }) => row)
}

interface Moment {
  readonly thread: string
  readonly atMs: number
  readonly endMs: number
}

function makeRequest(
  random: Random,
  { labels, failureRate }: Load,
  { thread, atMs, endMs }: Moment
): TrueRow {
  return {
    startMs: atMs,
    // In less, nobody can tell which of two rows of one millisecond came first.
    elapsedMs: Math.max(2, Math.min(endMs - atMs, upTo(random, random() < 0.1 ? 2_500 : 600))),
    label: pick(random, labels),
    isFailure: random() < failureRate,
    thread,
    transactionOf: undefined,
    isCounted: true
  }
}

/** A request, or a transaction: its requests and then its own row, or its own row alone. */
function makeStep(random: Random, load: Load, moment: Moment): TrueRow[] {
  if (random() >= load.transactionShare) return [makeRequest(random, load, moment)]
  const requests: TrueRow[] = []
  let { atMs } = moment
  for (let left = 1 + upTo(random, 2); left > 0; left--) {
    const request = makeRequest(random, load, { ...moment, atMs })
    requests.push(request)
    atMs += request.elapsedMs
  }
  const isParent = random() < 0.5
  const controller: TrueRow = {
    startMs: moment.atMs,
    elapsedMs: atMs - moment.atMs,
    label: pick(random, ['checkout', 'buy']),
    isFailure: requests.some(({ isFailure }) => isFailure),
    thread: moment.thread,
    transactionOf: requests.length,
    isCounted: isParent
  }
  return isParent ? [controller] : [...requests, controller]
}

interface Dialect {
  readonly delimiter: string
  readonly lineBreak: string
  readonly isBom: boolean
  readonly hasFinalBreak: boolean
  readonly isAllQuoted: boolean
  readonly isDated: boolean
  /** Turns a list of columns into the order of this dialect. */
  readonly order: (columns: readonly string[]) => string[]
}

function makeDialect(random: Random): Dialect {
  const isShuffled = random() < 0.5
  return {
    delimiter: pick(random, [',', ',', ';', '\t', '|']),
    lineBreak: pick(random, ['\n', '\r\n']),
    isBom: random() < 0.2,
    hasFinalBreak: random() < 0.8,
    isAllQuoted: random() < 0.2,
    isDated: random() < 0.2,
    order: (columns) => (isShuffled ? shuffle(random, columns) : [...columns])
  }
}

const SAMPLE_COLUMNS = [
  ...[
    'timeStamp',
    'elapsed',
    'label',
    'responseCode',
    'responseMessage',
    'threadName',
    'dataType',
    'success'
  ],
  ...['failureMessage', 'bytes', 'grpThreads', 'allThreads', 'URL', 'Latency', 'IdleTime']
]

function writeSamples(rows: readonly TrueRow[], dialect: Dialect): string {
  const threads = String(new Set(rows.map(({ thread }) => thread)).size)
  const columns = dialect.order(SAMPLE_COLUMNS)
  const lines = rows.map((row) => {
    const isRequest = row.transactionOf === undefined
    const failing = row.isFailure ? 1 : 0
    const values: Record<string, string> = {
      timeStamp: dialect.isDated ? dateOf(row.startMs) : String(row.startMs),
      elapsed: String(row.elapsedMs),
      label: row.label,
      responseCode: row.isFailure ? '500' : '200',
      responseMessage: isRequest
        ? 'OK'
        : `Number of samples in transaction : ${row.transactionOf}, number of failing samples in transaction : ${failing}`,
      threadName: row.thread,
      dataType: isRequest ? 'text' : '',
      success: String(!row.isFailure),
      failureMessage: row.isFailure ? 'expected a,\n"b"; c' : '',
      allThreads: threads,
      grpThreads: threads,
      URL: isRequest ? 'http://shop.example/a?b=c,d' : 'null'
    }
    return columns.map((name) => values[name] ?? '0')
  })
  return write([columns, ...lines], dialect)
}

const BUCKET_MS = 15_000

/** One row for each 15 s, measurement and label, and for all labels together. */
function writeTidy(random: Random, rows: readonly TrueRow[], dialect: Dialect): string {
  const isOld = random() < 0.5
  const columns = dialect.order(
    isOld
      ? ['Time', 'Measurement', 'Label', 'Account', 'Run', 'Project', 'Grid', 'Region', 'Value']
      : [
          'Time',
          'Elapsed Time',
          'Account UUID',
          'Project',
          'Run UUID',
          'Region',
          'Measurement',
          'Label',
          'Value'
        ]
  )
  const buckets = groupBy(rows, ({ startMs, elapsedMs }) => Math.floor((startMs + elapsedMs) / BUCKET_MS))
  const lines = [...buckets].flatMap(([bucket, inside]) => {
    const groups = [...groupBy(inside, ({ label }) => label), [isOld ? '__all' : '', inside] as const]
    return groups.flatMap(([label, some]) => {
      const failed = some.filter(({ isFailure }) => isFailure).length
      const mean = some.reduce((sum, { elapsedMs }) => sum + elapsedMs, 0) / some.length
      const measured = {
        passed: some.length - failed,
        failed,
        response_time: mean,
        concurrency: 3,
        throughput: 7
      }
      return Object.entries(measured).map(([name, value]) => {
        const time = isOld ? String(bucket * BUCKET_MS) : dateOf(bucket * BUCKET_MS).slice(0, 19)
        const values: Record<string, string> = {
          Time: time,
          Measurement: name,
          Label: label,
          Value: String(value)
        }
        return columns.map((column) => values[column] ?? 'x')
      })
    })
  })
  return write([columns, ...shuffle(random, lines)], dialect)
}

function groupBy<Item, Key>(items: readonly Item[], keyOf: (item: Item) => Key): Map<Key, Item[]> {
  const groups = new Map<Key, Item[]>()
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item])
  return groups
}

function write(lines: readonly (readonly string[])[], dialect: Dialect): string {
  const { delimiter, lineBreak, isAllQuoted, isBom, hasFinalBreak } = dialect
  const quote = (text: string): string =>
    isAllQuoted ? `"${text.replaceAll('"', '""')}"` : quoteField(text, delimiter)
  const text = lines.map((fields) => fields.map(quote).join(delimiter)).join(lineBreak)
  return `${isBom ? '\uFEFF' : ''}${text}${hasFinalBreak ? lineBreak : ''}`
}

function dateOf(ms: number): string {
  return new Date(ms).toISOString().slice(0, 23).replace('T', ' ')
}
