import { STATUS_CODES } from 'node:http'
import { count, joinWords } from '../../../contract/text.js'
import { SKIPPED } from './k6-metrics.js'
import { frameRow, RowWriter, type RowFrame } from './row-writer.js'
import { plainAddress, type TranslationFacts } from './translation.js'

// What the metrics of k6 mean, as rows. k6 writes a request as several points in a row: http_reqs, http_req_duration, http_req_blocked and
// the parts of its time, all of them with the moment when it ended.

/** A point of a metric; a tag that it does not have is ''. */
export interface K6Point {
  readonly metric: string
  readonly timeMs: number
  readonly value: number
  tag(name: K6Tag): string
  /** Its number, or what is there instead; '' where k6 does not say. */
  readonly vu: number | string
  /** Where points with the same tags, but for their VU, keep the frames of their rows. */
  readonly frames?: K6Frames | undefined
}

export interface K6Frames {
  request?: RowFrame
  passed?: RowFrame
  failed?: RowFrame
  time?: RowFrame | 'none'
}

export type K6Tag = (typeof K6_TAGS)[number]

export const K6_TAGS = [
  ...(['check', 'error', 'error_code', 'expected_response', 'group', 'method'] as const),
  ...(['name', 'scenario', 'service', 'status', 'url'] as const)
] as const

/** Part of what another point says, or of no use for figures. */
const UNUSED = new Set([
  ...SKIPPED.map(({ name }) => name),
  'vus_max',
  ...['ws_sessions', 'ws_msgs_sent', 'ws_msgs_received', 'grpc_streams', 'grpc_streams_msgs_sent'],
  ...['grpc_streams_msgs_received', 'browser_data_sent', 'browser_data_received', 'browser_http_req_failed'],
  // A score without a unit.
  'browser_web_vital_cls'
])
/** Times of other protocols. They count for their own labels only. */
const TIMES =
  /^(?:grpc_req_duration|ws_(?:connecting|session_duration|ping)|browser_(?:http_req_duration|web_vital_\w+))$/

/** Above this share of iterations that k6 could not start in time, the load was another one. */
const MOST_DROPPED = 0.05
/** The wait for connections is worth a word from this share of all response times on. */
const BLOCKED_SHARE = 0.1
const METRICS_SHOWN = 5

export interface K6Options {
  /** In front of the numbers of VUs, which each process of k6 counts from 1. */
  readonly threadPrefix?: string
}

/** Turns points into rows. Times may be whole seconds: then starts are too, and say nothing of stalls. */
export class K6Points {
  readonly #prefix: string
  readonly #rows: RowWriter
  /** The end of a request's time is known, its start only when the next point says how long it waited for a connection. */
  #pending: RowFrame | undefined
  #pendingMs = 0
  #pendingDurationMs = 0
  #pendingThread: number | string = ''
  /** -1 if unknown. */
  #users = -1
  #requests = 0
  #withoutVu = 0
  #durationMs = 0
  #blockedMs = 0
  #longestBlockedMs = 0
  readonly #scenarios = new Map<string, { started: number; dropped: number }>()
  /** Whether there is a request of which no tag says whether it failed. */
  #hasUnknownOutcome = false
  /** Whether every time is in whole seconds. */
  #isCoarse = true
  readonly #unread = new Map<string, number>()

  constructor({ threadPrefix = '' }: K6Options = {}) {
    this.#prefix = `vu ${threadPrefix}`
    this.#rows = new RowWriter(this.#prefix)
  }

  take(point: K6Point): void {
    const { metric, timeMs, value } = point
    if (this.#isCoarse && timeMs % 1000 !== 0) this.#isCoarse = false
    if (metric === 'http_req_duration') this.#takeRequest(point)
    else if (metric === 'http_req_blocked') this.#takeBlocked(timeMs, value)
    else if (metric === 'vus') this.#users = value
    else if (metric === 'iterations') this.#scenarioOf(point).started += value
    else if (metric === 'dropped_iterations') this.#scenarioOf(point).dropped += value
    else if (metric === 'checks') this.#takeCheck(point)
    else if (metric === 'group_duration' || TIMES.test(metric)) this.#takeTime(point)
    else if (!UNUSED.has(metric)) this.#unread.set(metric, (this.#unread.get(metric) ?? 0) + 1)
  }

  /** The rows since the last call; a request may still wait for its next point. */
  flush(): Buffer {
    return this.#rows.take()
  }

  end(): Buffer {
    this.#release(0)
    return this.flush()
  }

  get requests(): number {
    return this.#requests
  }

  get facts(): TranslationFacts {
    const problems = this.#hasUnknownOutcome
      ? [
          'it does not say which requests failed: add expected_response, error_code or status to --system-tags where k6 runs'
        ]
      : []
    const losses = [...this.#scenarios].flatMap(([scenario, counts]) => describeDropped(scenario, counts))
    return { problems, losses, notes: [...this.#notes()] }
  }

  *#notes(): Iterable<string> {
    const unread = [...this.#unread].sort(([, one], [, other]) => other - one)
    if (unread.length > 0) {
      const names = unread.map(([name, points]) => `${name} (${count(points, 'point')})`)
      yield `The script's own metrics are not part of the figures: ${joinWords(names, METRICS_SHOWN)}. Thresholds of the script can judge them.`
    }
    if (this.#requests > 0 && this.#isCoarse)
      yield 'k6 wrote times in whole seconds, so stalls cannot be found: set K6_CSV_TIME_FORMAT=unix_milli where k6 runs.'
    // Those of setup() and teardown() have none.
    if (this.#requests > 0 && this.#withoutVu === this.#requests)
      yield 'The rows do not say which VU sent a request, so each counts as another user: add vu to --system-tags where k6 runs.'
    if (this.#durationMs > 0 && this.#blockedMs > BLOCKED_SHARE * this.#durationMs)
      yield `Requests waited ${Math.round(this.#longestBlockedMs)} ms for a connection at most, and ${Math.round((this.#blockedMs / this.#durationMs) * 100)} % of their response times in all; k6 does not count that as response time.`
  }

  #takeRequest(point: K6Point): void {
    this.#release(0)
    const { frames = {} } = point
    const thread = this.#threadOf(point)
    this.#requests++
    if (thread === '') this.#withoutVu++
    this.#pending = frames.request ??= this.#frameRequest(point)
    this.#pendingMs = point.timeMs
    this.#pendingDurationMs = point.value
    this.#pendingThread = thread === '' ? `request ${this.#requests}` : thread
  }

  #frameRequest(point: K6Point): RowFrame {
    const isFailed = hasFailed(point)
    this.#hasUnknownOutcome ||= isFailed === undefined
    return frameRequest(point, isFailed ?? true)
  }

  #scenarioOf(point: K6Point): { started: number; dropped: number } {
    const name = point.tag('scenario')
    const counts = this.#scenarios.get(name) ?? { started: 0, dropped: 0 }
    this.#scenarios.set(name, counts)
    return counts
  }

  #takeBlocked(timeMs: number, blockedMs: number): void {
    if (this.#pendingMs === timeMs) this.#release(blockedMs)
  }

  #release(blockedMs: number): void {
    const frame = this.#pending
    if (frame === undefined) return
    this.#pending = undefined
    const durationMs = this.#pendingDurationMs
    this.#durationMs += durationMs
    this.#blockedMs += blockedMs
    if (blockedMs > this.#longestBlockedMs) this.#longestBlockedMs = blockedMs
    const startMs = this.#startOf(this.#pendingMs, durationMs + blockedMs)
    this.#rows.add(frame, startMs, durationMs, this.#pendingThread, this.#users)
  }

  #startOf(endMs: number, tookMs: number): number {
    const startMs = endMs - tookMs
    return this.#isCoarse ? Math.floor(startMs / 1000) * 1000 : startMs
  }

  /** A check has no time, and fails nothing but itself. */
  #takeCheck(point: K6Point): void {
    const { frames = {} } = point
    const frame =
      point.value === 0
        ? (frames.failed ??= frameCheck(point, true))
        : (frames.passed ??= frameCheck(point, false))
    this.#rows.add(frame, this.#startOf(point.timeMs, 0), 0, this.#threadOf(point), this.#users)
  }

  #takeTime(point: K6Point): void {
    const { frames = {} } = point
    const frame = (frames.time ??= frameTime(point))
    if (frame === 'none') return
    const startMs = this.#startOf(point.timeMs, point.value)
    this.#rows.add(frame, startMs, point.value, this.#threadOf(point), this.#users)
  }

  /** The number of its VU, a name, or '' where k6 does not say. */
  #threadOf(point: K6Point): number | string {
    const { vu } = point
    if (typeof vu === 'number') return vu
    return NUMBER.test(vu) ? Number(vu) : vu && this.#prefix + vu
  }
}

const NUMBER = /^(?:0|[1-9]\d{0,8})$/

/** One scenario that could not start its iterations is lost load, however many another one has started. */
function describeDropped(
  scenario: string,
  { started, dropped }: { readonly started: number; readonly dropped: number }
): string[] {
  const asked = started + dropped
  if (dropped <= MOST_DROPPED * asked) return []
  const share = Math.round((dropped / asked) * 100)
  const whose = scenario === '' ? '' : ` of the scenario ${scenario}`
  return [
    `k6: ${dropped} of ${asked} iterations${whose} (${share} %) were dropped: no VU was free at their time, or the time was over before they could start; raise preAllocatedVUs and maxVUs (or maxDuration), or lower the rate`
  ]
}

const LEAST_EXPECTED = 200
const LEAST_FAILED = 400

/** By what k6 says, or else as k6 itself decides without setResponseCallback(); undefined if there is neither. */
function hasFailed(point: K6Point): boolean | undefined {
  const expected = point.tag('expected_response')
  if (expected !== '') return expected === 'false'
  if (point.tag('error_code') !== '') return true
  const status = point.tag('status')
  if (status === '') return undefined
  return !(Number(status) >= LEAST_EXPECTED && Number(status) < LEAST_FAILED)
}

function frameRequest(point: K6Point, isFailed: boolean): RowFrame {
  const error = point.tag('error')
  const errorCode = point.tag('error_code')
  const code = point.tag('status')
  return frameRow({
    label: nameRequest(point),
    code,
    // k6 has only a number of its own for a status: 1404 for 404.
    message: error === '' && errorCode !== '' ? (STATUS_CODES[code] ?? `error code ${errorCode}`) : error,
    isFailed
  })
}

function frameCheck(point: K6Point, isFailed: boolean): RowFrame {
  const message = isFailed ? 'the check failed' : ''
  return frameRow({ label: `check: ${point.tag('check')}`, code: '', message, isFailed, partOf: 'checks' })
}

/** Requests outside of groups have none. */
function frameTime(point: K6Point): RowFrame | 'none' {
  const { metric } = point
  const label = metric === 'group_duration' ? nameGroup(point.tag('group')) : `${metric}: ${nameCall(point)}`
  if (label === '') return 'none'
  const [error, status] = [point.tag('error'), point.tag('status')]
  const isFailed = error !== '' || !isGood(metric, status)
  const message = error === '' && isFailed ? (status === '' ? 'no status' : `status ${status}`) : error
  return frameRow({ label, code: status, message, isFailed, partOf: metric })
}

/** 0 is OK for gRPC, 101 for a WebSocket; there is no status if the connection was refused. */
function isGood(metric: string, status: string): boolean {
  if (metric === 'grpc_req_duration') return status === '0'
  if (metric === 'ws_connecting' || metric === 'ws_session_duration') return status === '101'
  return true
}

/** The name that the script gave, or else method and address without its query: k6 takes the address for the name then. */
function nameRequest(point: K6Point): string {
  const name = point.tag('name') || point.tag('url')
  if (name === '') return point.tag('method') || 'request'
  // A template literal's: the script has said what is one.
  if (!/^https?:\/\//i.test(name) || name.includes('${}')) return name
  return `${point.tag('method')} ${plainAddress(name)}`.trimStart()
}

/** `::shop::basket` is `group: shop::basket`: a request may have the same name. */
function nameGroup(group: string): string {
  const name = group.replace(/^::/, '')
  return name === '' ? '' : `group: ${name}`
}

function nameCall(point: K6Point): string {
  const [service, method] = [point.tag('service'), point.tag('method')]
  const name = point.tag('name') || point.tag('url')
  const address = /^\w+:\/\//.test(name) ? plainAddress(name) : name
  return address || [service, method].filter((part) => part !== '').join('/') || 'all'
}
