import { Choice } from '../data/seeded-choice.js'

export interface MadeRow {
  readonly startMs: number
  readonly elapsedMs: number
  readonly label: string
  readonly node: number
  readonly thread: number
  readonly isFailed: boolean
  /** The row of a transaction whose requests have rows of their own. */
  readonly isTransaction: boolean
}

export interface MadeCsv {
  readonly grid: string
  readonly region: string
  /** In the order of the text. */
  readonly rows: readonly MadeRow[]
  readonly allThreads: number
  readonly hasThreadNames: boolean
  readonly hasAllThreads: boolean
  readonly hasHosts: boolean
  readonly text: string
}

export interface MadeRun {
  readonly csvs: readonly MadeCsv[]
  /** What went into it, for whoever looks for the reason of a failure. */
  readonly about: string
}

const START_MS = 1_700_000_000_000
const LABELS = [
  { label: 'asset', ms: 20 },
  { label: 'page, first', ms: 80 },
  { label: 'search', ms: 300 },
  { label: 'poll', ms: 2000 }
]
const ORDERS = ['by end', 'by start', 'node by node', 'shuffled'] as const

interface Shape {
  readonly isLoop: boolean
  readonly threads: number
  readonly nodes: number
  readonly rows: number
  readonly spanMs: number
  readonly thinkMs: number
  readonly labels: typeof LABELS
  readonly stalls: readonly { readonly fromMs: number; readonly toMs: number }[]
  readonly rampMs: number
  readonly hasTransactions: boolean
}

/** One to three CSVs of a run, the same for the same seed. Large ones have more than 200 KB each. */
export function makeRun(seed: number, isLarge: boolean): MadeRun {
  const choice = new Choice(seed)
  const spanMs = isLarge ? 60_000 : choice.of([4000, 12_000, 30_000])
  const stalls = Array.from({ length: choice.between(0, 3) }, () => {
    const fromMs = START_MS + choice.between(0, spanMs)
    return { fromMs, toMs: fromMs + choice.of([90, 140, 300, 1200, 4000]) }
  })
  const about: unknown[] = [{ seed, spanMs, stalls: stalls.map(({ fromMs, toMs }) => toMs - fromMs) }]
  const csvs = Array.from({ length: choice.between(1, 3) }, (_, index) => {
    const order = choice.of(ORDERS)
    // In another order, or with the same thread names on two nodes, nobody could say which requests are theirs.
    const hasTransactions = order === 'by end' && choice.chance(0.4)
    const shape: Shape = {
      hasTransactions,
      isLoop: hasTransactions || choice.chance(0.7),
      threads: choice.of([1, 2, 3, 5, 12, 20]),
      nodes: hasTransactions ? 1 : choice.of([1, 1, 2]),
      rows: isLarge ? choice.between(2600, 4000) : choice.between(1, 400),
      spanMs,
      thinkMs: choice.of([0, 50, 600]),
      labels: LABELS.slice(0, choice.between(1, LABELS.length)),
      stalls: choice.chance(0.8) ? stalls : [],
      rampMs: choice.of([0, 0, spanMs / 3])
    }
    const made = shape.isLoop ? makeLoops(choice, shape) : makeRandomRows(choice, shape)
    const columns = {
      hasThreadNames: shape.hasTransactions || choice.chance(0.9),
      hasAllThreads: choice.chance(0.9),
      hasHosts: shape.nodes > 1 && choice.chance(0.7)
    }
    about.push({ order, ...shape, labels: shape.labels.length, stalls: shape.stalls.length, ...columns })
    const csv = {
      ...{ grid: `grid-${index}`, region: `region-${index % 2}`, allThreads: shape.threads },
      ...{ rows: sortRows(choice, made, order), ...columns }
    }
    return { ...csv, text: writeCsv(csv) }
  })
  return { csvs, about: JSON.stringify(about) }
}

/** Users who do one thing after the other, on a server that stands still now and then. */
function makeLoops(choice: Choice, shape: Shape): MadeRow[] {
  const { threads, nodes, spanMs, thinkMs, labels, stalls, rampMs, hasTransactions } = shape
  const rows: MadeRow[] = []
  const each = Math.ceil(shape.rows / (threads * nodes))
  for (let user = 0; user < threads * nodes; user++) {
    const [node, thread] = [user % nodes, Math.floor(user / nodes)]
    let nowMs = START_MS + Math.floor((rampMs * user) / (threads * nodes)) + choice.between(0, 40)
    const untilMs = nowMs + spanMs - rampMs
    for (let count = 0; count < each && nowMs < untilMs; count++) {
      const fromMs = nowMs
      for (let request = 0; request < (hasTransactions ? 2 : 1); request++) {
        const { label, ms } = choice.of(labels)
        const isFailed = choice.chance(0.05)
        const usualMs = choice.chance(0.02) ? ms * choice.between(2, 9) : choice.between(ms >> 1, ms * 2)
        const dueMs = nowMs + (isFailed ? choice.between(1, 5) : usualMs)
        const stall = stalls.find((one) => dueMs > one.fromMs && dueMs < one.toMs)
        const endMs = stall === undefined ? dueMs : stall.toMs + choice.between(0, 30)
        rows.push({
          ...{ startMs: nowMs, elapsedMs: endMs - nowMs, label, node, thread, isFailed },
          isTransaction: false
        })
        nowMs = endMs + (request === 0 && hasTransactions ? 0 : choice.between(0, thinkMs))
        if (request === 1)
          rows.push({
            ...{ startMs: fromMs, elapsedMs: endMs - fromMs, label: 'checkout', node, thread },
            isFailed: false,
            isTransaction: true
          })
      }
    }
  }
  return rows
}

/** Anything that a CSV may have in it: the samples of a thread overlap, and nothing was answered for long. */
function makeRandomRows(choice: Choice, { threads, nodes, rows, spanMs, labels }: Shape): MadeRow[] {
  return Array.from({ length: rows }, () => ({
    startMs: START_MS + choice.between(0, spanMs),
    elapsedMs: choice.of([choice.between(0, 60), choice.between(100, 700), choice.between(0, 6000)]),
    label: choice.of(labels).label,
    node: choice.between(0, nodes - 1),
    thread: choice.between(0, threads - 1),
    isFailed: choice.chance(0.05),
    isTransaction: false
  }))
}

function sortRows(choice: Choice, rows: readonly MadeRow[], order: (typeof ORDERS)[number]): MadeRow[] {
  const endOf = ({ startMs, elapsedMs }: MadeRow) => startMs + elapsedMs
  // A transaction's row comes after those of its requests.
  const byEnd = (one: MadeRow, other: MadeRow) => endOf(one) - endOf(other)
  if (order === 'by end') return [...rows].sort(byEnd)
  if (order === 'by start') return [...rows].sort((one, other) => one.startMs - other.startMs)
  if (order === 'node by node')
    return [...rows].sort((one, other) => one.node - other.node || byEnd(one, other))
  return rows
    .map((row) => ({ row, at: choice.between(0, 1e9) }))
    .sort((one, other) => one.at - other.at)
    .map(({ row }) => row)
}

function writeCsv(csv: Omit<MadeCsv, 'text'>): string {
  const lines = csv.rows.map((row) => {
    const { startMs, elapsedMs, label, node, thread, isFailed, isTransaction } = row
    const message = isTransaction
      ? '"Number of samples in transaction : 2, number of failing samples : 0"'
      : isFailed
        ? 'Server Error'
        : 'OK'
    return [
      ...[startMs, elapsedMs, label.includes(',') ? `"${label}"` : label, isFailed ? 500 : 200, message],
      ...(csv.hasThreadNames ? [`Users 1-${thread + 1}`] : []),
      !isFailed,
      ...(csv.hasAllThreads ? [csv.allThreads] : []),
      ...(csv.hasHosts ? [`node-${node}`] : []),
      0
    ].join(',')
  })
  const columns = [
    ...['timeStamp', 'elapsed', 'label', 'responseCode', 'responseMessage'],
    ...(csv.hasThreadNames ? ['threadName'] : []),
    'success',
    ...(csv.hasAllThreads ? ['allThreads'] : []),
    ...(csv.hasHosts ? ['Hostname'] : []),
    'IdleTime'
  ]
  return [columns.join(','), ...lines, ''].join('\n')
}
