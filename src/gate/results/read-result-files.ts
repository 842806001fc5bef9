import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Apdex } from '../../analysis/evidence/apdex.js'
import type { CountedRun } from '../../analysis/evidence/count-results.js'
import type { ToolLine } from '../../analysis/thresholds/judge/tool-lines.js'
import type { Run } from '../../contract/api.js'
import type { Clock } from '../../contract/clock.js'
import { makeFolder } from '../../contract/files.js'
import { regionName } from '../../contract/regions/regions.js'
import { asSentence, joinClauses, joinWords, when } from '../../contract/text.js'
import type { GridResult } from '../collect/fetch-results.js'
import type { Findings } from '../findings.js'
import type { Settings } from '../settings/settings.js'
import { countFiles, type Begin } from './count-files.js'
import { readEarlierVerdict, type EarlierVerdict } from './earlier-verdict.js'
import type { ResultSource } from './result-sources.js'
import { hasChanged, translateFile, type TranslatedFile } from './translate-file.js'

interface ReadingOptions {
  readonly settings: Pick<Settings, 'thresholds' | 'warmUpMs' | 'apdexTargetMs' | 'toolExitCode' | 'name'> &
    Pick<Settings, 'threads' | 'durationSeconds'>
  /** Where to write CSVs. */
  readonly folder: string
  /** Whether files that can be read where they are are copied too. */
  readonly isCopied: boolean
  readonly signal: AbortSignal
  /** What a verdict.json beside the files says, if it was read before. */
  readonly earlier?: EarlierVerdict
  /** When the rows were measured at the earliest, or why that is not known. */
  readonly begin?: Begin | undefined
  readonly clock: Clock
}

/** Reads files of other tools as the results of one run. What is wrong with their content is in the findings, and never thrown. */
export async function readResultFiles(
  sources: readonly ResultSource[],
  options: ReadingOptions
): Promise<Findings> {
  const { settings, folder, begin, clock, signal } = options
  makeFolder(folder)
  const files = await translateAll(sources, options)
  const earlier = options.earlier ?? (await readVerdictOfGate(sources))
  const found = await countFiles(files, { settings, begin, earlier, nowMs: clock.now() })
  const growing = await findGrowing(files, { ...options, earlier })
  await checkCancelled(signal)
  const counted = { ...found.counted, foreign: [...findOtherForms(files), ...found.counted.foreign] }
  const gapsOfFiles = files.flatMap((file) =>
    gapsOf(file, { isGrowing: growing.has(file), isOwn: earlier.csvs.has(file.source.path) })
  )
  const tools = [...new Set(files.flatMap(({ translated: { format } }) => format?.tool ?? []))].sort()
  const apdex = apdexOf(counted, settings.apdexTargetMs)
  const run = runOf(files, { settings, tools, apdex, identity: found.identity })
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
      gaps: [...[earlier.gap ?? []].flat(), ...ended.gaps, ...gapsOfFiles, ...counted.gaps],
      notes: [...new Set([...found.notes, ...files.flatMap(({ translated }) => translated.facts.notes)])]
    }
  }
}

/** In a gate a file of the repository must not decide which samples count. */
async function readVerdictOfGate(sources: readonly ResultSource[]): Promise<EarlierVerdict> {
  const earlier = await readEarlierVerdict(sources.map(({ path }) => path))
  return { ...earlier, asideGroups: new Map() }
}

/** Node hears of signals between turns of its loop, and counting may take a while without any: the first of these ends the turn that counted. */
export async function checkCancelled(signal: AbortSignal): Promise<void> {
  await nextTurn()
  await nextTurn()
  signal.throwIfAborted()
}

interface ReadFile {
  readonly source: ResultSource
  readonly translated: TranslatedFile
}

async function translateAll(
  sources: readonly ResultSource[],
  { folder, isCopied, signal }: ReadingOptions
): Promise<ReadFile[]> {
  const files: ReadFile[] = []
  const taken = new Set<string>()
  for (const source of sources) {
    const target = join(folder, nameCsv(source, taken))
    files.push({ source, translated: await translateFile(source.path, { target, isCopied, signal }) })
  }
  return files
}

/** Tools write what they have measured every second or two. */
const SETTLED_MS = 3_000

/** The files that have changed since they were opened, after a wait for those that were written to a moment before. */
async function findGrowing(
  files: readonly ReadFile[],
  { clock, signal, earlier }: ReadingOptions & { readonly earlier: EarlierVerdict }
): Promise<ReadonlySet<ReadFile>> {
  // What loadgate wrote is complete, and what cannot be judged at all need not be.
  const others = files.filter(
    ({ source, translated }) => translated.refusal === undefined && !earlier.csvs.has(source.path)
  )
  const agesMs = others.map(({ translated: { seen } }) => clock.now() - seen.mtimeMs)
  // A file with a later time is not new: its clock is a different one, or the time was set.
  const newestMs = Math.min(...agesMs.filter((ms) => ms > -SETTLED_MS))
  if (newestMs < SETTLED_MS) await clock.sleep(SETTLED_MS - Math.max(0, newestMs), signal)
  const changed = await Promise.all(
    files.map(({ source, translated }) => hasChanged(source.path, translated.seen))
  )
  return new Set(files.filter((_, i) => changed[i]))
}

/** Tools write several formats of one run, in clauses. */
function findOtherForms(files: readonly ReadFile[]): string[] {
  return files.flatMap(({ source: { shown }, translated: { format } }, index) => {
    const known = files.slice(0, index).filter((other) => other.translated.format?.tool === format?.tool)
    const [other] = known
    if (format === undefined || other === undefined) return []
    if (known.some(({ translated }) => translated.format?.form === format.form)) return []
    return `the files ${other.source.shown} and ${shown} are both of ${format.tool}, in two formats, so each request of a run would count twice: give one of them`
  })
}

function nameCsv({ region, grid }: ResultSource, taken: Set<string>): string {
  const name = `${regionName(region)}-${regionName(grid)}`
  let unique = name
  for (let part = 2; taken.has(unique); part++) unique = `${name}.${part}`
  taken.add(unique)
  return `${unique}.csv`
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
  readonly identity: string
}

/** The files as a run: its id is that of their content, so that one that is judged again is recorded once. */
function runOf(files: readonly ReadFile[], { settings, tools, apdex, identity }: RunParts): Run {
  const { name, threads, durationSeconds } = settings
  const id = `results-${identity}`
  const unknown = {
    notes: undefined,
    permalink: undefined,
    remoteErrors: undefined,
    rampupSeconds: undefined
  }
  return {
    ...{ ...unknown, id, name, threads, durationSeconds, startedMs: undefined, stoppedMs: undefined },
    status: 'finished',
    tool: joinWords(tools).toLowerCase() || undefined,
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

/** Why the file is not complete evidence, in sentences. `isOwn` if loadgate wrote it, as a service gave it. */
function gapsOf(
  { source: { shown }, translated: { facts, isUnended } }: ReadFile,
  { isGrowing, isOwn }: { isGrowing: boolean; isOwn: boolean }
): string[] {
  const isCut = isUnended && !isOwn && facts.problems.length === 0
  const unread =
    facts.problems.length === 0
      ? []
      : [`The file ${shown} cannot be read completely: ${joinClauses(facts.problems)}.`]
  return [
    ...when(
      isGrowing,
      `The file ${shown} was written to while it was read. Judge it when the tool that writes it has ended.`
    ),
    ...unread,
    ...when(
      isCut,
      `The last row of ${shown} has no line break at its end, so the file may have been cut there. Check that the tool had ended and that the file was copied completely; if it is complete, add the line break.`
    ),
    ...facts.losses.map((loss) => `Part of the load was lost: ${asSentence(loss)}`)
  ]
}

/** k6 only: what the script says about the test. */
const BROKEN: Readonly<Record<number, string>> = {
  99: 'k6: thresholds of the script',
  110: 'k6: the script marked the test as failed'
}
const MEANINGS: Readonly<Record<number, string>> = {
  100: 'its setup did not end in time',
  101: 'its teardown did not end in time',
  104: 'its configuration is invalid',
  105: 'a signal ended it',
  107: 'the script threw an exception',
  108: 'the script ended the test',
  109: 'k6 failed'
}

function judgeExitCode(
  code: number | undefined,
  tools: readonly string[]
): { readonly lines: readonly ToolLine[]; readonly gaps: readonly string[] } {
  const isK6 = tools.includes('k6')
  if (code === undefined || code === 0) return { lines: [], gaps: [] }
  const text = isK6 ? BROKEN[code] : undefined
  if (text !== undefined) return { lines: [{ text, holds: false }], gaps: [] }
  const meaning = isK6 ? MEANINGS[code] : undefined
  const words = meaning === undefined ? '' : `, which means that ${meaning}`
  return {
    lines: [],
    gaps: [
      `The tool that wrote the results ended with exit code ${code} (tool-exit-code)${words}. Its log says why.`
    ]
  }
}
