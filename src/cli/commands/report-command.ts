import { existsSync } from 'node:fs'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { systemClock } from '../../contract/clock.js'
import { makeFolder } from '../../contract/files.js'
import { formatDuration } from '../../contract/text.js'
import { describeInput } from '../../contract/inputs.js'
import { exitCodeOf } from '../../gate/verdict/exit-code.js'
import type { Outcome } from '../../analysis/outcome.js'
import { renderPage } from '../../report/page/page.js'
import { printVerdict } from '../../report/verdict-document.js'
import { isId, ON_STALL } from '../../contract/vocabulary.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import { isAbsoluteThreshold, isBaselineThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import type { AbsoluteThreshold } from '../../analysis/thresholds/grammar/threshold.js'
import {
  DEFAULT_APDEX_TARGET_MS,
  parseChoice,
  parseDurationSeconds,
  parsePattern
} from '../../contract/setting-values.js'
import {
  readEarlierVerdict,
  type EarlierVerdict,
  type EarlierWarmUp
} from '../../gate/results/earlier-verdict.js'
import { judgeFiles } from '../../gate/results/judge-files.js'
import { nameSources } from '../../gate/results/result-sources.js'
import { flagsOf, type Arguments, UsageError, valueOf } from '../arguments.js'
import { nameOutputFolder } from './gate-command.js'
import { ABOUT_JUNIT, withJUnit, type WriteJUnit } from '../junit-file.js'
import { describeOutcome } from '../outcome-text.js'
import { checkReportFolder } from '../output-folder.js'
import { listResultFiles } from '../result-files.js'
import type { CommandPorts } from '../ports.js'
import { plain, widthOf } from '../screen.js'

export const flags = flagsOf({
  'thresholds <line>…':
    'For CSVs. What must hold, one threshold with an absolute limit per line: `apdex >= 0.85`, `p95{label="checkout"} < 800ms`, `warn: error_rate < 1%`. Default: none, which reports and judges nothing.',
  'apdex-target <ms>': `For CSVs. Samples up to this time count as satisfied. Default: ${DEFAULT_APDEX_TARGET_MS}.`,
  'warm-up <time>':
    'For CSVs. Leaves the samples that start within this time after the first one out of all figures, and shows them apart: whole seconds or a duration such as `90s` or `5m`. Default: that of the run, by the verdict.json beside its CSVs; otherwise none. 0 leaves nothing out.',
  'on-stall <fail|warn|ignore>': `For CSVs. ${describeInput('on-stall')}`,
  'output <folder>': 'For CSVs. Folder for report.html and verdict.json.',
  'junit <file>': `For CSVs. ${ABOUT_JUNIT}`,
  json: 'Print JSON.'
})

/** Whether the words name files rather than a run: they are not an id, or they exist. */
export function nameFiles(words: readonly string[], { workspace }: CommandPorts): boolean {
  return words.some((word) => !isId(word) || existsSync(resolve(workspace, word)))
}

/** `loadgate report <folder or file…>`: page, verdict and a summary from result files of any tool, without a service. */
export function run(args: Arguments, ports: CommandPorts): Promise<number> {
  const { workspace } = ports
  return withJUnit(args, { workspace, redact: (text) => text }, (write) => reportFiles(args, ports, write))
}

async function reportFiles(
  args: Arguments,
  { screen, workspace, cancelled, clock = systemClock }: CommandPorts,
  writeJUnit: WriteJUnit
): Promise<number> {
  const thresholds = readThresholds(args.text('thresholds'))
  const target = valueOf(args, 'apdex-target', (text) =>
    parsePattern(text, /^[1-9]\d{0,6}(?:ms)?$/, 'a whole number of ms')
  )
  const apdexTargetMs = target === undefined ? DEFAULT_APDEX_TARGET_MS : parseInt(target, 10)
  const onStall = valueOf(args, 'on-stall', (text) => parseChoice(text, ON_STALL)) ?? 'fail'
  const askedSeconds = valueOf(args, 'warm-up', (text) => parseDurationSeconds(text, 0))
  const folder = resolve(workspace, args.text('output') || nameOutputFolder())
  await checkReportFolder(folder)
  const paths = await listResultFiles(args.words.map((word) => resolve(workspace, word)))
  const sources = nameSources(paths.map((path) => ({ path, shown: path })))
  const earlier = await readEarlierVerdict(paths)
  const warmUp = chooseWarmUp(askedSeconds && askedSeconds * 1000, earlier)
  if (warmUp.note !== undefined) screen.err.write(`${plain(warmUp.note)}\n`)
  const outcome = await judge(sources, {
    ...{ thresholds, apdexTargetMs, onStall, earlier, signal: cancelled, clock },
    ...{ warmUpMs: warmUp.ms, notes: [warmUp.note ?? []].flat() }
  })
  makeFolder(folder)
  const document = printVerdict(outcome)
  await writeFile(join(folder, 'verdict.json'), document)
  await writeFile(join(folder, 'report.html'), renderPage(outcome))
  const place = `report.html and verdict.json are in ${folder}`
  screen.out.write(
    args.has('json') ? document : describeOutcome(outcome, { place, width: widthOf(screen.out) })
  )
  await writeJUnit(outcome)
  return exitCodeOf(outcome.verdict, 'breach')
}

function readThresholds(text: string): AbsoluteThreshold[] {
  const { thresholds, problems } = parseThresholds(text)
  if (problems.length > 0) throw new UsageError(problems.join('\n'))
  if (text !== '' && thresholds.length === 0)
    throw new UsageError('--thresholds contains only comments; give a threshold, or leave the flag out')
  const compared = thresholds.find(isBaselineThreshold)
  if (compared)
    throw new UsageError(
      `--thresholds: line ${compared.line}, "${compared.text}": there is no baseline for CSVs; give an absolute limit, or compare with \`loadgate run --baseline\``
    )
  return thresholds.filter(isAbsoluteThreshold)
}

/** The run's own unless another is asked for, with a note: otherwise its verdict and a report of its CSVs would have different figures. */
function chooseWarmUp(askedMs: number | undefined, { warmUps }: EarlierVerdict) {
  const [first] = warmUps
  if (askedMs !== undefined || first === undefined) return { ms: askedMs ?? 0 }
  // An unreadable one is never equal, not even to itself.
  const other = warmUps.find(({ ms }) => ms !== first.ms)
  if (other !== undefined) {
    const each = new Set([describeWarmUp(first), describeWarmUp(other)])
    throw new UsageError(
      `it is unknown which warm-up to leave out: ${[...each].join(', and ')}; give --warm-up (0 for none)`
    )
  }
  if (first.ms === 0) return { ms: 0 }
  const note = `The warm-up of ${formatDuration(first.ms)} is that of the run (${first.path}); to choose another, give --warm-up (0 for none).`
  return { ms: first.ms, note }
}

function describeWarmUp({ ms, path }: EarlierWarmUp): string {
  const length = Number.isNaN(ms) ? 'does not say how long it was' : `has ${formatDuration(ms)}`
  return `${path} ${ms === 0 ? 'has none' : length}`
}

/** Files of other formats are translated in a folder that is deleted afterwards. */
async function judge(
  sources: Parameters<typeof judgeFiles>[0],
  options: Omit<Parameters<typeof judgeFiles>[1], 'folder'>
): Promise<Outcome> {
  const folder = await mkdtemp(join(tmpdir(), 'loadgate-report-'))
  try {
    return await judgeFiles(sources, { ...options, folder })
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}
