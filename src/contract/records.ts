import { basename } from 'node:path'
import * as v from 'valibot'
import type { DeepReadonly } from './decode.js'

// What the service stores. It was written by this program, maybe by another version, and anyone may have changed it since.

const number = v.pipe(v.number(), v.finite())
const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
/** Anything that makes a valid date. */
const time = v.pipe(v.number(), v.minValue(-8.64e15), v.maxValue(8.64e15))
const text = v.string()
const texts = v.array(text)
/** Ids become parts of paths. */
const id = v.pipe(text, v.regex(/^[\w-]{1,100}$/))
const fileName = v.pipe(
  text,
  v.check((name) => !['', '.', '..'].includes(name) && basename(name) === name)
)

/** Whose a record is: the name as it was then. */
const userReference = v.object({ id: count, name: text })
/** The creator of a run, with what their issuer said of them: they must still be let in when its turn comes. */
const creator = v.object({
  ...userReference.entries,
  claims: v.exactOptional(v.record(text, v.union([text, texts])))
})

/** The requested grid. */
const gridSpec = v.object({
  region: text,
  instanceQuantity: v.pipe(count, v.minValue(1)),
  instanceType: text,
  infrastructure: v.picklist(['demand', 'hosted']),
  stopAfterMin: number,
  /** The keys that were given and have no effect here. */
  ignored: v.exactOptional(texts)
})

const gridRecord = v.object({
  id,
  spec: gridSpec,
  /** The run that the grid was created with. */
  batchId: v.nullable(id),
  /** Who created it; absent where there are no users. */
  user: v.exactOptional(userReference),
  /** Of the run that it was created with: who sees it. */
  createdFor: v.exactOptional(
    v.object({ project: v.nullable(text), privacy: v.picklist(['public', 'private']) })
  ),
  createdMs: time,
  status: v.picklist(['queued', 'starting', 'started', 'stopped']),
  startedMs: v.nullable(time),
  /** Why and when it stopped, which a run still using it is told. The last two are those of earlier versions. */
  ended: v.exactOptional(
    v.object({ by: v.picklist(['deleted', 'stop_after', 'run ended', 'failed', 'closed']), atMs: time })
  ),
  /** What the nodes of its last run are called where they run, if they have names there. */
  nodeNames: v.exactOptional(texts)
})

/** One node's part of a run. */
const nodeRecord = v.object({
  grid: id,
  region: text,
  /** Among the nodes of its grid, from 1. */
  number: count,
  /** Null leaves them to the plan. */
  threads: v.nullable(number),
  /** Where it ran. */
  place: text,
  /** When its tool started. */
  startedMs: v.nullable(time),
  /** The number of its samples' rows, without the header; null until they have been counted. */
  rows: v.nullable(count),
  /** When its first sample started and its last one ended, by this machine's clock; absent if that is not known. */
  firstSampleMs: v.exactOptional(time),
  lastSampleMs: v.exactOptional(time),
  /** In cores. */
  cpuLimit: v.nullable(number),
  restarts: v.nullable(number),
  /** The part of the run, from 0 to 1, in which its CPU was throttled. */
  throttled: v.nullable(number),
  /** Its clock minus this machine's; its rows' times are corrected by it. */
  clockOffsetMs: number,
  /** What was lost with it, and why; null if nothing was. */
  lost: v.nullable(text)
})

export const RUN_VERDICTS = ['passed', 'failed', 'inconclusive', 'left to the gate'] as const

/** The requested run. */
const runRequest = v.object({
  tool: text,
  name: v.nullable(text),
  notes: v.nullable(text),
  project: v.nullable(text),
  tags: texts,
  privacy: v.picklist(['public', 'private']),
  threads: v.nullable(number),
  rampupSec: v.nullable(number),
  durationSec: v.nullable(number),
  hosts: v.array(v.object({ host: text, address: text })),
  properties: v.array(
    v.object({
      kind: v.picklist(['J', 'D']),
      name: text,
      value: text,
      /** Whoever gave it said that its value is secret, whatever its name. */
      isSecret: v.exactOptional(v.boolean())
    })
  )
})

/** The report as the API returns it. */
export const runReport = v.object({
  summary: text,
  mean_response_time: v.nullable(number),
  mean_concurrency: v.nullable(number),
  /** Requests per minute. */
  mean_throughput: v.nullable(number),
  /** Per cent. */
  mean_error_rate: v.nullable(number),
  /** True if the samples are synthetic; such a report is not a measurement. */
  rehearsal: v.boolean(),
  /** What to know when reading the figures. An addition of this service to the API. */
  warnings: v.exactOptional(texts)
})

/** What must hold in a run, handed over by the gate or typed in on its page. */
const runThresholds = v.object({
  /** One per line. */
  text,
  warmUpSec: v.exactOptional(count),
  /** Absent for `fail`. */
  onStall: v.exactOptional(v.picklist(['warn', 'ignore'])),
  /** Another one each time that somebody has set them: what was judged before that does not count. */
  mark: v.exactOptional(text),
  /** Once the run has ended and somebody has asked; it stays when the results are deleted. */
  verdict: v.exactOptional(
    v.object({
      verdict: v.picklist(RUN_VERDICTS),
      reason: text
    })
  )
})

/** An uploaded file; the first one of a run is the plan. */
const fileRecord = v.object({ uuid: id, name: fileName })

/** What a plan itself says must hold, as its tool judged it. */
const toolLine = v.object({ text, holds: v.nullable(v.boolean()), reason: v.exactOptional(text) })

const runRecord = v.object({
  id,
  batchId: id,
  request: runRequest,
  gridIds: v.array(id),
  files: v.array(fileRecord),
  /** Whose files they are, if not its creator's: the id of a user, null for nobody's. Somebody else has repeated the run. */
  filesOf: v.exactOptional(v.nullable(count)),
  /** Who created it; absent where there are no users. */
  user: v.exactOptional(creator),
  createdMs: time,
  /** Counts up, so that runs of the same millisecond keep their order. */
  sequence: count,
  toolVersion: v.nullable(text),
  status: v.picklist(['queued', 'running', 'stopping', 'finished', 'problem']),
  apdex: v.nullable(text),
  /** Null until they have been counted. */
  samples: v.nullable(number),
  /** Of all samples, for the trend of its project; absent where nobody has computed it. */
  p95Ms: v.exactOptional(number),
  /** Why the run failed, in the tool's own words if it gave any, and what load was lost. */
  remoteErrors: v.nullable(text),
  startedMs: v.nullable(time),
  stoppedMs: v.nullable(time),
  report: v.nullable(runReport),
  /** Random; everything that identifies the run's own lines and is not to be guessed by a plan comes from it. */
  mark: v.exactOptional(id),
  /** When its nodes were told to start, all at once. */
  goMs: v.exactOptional(time),
  nodes: v.exactOptional(v.array(nodeRecord)),
  /** What may be a mistake or intended, one sentence each. */
  warnings: v.exactOptional(texts),
  /** The setUp and tearDown groups of the plan, by name: their rows count for their labels only. */
  asideGroups: v.exactOptional(texts),
  thresholds: v.exactOptional(runThresholds),
  toolLines: v.exactOptional(v.array(toolLine)),
  /** Somebody wants to keep it, whatever the limits of the service. */
  isPinned: v.exactOptional(v.boolean()),
  /** Set while the nodes' samples still have to be merged: there was no space or no time. */
  unmerged: v.exactOptional(v.boolean())
})

/** A tool's processes: the id of the first one, and when it started, as the system reports it: an id alone may have been reused. */
/** What a command has started is in its group, has its marker in the environment, or is of the user that only this command has. */
const processGroup = v.object({
  pid: v.pipe(count, v.minValue(2)),
  startTime: text,
  marker: v.optional(text),
  uid: v.optional(count)
})

/** A record changes while its run goes on, but for these keys; what it contains is replaced, never changed. */
type Stored<T, Fixed extends keyof T> = Omit<Kept<T>, Fixed> & Readonly<Pick<Kept<T>, Fixed>>
type Kept<T> = { [K in keyof T]: DeepReadonly<T[K]> }
type Run = v.InferOutput<typeof runRecord>
type FixedOfRun =
  'id' | 'batchId' | 'request' | 'gridIds' | 'files' | 'filesOf' | 'user' | 'createdMs' | 'sequence'

export type NodeRecord = Stored<v.InferOutput<typeof nodeRecord>, 'grid' | 'region' | 'number' | 'threads'>
export type RunRecord = Stored<Omit<Run, 'nodes'>, FixedOfRun> & { nodes?: readonly NodeRecord[] }
export type GridRecord = Stored<
  v.InferOutput<typeof gridRecord>,
  'id' | 'spec' | 'batchId' | 'user' | 'createdFor' | 'createdMs'
>
export type RunStatus = RunRecord['status']
export const RUN_STATUSES: readonly RunStatus[] = runRecord.entries.status.options
export const GRID_STATUSES: readonly GridRecord['status'][] = gridRecord.entries.status.options
export type GridSpec = DeepReadonly<v.InferOutput<typeof gridSpec>>
export type GridEnd = NonNullable<GridRecord['ended']>['by']
export type UserReference = DeepReadonly<v.InferOutput<typeof userReference>>
export type RunRequest = RunRecord['request']
export type FileRecord = DeepReadonly<v.InferOutput<typeof fileRecord>>
export type RunReport = DeepReadonly<v.InferOutput<typeof runReport>>
export type RunThresholds = DeepReadonly<v.InferOutput<typeof runThresholds>>
export type RunVerdict = NonNullable<RunThresholds['verdict']>['verdict']
export type ProcessGroup = DeepReadonly<v.InferOutput<typeof processGroup>>

export function isGridRecord(value: unknown): value is GridRecord {
  return v.is(gridRecord, value)
}

export function isRunRecord(value: unknown): value is RunRecord {
  return v.is(runRecord, value)
}

export function isProcessGroup(value: unknown): value is ProcessGroup {
  return v.is(processGroup, value)
}

/** The id of the user who uploaded its files; undefined if that is nobody any more. */
export function ownerOfFiles({ filesOf, user }: RunRecord): number | undefined {
  return filesOf === undefined ? user?.id : (filesOf ?? undefined)
}

export function hasEnded(run: RunRecord): boolean {
  return run.status === 'finished' || run.status === 'problem'
}

/** It has ended, and its results are complete: nothing about it changes by itself any more. */
export function isSettled(run: RunRecord): boolean {
  return hasEnded(run) && !run.unmerged
}
