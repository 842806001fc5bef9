import type { Random } from '../baseline/random.js'
import type { SentSample } from './write-rows.js'

// In Jest, each use of a global is a search for it.
const { ceil, exp, floor, log, max, min, round } = Math
const NEVER = Infinity
const START_MS = 1_700_000_000_000
/** How much of an open load is enough to know its percentiles. */
const TRUTH_SAMPLES = 40_000
const MOST_SAMPLES = 20_000

interface Span {
  readonly fromMs: number
  readonly toMs: number
}

/** A kind of request. A poll waits at the server without one of its workers. */
interface Kind {
  readonly label: string
  readonly meanMs: number
  readonly isPoll: boolean
}

/** A server with a queue, first come, first served. While it stands still, nothing is done and nothing is answered. */
export interface Server {
  readonly workers: number
  /** Standard deviation of ln of the service time. */
  readonly spread: number
  readonly stalls: readonly Span[]
  /** The share of requests that take much longer, whatever the others do. */
  readonly slowShare: number
}

/** A closed plan: each user waits for an answer, thinks, and asks again. */
export interface Plan {
  readonly users: number
  readonly pollingUsers: number
  readonly thinkMs: number
  readonly spanMs: number
  readonly rampUpMs: number
  readonly rampDownMs: number
  readonly kinds: readonly Kind[]
  /** How many CSVs its samples are in. */
  readonly grids: number
}

export interface Scenario {
  readonly server: Server
  readonly plan: Plan
}

export interface ClosedRun {
  /** The samples of each CSV, and how many threads it has. */
  readonly grids: readonly { readonly samples: readonly SentSample[]; readonly threads: number }[]
  /** How many of its workers the server needs for this rate, as a share. */
  readonly utilization: number
}

export function drawScenario(random: Random): Scenario {
  const between = (least: number, most: number) => least + random.uniform() * (most - least)
  const logBetween = (least: number, most: number) => least * (most / least) ** random.uniform()
  const of = <Item>(list: readonly Item[]) => list[random.below(list.length)]!
  const users = round(logBetween(1, 50))
  const thinkMs = of([0, between(0, 100), between(0, 1000)])
  const meanMs = logBetween(10, 150)
  const spanMs = max(25_000, min(between(30_000, 120_000), (MOST_SAMPLES / users) * (thinkMs + meanMs)))
  const stallCount = of([0, 0, 1, 1, 2, 3])
  const stalls = Array.from({ length: stallCount }, () => {
    const fromMs = between(0.05, 0.9) * spanMs
    return { fromMs, toMs: fromMs + logBetween(300, 8000) }
  })
  const pollingUsers = users > 3 && random.uniform() < 0.15 ? ceil(users * between(0.1, 0.4)) : 0
  const hasSlowLabel = random.uniform() < 0.2
  return {
    server: {
      workers: round(logBetween(2, 64)),
      spread: of([0.3, 1.1]),
      stalls: joinSpans(stalls),
      slowShare: of([0, 0, 0.006])
    },
    plan: {
      ...{ users, pollingUsers, thinkMs, spanMs },
      rampUpMs: of([0, 0.1, 0.3]) * spanMs,
      rampDownMs: of([0, 0.1, 0.3]) * spanMs,
      kinds: [
        { label: 'home', meanMs, isPoll: false },
        ...(hasSlowLabel ? [{ label: 'report', meanMs: meanMs * between(5, 15), isPoll: false }] : []),
        ...(pollingUsers > 0 ? [{ label: 'poll', meanMs: between(2000, 8000), isPoll: true }] : [])
      ],
      grids: users > 1 && random.uniform() < 0.2 ? 2 : 1
    }
  }
}

function joinSpans(spans: readonly Span[]): Span[] {
  const joined: Span[] = []
  for (const span of [...spans].sort((one, other) => one.fromMs - other.fromMs)) {
    const last = joined.at(-1)
    if (last === undefined || span.fromMs > last.toMs) joined.push(span)
    else joined[joined.length - 1] = { fromMs: last.fromMs, toMs: max(last.toMs, span.toMs) }
  }
  return joined
}

/** What the users of a closed plan see. */
export function runClosed({ server, plan }: Scenario, random: Random): ClosedRun {
  const answers = new Answers(server, random)
  const grids = Array.from({ length: plan.grids }, (_, grid) => ({
    samples: [] as SentSample[],
    threads: ceil((plan.users - grid) / plan.grids)
  }))
  const poll = plan.kinds.find(({ isPoll }) => isPoll)
  const others = plan.kinds.filter(({ isPoll }) => !isPoll)
  const waiting = Array.from({ length: plan.users }, (_, user) => ({
    user,
    atMs: (plan.rampUpMs * user) / plan.users + random.uniform() * max(5, plan.thinkMs),
    untilMs: plan.spanMs - (plan.rampDownMs * user) / plan.users
  }))
  for (;;) {
    const next = waiting.reduce((one, other) => (other.atMs < one.atMs ? other : one))
    if (next.atMs === NEVER) break
    if (next.atMs >= next.untilMs) {
      next.atMs = NEVER
      continue
    }
    const isPolling = next.user < plan.pollingUsers && poll !== undefined
    const kind = isPolling ? poll : pickKind(others, random)
    const endMs = answers.answer(next.atMs, kind)
    const startMs = START_MS + floor(next.atMs)
    grids[next.user % plan.grids]!.samples.push({
      ...{ startMs, elapsedMs: START_MS + floor(endMs) - startMs },
      ...{ thread: floor(next.user / plan.grids) + 1, label: kind.label }
    })
    next.atMs = endMs + plan.thinkMs * 2 * random.uniform() + 0.05
  }
  return { grids, utilization: answers.workedMs / (server.workers * plan.spanMs) }
}

/** One of ten is slow, if there is such a label. */
function pickKind([usual, slow]: readonly Kind[], random: Random): Kind {
  return slow !== undefined && random.uniform() < 0.1 ? slow : usual!
}

/** What requests that arrive at any moment wait, at the same rate, as a sorted list: the same run again and again. */
export function runOpen({ server, plan }: Scenario, closed: ClosedRun, random: Random): Float64Array {
  const samples = closed.grids.flatMap((grid) => grid.samples)
  const firstMs = min(...samples.map(({ startMs }) => startMs)) - START_MS
  const lastMs = max(...samples.map(({ startMs, elapsedMs }) => startMs + elapsedMs)) - START_MS
  const shares = plan.kinds.map(({ label }) => samples.filter((sample) => sample.label === label).length)
  const waits: number[] = []
  const meanGapMs = (lastMs - firstMs) / samples.length
  while (waits.length < TRUTH_SAMPLES) {
    const answers = new Answers(server, random)
    let atMs = firstMs
    for (;;) {
      atMs -= log(random.uniform()) * meanGapMs
      if (atMs >= lastMs) break
      waits.push(answers.answer(atMs, pickByShare(plan.kinds, shares, random)) - atMs)
    }
  }
  return Float64Array.from(waits).sort()
}

function pickByShare(kinds: readonly Kind[], shares: readonly number[], random: Random): Kind {
  let left = random.below(shares.reduce((sum, share) => sum + share, 0))
  return kinds.find((_, index) => (left -= shares[index]!) < 0)!
}

export function percentileOf(sorted: Float64Array, percent: number): number {
  return sorted[max(0, ceil((percent * sorted.length) / 100 - 1e-9) - 1)]!
}

/** Answers requests that come in the order of time. */
class Answers {
  workedMs = 0
  readonly #server: Server
  readonly #random: Random
  readonly #freeMs: Float64Array

  constructor(server: Server, random: Random) {
    this.#server = server
    this.#random = random
    this.#freeMs = new Float64Array(server.workers)
  }

  /** When it is answered. */
  answer(atMs: number, { meanMs, isPoll }: Kind): number {
    const { spread, slowShare } = this.#server
    const random = this.#random
    if (isPoll) return this.#afterStall(atMs + meanMs * (0.5 + random.uniform()))
    // The mean of a lognormal distribution is above its median.
    const usualMs = meanMs * exp(spread * random.normal() - spread ** 2 / 2)
    const slowMs = random.uniform() < slowShare ? 1000 + 4000 * random.uniform() : 0
    const worker = this.#nextWorker()
    const startMs = max(atMs, this.#freeMs[worker]!)
    const endMs = this.#work(startMs, usualMs)
    this.#freeMs[worker] = endMs
    this.workedMs += usualMs
    // It waits for something else, not for a worker.
    return slowMs > 0 ? this.#afterStall(endMs + slowMs) : endMs
  }

  #nextWorker(): number {
    let next = 0
    for (let worker = 1; worker < this.#freeMs.length; worker++)
      if (this.#freeMs[worker]! < this.#freeMs[next]!) next = worker
    return next
  }

  #work(startMs: number, serviceMs: number): number {
    let [atMs, leftMs] = [startMs, serviceMs]
    for (const { fromMs, toMs } of this.#server.stalls) {
      if (toMs <= atMs) continue
      if (atMs + leftMs <= fromMs) break
      leftMs -= max(0, fromMs - atMs)
      atMs = toMs
    }
    return atMs + leftMs
  }

  #afterStall(atMs: number): number {
    return this.#server.stalls.find(({ fromMs, toMs }) => atMs > fromMs && atMs < toMs)?.toMs ?? atMs
  }
}
