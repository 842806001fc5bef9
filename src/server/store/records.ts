import type { HostOverride } from '../engines/override-hosts.js'
import type { PropertyOverride } from '../engines/override-parameters.js'

export type GridStatus = 'queued' | 'starting' | 'started' | 'stopped'
export type RunStatus = 'queued' | 'running' | 'stopping' | 'finished' | 'problem'

/** A grid of a run: to be created for it, or one that exists. */
export type GridWish = { readonly spec: GridSpec } | { readonly uuid: string }

/** The requested grid. */
export interface GridSpec {
  readonly region: string
  readonly instanceQuantity: number
  readonly instanceType: string
  readonly infrastructure: 'demand' | 'hosted'
  readonly stopAfterMin: number
}

/** A grid as stored in the data folder. */
export interface GridRecord {
  readonly id: string
  readonly spec: GridSpec
  /** The run that the grid was created with; such a grid ends with its run. */
  readonly batchId: string | null
  /** Who created it; absent where there are no users. */
  readonly user?: UserReference
  readonly createdMs: number
  status: GridStatus
  startedMs: number | null
  /** Why and when it stopped. */
  ended?: { readonly by: GridEnd; readonly atMs: number }
  /** Why its nodes could not be started, or cannot be used any more. */
  problem?: string
  /** What its nodes are called where they run, if they have names there. */
  nodeNames?: readonly string[]
}

/** Why a grid ends. A run still using it is told; one that has ended does not matter. */
export type GridEnd = 'deleted' | 'stop_after' | 'run ended' | 'failed' | 'closed'

/** One node's part of a run. */
export interface NodeRecord {
  readonly grid: string
  readonly region: string
  /** Among the nodes of its grid, from 1. */
  readonly number: number
  /** Null leaves them to the plan. */
  readonly threads: number | null
  /** Where it ran. */
  place: string
  /** When its tool started. */
  startedMs: number | null
  /** Of its samples, without the header; null until they have been counted. */
  rows: number | null
  /** When its first sample started and its last one ended, by this machine's clock; absent if that is not known. */
  firstSampleMs?: number
  lastSampleMs?: number
  /** In cores. */
  cpuLimit: number | null
  restarts: number | null
  /** The part of the run, from 0 to 1, in which its CPU was throttled. */
  throttled: number | null
  /** Its clock minus this machine's; its rows' times are corrected by it. */
  clockOffsetMs: number
  /** What was lost with it, and why; null if nothing was. */
  lost: string | null
}

/** Whose a record is: the name as it was then. */
export interface UserReference {
  readonly id: number
  readonly name: string
}

/** The requested run. */
export interface RunRequest {
  readonly tool: string
  readonly name: string | null
  readonly notes: string | null
  readonly project: string | null
  readonly tags: readonly string[]
  readonly privacy: 'public' | 'private'
  readonly threads: number | null
  readonly rampupSec: number | null
  readonly durationSec: number | null
  readonly hosts: readonly HostOverride[]
  readonly properties: readonly PropertyOverride[]
}

/** An uploaded file; the first one of a run is the plan. */
export interface FileRecord {
  readonly uuid: string
  readonly name: string
}

/** The report as the API returns it. */
export interface RunReport {
  readonly summary: string
  readonly mean_response_time: number | null
  readonly mean_concurrency: number | null
  /** Requests per minute. */
  readonly mean_throughput: number | null
  /** Per cent. */
  readonly mean_error_rate: number | null
  /** True if the samples are synthetic; such a report is not a measurement. */
  readonly rehearsal: boolean
  /** What to know when reading the figures. An addition of this service to the API. */
  readonly warnings?: readonly string[]
}

/** What must hold in a run, handed over by the gate or typed in on its page. */
export interface RunThresholds {
  /** One per line. */
  readonly text: string
  readonly warmUpSec?: number
  /** Absent for `fail`. */
  readonly onStall?: 'warn' | 'ignore'
  /** Another one each time that somebody has set them: what was judged before that does not count. */
  readonly mark?: string
  /** Once the run has ended and somebody has asked; it stays when the results are deleted. */
  readonly verdict?: { readonly verdict: RunVerdict; readonly reason: string }
}

export type RunVerdict = 'passed' | 'failed' | 'inconclusive' | 'left to the gate'

/** A run as stored in the data folder. */
export interface RunRecord {
  readonly id: string
  readonly batchId: string
  readonly request: RunRequest
  readonly gridIds: readonly string[]
  readonly files: readonly FileRecord[]
  /** Who created it; absent where there are no users. */
  readonly user?: UserReference
  readonly createdMs: number
  /** Counts up, so that runs of the same millisecond keep their order. */
  readonly sequence: number
  toolVersion: string | null
  status: RunStatus
  apdex: string | null
  /** Null until they have been counted. */
  samples: number | null
  /** Why the run failed, in the tool's own words if it gave any, and what load was lost. */
  remoteErrors: string | null
  startedMs: number | null
  stoppedMs: number | null
  report: RunReport | null
  /** Random; everything that identifies the run's own lines and is not to be guessed by a plan comes from it. */
  mark?: string
  /** When its nodes were told to start, all at once. */
  goMs?: number
  nodes?: readonly NodeRecord[]
  /** What may be a mistake or intended, one sentence each. */
  warnings?: readonly string[]
  thresholds?: RunThresholds
  /** Set while the nodes' samples still have to be merged: there was no space or no time. */
  unmerged?: boolean
}

export function hasEnded(run: RunRecord): boolean {
  return run.status === 'finished' || run.status === 'problem'
}

/** It has ended, and its results are complete: nothing about it changes by itself any more. */
export function isSettled(run: RunRecord): boolean {
  return hasEnded(run) && !run.unmerged
}
