import { basename } from 'node:path'
import type { ProcessGroup } from '../nodes/machine/processes.js'
import type { GridRecord, RunRecord } from './records.js'

// Records were written by this program, maybe by another version, and anyone may have changed them since.

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string'
const isNumber: Check = (value) => Number.isFinite(value)
/** Anything that makes a valid date. */
const isTime: Check = (value) => Number.isFinite(value) && Math.abs(Number(value)) <= 8.64e15
const isCount: Check = (value) => Number.isSafeInteger(value) && Number(value) >= 0
const isBoolean: Check = (value) => typeof value === 'boolean'
/** Ids become parts of paths. */
const isId: Check = (value) => typeof value === 'string' && /^[\w-]{1,100}$/.test(value)
const isFileName: Check = (value) =>
  typeof value === 'string' && !['', '.', '..'].includes(value) && basename(value) === value

const oneOf =
  (...values: readonly string[]): Check =>
  (value) =>
    values.some((each) => each === value)
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const orAbsent =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every((element) => check(element))
const shape =
  (checks: Readonly<Record<string, Check>>): Check =>
  (value) =>
    typeof value === 'object' &&
    value !== null &&
    Object.entries(checks).every(([key, check]) => check((value as Record<string, unknown>)[key]))

const isUserReference = shape({ id: isCount, name: isText })

const isGrid = shape({
  id: isId,
  spec: shape({
    region: isText,
    instanceQuantity: (value) => isCount(value) && Number(value) > 0,
    instanceType: isText,
    infrastructure: oneOf('demand', 'hosted'),
    stopAfterMin: isNumber
  }),
  batchId: orNull(isId),
  user: orAbsent(isUserReference),
  createdMs: isTime,
  status: oneOf('queued', 'starting', 'started', 'stopped'),
  startedMs: orNull(isTime),
  ended: orAbsent(
    shape({ by: oneOf('deleted', 'stop_after', 'run ended', 'failed', 'closed'), atMs: isTime })
  ),
  problem: orAbsent(isText),
  nodeNames: orAbsent(listOf(isText))
})

const isNode = shape({
  grid: isId,
  region: isText,
  number: isCount,
  threads: orNull(isNumber),
  place: isText,
  startedMs: orNull(isTime),
  rows: orNull(isCount),
  firstSampleMs: orAbsent(isTime),
  lastSampleMs: orAbsent(isTime),
  cpuLimit: orNull(isNumber),
  restarts: orNull(isNumber),
  throttled: orNull(isNumber),
  clockOffsetMs: isNumber,
  lost: orNull(isText)
})

const isRun = shape({
  id: isId,
  batchId: isId,
  request: shape({
    tool: isText,
    name: orNull(isText),
    notes: orNull(isText),
    project: orNull(isText),
    tags: listOf(isText),
    privacy: oneOf('public', 'private'),
    threads: orNull(isNumber),
    rampupSec: orNull(isNumber),
    durationSec: orNull(isNumber),
    hosts: listOf(shape({ host: isText, address: isText })),
    properties: listOf(shape({ kind: oneOf('J', 'D'), name: isText, value: isText }))
  }),
  gridIds: listOf(isId),
  files: listOf(shape({ uuid: isId, name: isFileName })),
  user: orAbsent(isUserReference),
  createdMs: isTime,
  sequence: isCount,
  toolVersion: orNull(isText),
  status: oneOf('queued', 'running', 'stopping', 'finished', 'problem'),
  apdex: orNull(isText),
  samples: orNull(isNumber),
  remoteErrors: orNull(isText),
  startedMs: orNull(isTime),
  stoppedMs: orNull(isTime),
  mark: orAbsent(isId),
  goMs: orAbsent(isTime),
  nodes: orAbsent(listOf(isNode)),
  unmerged: orAbsent(isBoolean),
  warnings: orAbsent(listOf(isText)),
  thresholds: orAbsent(
    shape({
      text: isText,
      warmUpSec: orAbsent(isCount),
      onStall: orAbsent(oneOf('warn', 'ignore')),
      mark: orAbsent(isText),
      verdict: orAbsent(
        shape({ verdict: oneOf('passed', 'failed', 'inconclusive', 'left to the gate'), reason: isText })
      )
    })
  ),
  report: orNull(
    shape({
      summary: isText,
      mean_response_time: orNull(isNumber),
      mean_concurrency: orNull(isNumber),
      mean_throughput: orNull(isNumber),
      mean_error_rate: orNull(isNumber),
      rehearsal: isBoolean,
      warnings: orAbsent(listOf(isText))
    })
  )
})

const isGroup = shape({ pid: (value) => isCount(value) && Number(value) > 1, startTime: isText })

export function isGridRecord(value: unknown): value is GridRecord {
  return isGrid(value)
}

export function isRunRecord(value: unknown): value is RunRecord {
  return isRun(value)
}

export function isProcessGroup(value: unknown): value is ProcessGroup {
  return isGroup(value)
}

export function isMarker(value: unknown): value is { marker: string } {
  return shape({ marker: (marker) => /^[a-f\d]{24}$/.test(String(marker)) })(value)
}
