import { createHash } from 'node:crypto'
import { join } from 'node:path'
import type { Apdex } from '../../analysis/evidence/apdex.js'
import { countResults, type CountedRun } from '../../analysis/evidence/count-results.js'
import type { RunTimes } from '../../analysis/evidence/own-rows.js'
import { scanEach } from '../../analysis/results/parallel/scan-files.js'
import { listStallLabels } from '../../analysis/thresholds/judge/over-time.js'
import type { ToolLine } from '../../analysis/thresholds/judge/tool-lines.js'
import type { Run } from '../../contract/api.js'
import { makeFolder } from '../../contract/files.js'
import { regionName } from '../../contract/regions/regions.js'
import { asSentence, joinClauses } from '../../contract/text.js'
import type { GridResult } from '../collect/fetch-results.js'
import type { Findings } from '../findings.js'
import type { Settings } from '../settings/settings.js'
import { readEarlierVerdict, type EarlierVerdict } from './earlier-verdict.js'
import type { ResultSource } from './result-sources.js'
import { hasChanged, translateFile, type TranslatedFile } from './translate-file.js'

export interface ReadingOptions {
  readonly settings: Pick<Settings, 'thresholds' | 'warmUpMs' | 'apdexTargetMs' | 'toolExitCode' | 'name'> &
    Pick<Settings, 'threads' | 'durationSeconds'>
  /** Where to write CSVs. */
  readonly folder: string
  /** Also of files that could be read where they are. */
  readonly isCopied: boolean
  readonly signal: AbortSignal
  /** What a verdict.json beside the files says, if it was read before. */
  readonly earlier?: EarlierVerdict
  /** When the rows were measured at the earliest, or why that is not known. */
  readonly begin?: Begin | undefined
  /** Waits until a tool that still writes would have written something more. */
  readonly settle?: (files: readonly { readonly mtimeMs: number }[]) => Promise<void>
}

/** When the workflow run began. */
export type Begin = { readonly ms: number } | { readonly reason: string }

/** Reads files of other tools as the results of one run. What is wrong with their content is in the findings, and never thrown. */
export async function readResultFiles(
  sources: readonly ResultSource[],
  options: ReadingOptions
): Promise<Findings> {
  const { settings, folder } = options
  makeFolder(folder)
  const files = await translateAll(sources, options)
  const earlier = options.earlier ?? (await readEarlierVerdict(sources.map(({ path }) => path)))
  const { counted, notes } = await count(files, { ...options, earlier })
  const tools = [...new Set(files.flatMap(({ translated: { tool } }) => tool ?? []))].sort()
  const apdex = apdexOf(counted, settings.apdexTargetMs)
  const run = runOf(files, { settings, tools, apdex })
  const ended = judgeExitCode(settings.toolExitCode, tools)
  return {
    run: { ...run, ...(ended.lines.length > 0 && { toolLines: ended.lines }) },
    apdex,
    collection: {
      run,
      report: { summary: undefined, rehearsal: earlier.rehearsal, warnings: [], means: {} },
      reportProblem: undefined,
      resultsDir: folder,
      grids: files.map(gridOf),
      missingGrids: [],
      ...counted,
      gaps: [...[earlier.gap ?? []].flat(), ...ended.gaps, ...files.flatMap(gapsOf), ...counted.gaps],
      notes: [...notes, ...files.flatMap(({ translated }) => translated.facts.notes)].filter(isFirst)
    }
  }
}

interface ReadFile {
  readonly source: ResultSource
  readonly translated: TranslatedFile
  readonly isGrowing: boolean
}

async function translateAll(
  sources: readonly ResultSource[],
  { folder, isCopied, signal, settle }: ReadingOptions
): Promise<ReadFile[]> {
  const files: { source: ResultSource; translated: TranslatedFile }[] = []
  const taken = new Set<string>()
  for (const source of sources) {
    const target = join(folder, nameCsv(source, taken))
    files.push({ source, translated: await translateFile(source.path, { target, isCopied, signal }) })
  }
  await settle?.(files.map(({ translated: { seen } }) => seen))
  return Promise.all(
    files.map(async (file) => ({
      ...file,
      isGrowing: await hasChanged(file.source.path, file.translated.seen)
    }))
  )
}

function nameCsv({ region, grid }: ResultSource, taken: Set<string>): string {
  const name = `${regionName(region)}-${regionName(grid)}`
  let unique = name
  for (let part = 2; taken.has(unique); part++) unique = `${name}.${part}`
  taken.add(unique)
  return `${unique}.csv`
}

/** Times in a zone that nobody knows cannot be compared with others. */
const NO_ZONE =
  'The times in the files do not say in which zone they are, so it was not checked that the rows were measured during this workflow run. Save them as epoch milliseconds.'

async function count(
  files: readonly ReadFile[],
  { settings, begin, earlier }: ReadingOptions & { readonly earlier: EarlierVerdict }
): Promise<{ counted: CountedRun; notes: string[] }> {
  const stallLabels = listStallLabels(settings.thresholds)
  const readable = files.flatMap(({ source: { grid, region }, translated: { path } }) =>
    path === undefined ? [] : [{ path, grid, region, stallLabels }]
  )
  const scans = await scanEach(readable)
  const scanned = readable.flatMap(({ path }, i) =>
    scans[i] === undefined ? [] : [{ path, scan: scans[i] }]
  )
  const isZoneless = scans.some((scan) => scan.isZoneless)
  const { times, notes } = timesOf({ begin, earlier, isZoneless })
  return { counted: await countResults(scanned, { warmUpMs: settings.warmUpMs, times }), notes }
}

function timesOf(known: Pick<ReadingOptions, 'begin'> & { earlier: EarlierVerdict; isZoneless: boolean }): {
  times: RunTimes | undefined
  notes: string[]
} {
  const { begin, earlier, isZoneless } = known
  if (earlier.times !== undefined || begin === undefined) return { times: earlier.times, notes: [] }
  if ('reason' in begin)
    return {
      times: undefined,
      notes: [
        `It was not checked that the rows were measured during this workflow run: ${asSentence(begin.reason)}`
      ]
    }
  if (isZoneless) return { times: undefined, notes: [NO_ZONE] }
  return {
    times: { startedMs: begin.ms, stoppedMs: undefined, called: 'the workflow run began' },
    notes: []
  }
}

/** Computed from the samples: no service has given one. */
function apdexOf({ measurements, foreign }: CountedRun, targetMs: number): Apdex | string {
  const [other] = foreign
  if (other !== undefined) return other
  const score = measurements?.figures({})?.apdex(targetMs)
  return score === undefined ? 'the CSVs have no individual response times' : { score, targetMs }
}

interface RunParts {
  readonly settings: ReadingOptions['settings']
  readonly tools: readonly string[]
  readonly apdex: Apdex | string
}

/** The files as a run: its id is that of their content, so that one that is judged again is recorded once. */
function runOf(files: readonly ReadFile[], { settings, tools, apdex }: RunParts): Run {
  const { name, threads, durationSeconds } = settings
  const digests = files.map(({ translated }) => translated.digest).sort()
  const id = `results-${createHash('sha256').update(digests.join('\n')).digest('hex').slice(0, 12)}`
  const unknown = {
    notes: undefined,
    permalink: undefined,
    remoteErrors: undefined,
    rampupSeconds: undefined
  }
  return {
    ...{ ...unknown, id, name, threads, durationSeconds, startedMs: undefined, stoppedMs: undefined },
    status: 'finished',
    tool: tools.join(' and ').toLowerCase() || undefined,
    apdex: typeof apdex === 'string' ? null : `${apdex.score.toFixed(6)} [${apdex.targetMs}]`,
    ...{ tags: [], files: [], results: [] },
    grids: files.map(({ source: { grid, region } }) => ({
      ...{ id: grid, name: grid, region, origin: undefined, nodeCount: undefined, instanceType: undefined },
      ...{ infrastructure: undefined, stopAfterMinutes: undefined, status: 'finished', nodes: [] }
    }))
  }
}

function gridOf({ source: { grid, region, shown }, translated }: ReadFile): GridResult {
  const { path, bytes, refusal } = translated
  const problem = refusal === undefined ? undefined : `${shown} ${refusal}`
  return { gridId: grid, region, nodeCount: undefined, path, bytes, problem }
}

/** Why the file is not complete evidence, in sentences. */
function gapsOf({ source: { shown }, translated: { facts }, isGrowing }: ReadFile): string[] {
  const growing = isGrowing
    ? [`The file ${shown} was written to while it was read. Judge it when the tool that writes it has ended.`]
    : []
  const unread =
    facts.problems.length === 0
      ? []
      : [`The file ${shown} cannot be read completely: ${joinClauses(facts.problems)}.`]
  const lost = facts.losses.map((loss) => `Part of the load was lost: ${asSentence(loss)}`)
  return [...growing, ...unread, ...lost]
}

/** Of k6: thresholds of the script are crossed. */
const CROSSED = 99
const MEANINGS: Readonly<Record<number, string>> = {
  100: 'its setup did not end in time',
  101: 'its teardown did not end in time',
  104: 'its configuration is invalid',
  105: 'a signal ended it',
  107: 'the script threw an exception',
  108: 'the script ended the test',
  109: 'k6 failed',
  110: 'the script declared the test failed'
}

function judgeExitCode(
  code: number | undefined,
  tools: readonly string[]
): { readonly lines: readonly ToolLine[]; readonly gaps: readonly string[] } {
  const isK6 = tools.includes('k6')
  if (code === undefined || code === 0) return { lines: [], gaps: [] }
  if (code === CROSSED && isK6)
    return { lines: [{ text: 'k6: thresholds of the script', holds: false }], gaps: [] }
  const meaning = isK6 ? MEANINGS[code] : undefined
  const words = meaning === undefined ? '' : `, which means that ${meaning}`
  return {
    lines: [],
    gaps: [
      `The tool that wrote the results ended with exit code ${code} (tool-exit-code)${words}. Its log says why.`
    ]
  }
}

function isFirst(words: string, index: number, all: readonly string[]): boolean {
  return all.indexOf(words) === index
}
