import { constants } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { RunTimes } from '../../analysis/evidence/own-rows.js'
import { lostLoad, quoteLines } from '../../analysis/evidence/remote-errors.js'
import { isGapOfSettings } from '../../analysis/evidence/warm-up.js'

/** What a verdict.json next to CSVs, as in an artifact, says about them. */
export interface EarlierVerdict {
  /** Synthetic samples look like real ones. */
  readonly rehearsal: boolean
  /** Why the CSVs are not the complete evidence; undefined if nothing says so. */
  readonly gap: string | undefined
  readonly warmUps: readonly EarlierWarmUp[]
  /** When the run took place, if all CSVs are of one run and its verdict.json says so. */
  readonly times?: RunTimes | undefined
  /** The thread groups whose rows count for their labels only, by the paths of the CSVs. */
  readonly asideGroups: ReadonlyMap<string, readonly string[]>
  /** The CSVs that have a verdict.json: loadgate has downloaded or written them. */
  readonly csvs: ReadonlySet<string>
}

type Told = Omit<EarlierVerdict, 'csvs' | 'asideGroups'> & {
  readonly asideGroups: readonly string[]
  /** Whether it is a verdict of loadgate. */
  readonly isOurs: boolean
}

export interface EarlierWarmUp {
  /** 0 if there was none; NaN if that cannot be read. */
  readonly ms: number
  readonly path: string
}

export type Fields = Readonly<Record<string, unknown>>

/** Whatever results there are, the run did not complete. */
const CUT_SHORT: readonly unknown[] = ['cancelled', 'timed-out', 'error']

/** In the CSVs' folders and their parents. CSVs of a run that was cut short look complete. */
export async function readEarlierVerdict(csvs: readonly string[]): Promise<EarlierVerdict> {
  const foldersOf = (path: string): string[] => [dirname(path), dirname(dirname(path))]
  const folders = new Set(csvs.flatMap(foldersOf))
  const told = await Promise.all([...folders].map((folder) => readVerdict(join(folder, 'verdict.json'))))
  const known = new Map([...folders].map((folder, i) => [folder, told[i]]))
  const toldOf = (path: string): Told[] => foldersOf(path).flatMap((folder) => known.get(folder) ?? [])
  // Runs that confirmed another are in folders of their own, below it.
  const [times, ...others] = new Set(
    csvs.map((path) => toldOf(path).find((one) => one.times !== undefined)?.times)
  )
  const found = told.flatMap((one) => one ?? [])
  return {
    rehearsal: found.some(({ rehearsal }) => rehearsal),
    gap: found.find(({ gap }) => gap !== undefined)?.gap,
    warmUps: found.flatMap(({ warmUps }) => warmUps),
    times: others.length === 0 ? times : undefined,
    asideGroups: new Map(csvs.map((path) => [path, toldOf(path).flatMap(({ asideGroups }) => asideGroups)])),
    csvs: new Set(csvs.filter((path) => toldOf(path).some(({ isOurs }) => isOurs)))
  }
}

/** Undefined if there is none. */
async function readVerdict(path: string): Promise<Told | undefined> {
  const text = await readText(path).catch(() => undefined)
  if (text === undefined) return undefined
  try {
    const document = fieldsOf(JSON.parse(text))
    const gap = gapIn(document)
    const isOurs = document.schema !== undefined && typeof document.verdict === 'string'
    return {
      isOurs,
      rehearsal: document.rehearsal === true,
      gap: gap === undefined ? undefined : `The run of these CSVs ${gap} (${path}).`,
      warmUps: [{ ms: warmUpMsIn(document), path }],
      times: timesIn(document),
      asideGroups: isOurs ? asideGroupsIn(document) : []
    }
  } catch {
    // The disk was full or the step was killed while it was written, or it is much too large.
    return {
      isOurs: false,
      rehearsal: false,
      gap: `The verdict.json next to the CSVs is not JSON, or larger than 64 MiB, so nothing is known about their run: ${path}`,
      warmUps: [],
      asideGroups: []
    }
  }
}

/** Ours have some kilobytes, or megabytes with thousands of labels. */
const MOST_BYTES = 64 * 1024 * 1024

/** Undefined unless it is a regular file: a pipe or a device may never end. What is too large is not read. */
async function readText(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const facts = await file.stat()
    if (!facts.isFile()) return undefined
    if (facts.size > MOST_BYTES) return ''
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Side by side, there are several runs. */
function timesIn({ run, baseline }: Fields): RunTimes | undefined {
  const { startedMs, stoppedMs, durationSeconds } = fieldsOf(run)
  const isOne = fieldsOf(baseline).kind !== 'side-by-side'
  if (!isOne || typeof startedMs !== 'number' || typeof stoppedMs !== 'number') return undefined
  const durationMs = typeof durationSeconds === 'number' ? durationSeconds * 1000 : undefined
  return { startedMs, stoppedMs, durationMs }
}

export function warmUpMsIn({ warm_up: warmUp }: Fields): number {
  if (warmUp === undefined || warmUp === null) return 0
  const { seconds } = fieldsOf(warmUp)
  const ms = typeof seconds === 'number' ? seconds * 1000 : NaN
  return ms > 0 && Number.isFinite(ms) ? ms : NaN
}

function asideGroupsIn({ sources }: Fields): string[] {
  const groups = listOf(sources).flatMap((source) => listOf(fieldsOf(source).aside_groups))
  return [...new Set(groups)].filter((name): name is string => typeof name === 'string' && name !== '')
}

/** How lines begin that a tool has judged. */
const OF_PLAN = /^(?:k6|Gatling): /

function gapIn(document: Fields): string | undefined {
  const { verdict, reason } = document
  // Whether a warm-up or a pause leaves enough is seen in the CSVs again, with the settings of now.
  const isOfSettings = verdict === 'inconclusive' && isGapOfSettings(String(reason))
  const said = typeof reason === 'string' && reason !== '' ? `: "${quoteLines([reason])}"` : ''
  if (CUT_SHORT.includes(verdict)) return `ended as ${String(verdict)}${said}`
  if (verdict === 'inconclusive' && !isOfSettings && !isOfThresholds(document))
    return `was inconclusive${said}`
  // The CSVs do not show what the tool itself judged.
  const ofPlan = listOf(document.thresholds)
    .map(fieldsOf)
    .find((line) => OF_PLAN.test(String(line.text)) && line.verdict !== 'passed')
  if (ofPlan !== undefined)
    return `did not keep to a threshold of its plan: "${quoteLines([String(ofPlan.reason)])}"`
  // A broken threshold is reported first and hides what else was wrong, and so does a warm-up.
  const errors = listOf(document.remote_errors).map(String)
  const lost = lostLoad(errors)
  if (lost.length > 0) return `lost part of its load: "${quoteLines(lost)}"`
  const [shortfall] = listOf(document.warnings).map(String)
  if ((verdict === 'failed' || isOfSettings) && errors.length > 0 && shortfall !== undefined)
    return `did not reach its load: "${quoteLines([shortfall])}", and the service said: "${quoteLines(errors)}"`
  const missing = listOf(document.grids)
    .map(fieldsOf)
    .find(({ problem }) => typeof problem === 'string')
  if (missing !== undefined)
    return `has no complete CSV of grid ${String(missing.gridId)}: "${quoteLines([String(missing.problem)])}"`
  return undefined
}

/** The same CSVs may well decide other thresholds. Missing data is reported before any threshold. */
function isOfThresholds({ reason, thresholds }: Fields): boolean {
  return listOf(thresholds)
    .map(fieldsOf)
    .some((one) => one.verdict === 'inconclusive' && String(reason).endsWith(`: ${String(one.reason)}`))
}

export function fieldsOf(value: unknown): Fields {
  return typeof value === 'object' && value !== null ? (value as Fields) : {}
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : []
}
