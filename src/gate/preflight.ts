import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { checkPlan } from '../analysis/plans/check/check-plan.js'
import type { Target } from '../analysis/plans/check/jmx-target.js'
import {
  decodePlan,
  type Finding,
  LARGEST_OTHER_BYTES,
  LARGEST_PLAN_BYTES,
  quote,
  type PlanRequest,
  type RunFile,
  warning
} from '../analysis/plans/check/request.js'
import { checkOddParameters } from '../analysis/plans/check/odd-parameters.js'
import { formatDuration, joinWords, messageOf } from '../contract/text.js'
import { readAsideGroups } from '../analysis/plans/check/aside-groups.js'
import type { Labels } from '../analysis/plans/check/jmx-plan.js'
import { decodeProperties, parseProperties, USER_PROPERTIES } from '../analysis/plans/jmx/user-properties.js'
import { suggestWord } from '../contract/nearest.js'
import { matchesPattern } from '../analysis/thresholds/judge/scopes.js'
import type { Pattern, Threshold } from '../analysis/thresholds/grammar/threshold.js'
import type { Ports } from './ports.js'
import { findJMeterHome, readGivenNames } from './given-names.js'
import { oddEntries, readParameters } from './settings/override-parameters.js'
import { SettingsError } from './errors.js'
import type { Settings } from './settings/settings.js'

/** Files that belong to the plan itself. */
const PART_OF_PLAN = /\.(?:jmx|groovy|bsh|beanshell|java|scala|kt|[cm]?[jt]sx?)$|^user\.properties$/i
/** A step can have ten annotations, and the verdict needs some. */
const MOST_WARNINGS = 5

interface Preflight {
  readonly findings: readonly Finding[]
  readonly target?: Target | undefined
}

/** Logs what would go wrong with the plan; throws for an input that cannot be meant. If the check itself fails, the run will show it. */
export async function warnOfPlan({ log }: Pick<Ports, 'log'>, settings: Settings): Promise<void> {
  const findings = await checkBeforeRun(settings, process.env).then(
    (checked) => checked.findings,
    (thrown: unknown): Finding[] => {
      log.debug(`The plan could not be checked: ${messageOf(thrown)}`)
      return []
    }
  )
  const refused = findings.filter(({ isInput }) => isInput).map(({ message }) => message)
  if (refused.length > 0) throw new SettingsError(refused)
  const serious = findings.filter(({ level }) => level !== 'note').map(({ message }) => message)
  for (const message of serious.slice(0, MOST_WARNINGS)) log.warning(message)
  if (serious.length > MOST_WARNINGS)
    log.warning(`${serious.length - MOST_WARNINGS} more problems in the plan: \`loadgate check\` lists them.`)
}

/** Checks what can be checked without starting or contacting anything. */
export async function checkBeforeRun(settings: Settings, env: NodeJS.ProcessEnv): Promise<Preflight> {
  const { origin, thresholds } = settings
  if (origin.kind !== 'files') return { findings: checkWarmUp(settings) }
  const isEmbedded = settings.target.kind === 'local'
  const odd = checkOddParameters(oddEntries(settings.overrideParameters ?? ''), { isEmbedded })
  const ofSettings = [...checkWarmUp(settings), ...odd]
  const read = await readRun(origin.paths)
  if ('finding' in read) return { findings: [...ofSettings, read.finding] }
  const jars = origin.paths.filter((path) => /\.jar$/i.test(path))
  const request = requestFor(settings, { env, jars }, read)
  const given = await readGivenNames(origin.paths, request, env)
  const { findings, labels, target } = checkPlan({ ...request, given })
  return {
    findings: [
      ...ofSettings,
      ...read.notes,
      ...findings,
      ...(labels === undefined ? [] : checkLabels(thresholds, labels))
    ],
    target
  }
}

/** The setUp and tearDown groups of the plan, by name: what they do is not the load. None where the plan cannot be read, or is too large. */
export async function asideGroupsOf(settings: Settings): Promise<readonly string[]> {
  const { origin, tool, threads, rampupSeconds, durationSeconds } = settings
  if (origin.kind !== 'files' || tool !== 'jmeter') return []
  const read = await readRun(origin.paths).catch(() => undefined)
  if (read === undefined || 'finding' in read) return []
  const parameters = readParameters(settings.overrideParameters ?? '')
  const { others } = read
  return readAsideGroups(read.plan.text, { others, parameters, threads, rampupSeconds, durationSeconds })
}

type RunFiles = Pick<PlanRequest, 'plan' | 'others'> & { readonly notes: readonly Finding[] }

async function readRun([planPath = '', ...otherPaths]: readonly string[]): Promise<
  RunFiles | { readonly finding: Finding }
> {
  const read = await readPlan(planPath)
  if ('finding' in read) return read
  const others = await readOthers(otherPaths, LARGEST_PLAN_BYTES - read.text.length)
  return { plan: { name: basename(planPath), text: read.text }, others, notes: read.notes }
}

function checkWarmUp({ warmUpMs, durationSeconds }: Settings): Finding[] {
  if (warmUpMs === 0 || durationSeconds === undefined || warmUpMs < durationSeconds * 1000) return []
  const message = `warm-up is ${formatDuration(warmUpMs)} and duration is ${formatDuration(durationSeconds * 1000)}, so nothing is left to judge; make duration longer than warm-up.`
  return [{ level: 'error', message }]
}

function requestFor(
  settings: Settings,
  { env, jars }: { readonly env: NodeJS.ProcessEnv; readonly jars: readonly string[] },
  { plan, others }: RunFiles
): PlanRequest {
  const { target, regions, baseline, tool, threads, rampupSeconds, durationSeconds } = settings
  const isEmbedded = target.kind === 'local'
  const isHere = isEmbedded && regions === undefined
  const baselineParameters = readParameters(
    baseline.source.kind === 'side-by-side' ? baseline.source.parameters : ''
  )
  const parameters = [...readParameters(settings.overrideParameters ?? ''), ...baselineParameters]
  const named = parseProperties(others.find(({ name }) => name === USER_PROPERTIES)?.text ?? '')
  const hasOwnPaths = [...parameters.map(({ name }) => name), ...named.keys()].some((name) =>
    /^(?:search_paths|user\.classpath)$/.test(name)
  )
  return {
    ...{ plan, others },
    ...{ isHere, isEmbedded, parameters, baselineParameters, tool, threads, rampupSeconds, durationSeconds },
    limit: `the timeout of ${formatDuration(settings.timeoutMs)}`,
    isThere: existsSync,
    hasClass: isHere && !hasOwnPaths ? createClassFinder(env, jars) : () => undefined
  }
}

async function readPlan(path: string): Promise<{ text: string; notes: Finding[] } | { finding: Finding }> {
  const name = basename(path)
  const { bytes, size } = await readIfSmall(path, LARGEST_PLAN_BYTES)
  if (size > LARGEST_PLAN_BYTES) return { finding: await describeLarge(path, size) }
  // A simulation that is compiled already, or an archive of k6.
  if (/\.(?:jar|tar)$/i.test(name)) return { text: '', notes: [] }
  const decoded = decodePlan(bytes)
  if ('problem' in decoded)
    return { finding: { level: 'error', message: `The plan ${name} ${decoded.problem}.` } }
  const message = `${name} has bytes that are not UTF-8, so names and data may be garbled; save it as UTF-8.`
  return { text: decoded.text, notes: decoded.hasBadBytes ? [{ level: 'warning', message }] : [] }
}

async function describeLarge(path: string, size: number): Promise<Finding> {
  const message = `${basename(path)} is too large to be checked (${size >> 20} MB).`
  const bytes = await readFile(path)
  if (!['Setup', 'Post'].some((kind) => bytes.includes(`${kind}ThreadGroup`)))
    return { level: 'note', message }
  return warning(`${message} So the samples of its setUp and tearDown groups count in the overall figures.`)
}

async function readOthers(paths: readonly string[], mostBytes: number): Promise<RunFile[]> {
  const files: RunFile[] = []
  let leftBytes = mostBytes
  for (const path of paths) {
    const text = PART_OF_PLAN.test(basename(path)) ? await readOther(path, leftBytes) : undefined
    leftBytes -= text?.length ?? 0
    files.push({ name: basename(path), text })
  }
  return files
}

async function readOther(path: string, leftBytes: number): Promise<string | undefined> {
  const mostBytes = Math.min(leftBytes, LARGEST_OTHER_BYTES)
  const { bytes, size } = await readIfSmall(path, mostBytes)
  if (size > mostBytes) return undefined
  if (basename(path) === USER_PROPERTIES) return decodeProperties(bytes)
  const decoded = decodePlan(bytes)
  return 'text' in decoded ? decoded.text : undefined
}

/** The file, or nothing of it if it is larger. */
async function readIfSmall(path: string, mostBytes: number): Promise<{ bytes: Buffer; size: number }> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    return { bytes: size > mostBytes ? Buffer.alloc(0) : await file.readFile(), size }
  } finally {
    await file.close()
  }
}

const SHOWN = 5
/** A name that a source writes out; one with a number may be put together. */
const PLAIN_NAME = /^[A-Za-z][A-Za-z_ -]*$/
/** Page timings are labels of their own. */
const TIMING = / \[(?:ttfb|dom ready|load|lcp)\]$/

/** Thresholds on labels that no request of the plan has. */
function checkLabels(thresholds: readonly Threshold[], labels: Labels): Finding[] {
  return thresholds.flatMap(({ text, level, selector: { label } }): Finding[] => {
    if (label === undefined || labels.names.some((name) => mayMatch(label, name))) return []
    const [wanted = '', ...more] = label.pieces
    const isPattern = more.length > 0
    const meant = isPattern ? undefined : suggestWord(wanted, labels.usual)
    const says = `The threshold ${text} has nothing to judge: no request of the plan is called ${quote(label.text)}`
    const others =
      meant === undefined ? `; there is ${joinWords(labels.usual.map(quote), SHOWN)}.` : ask(wanted, meant)
    if (labels.isComplete) return [{ level: level === 'warn' ? 'warning' : 'error', message: says + others }]
    const isTypo = meant !== undefined && PLAIN_NAME.test(wanted) && PLAIN_NAME.test(meant)
    return isTypo && labels.isSource && !TIMING.test(wanted)
      ? [{ level: 'warning', message: `${says}; did you mean ${quote(meant)}?` }]
      : []
  })
}

/** JMeter numbers the rows of a request's redirects and embedded files: `home-0`, `home-1-0`. */
function mayMatch(label: Pattern, name: string): boolean {
  if (label.pieces.length > 1)
    return ['', '-0', '-1', '-0-0'].some((number) => matchesPattern(label, name + number))
  const [wanted = ''] = label.pieces
  return wanted === name || (wanted.startsWith(name) && /^(?:-\d+)+$/.test(wanted.slice(name.length)))
}

/** A name that differs only in spaces looks the same. */
function ask(wanted: string, meant: string): string {
  return wanted.trim() === meant.trim()
    ? `; there is ${JSON.stringify(meant)}, with spaces around it: remove them in the plan, or write them in the threshold too.`
    : `; did you mean ${quote(meant)}?`
}

/** A larger jar is not a plugin. */
const LARGEST_JAR_BYTES = 64 << 20

/** Reading the jars for each of many classes would take minutes. */
const LONGEST_MS = 1_000

/** Whether this machine's JMeter has a class, by its jars and those of the run; undefined if unknown. Without a JMeter, the copy without plugins is used. */
export function createClassFinder(
  env: NodeJS.ProcessEnv,
  jarsOfRun: readonly string[] = [],
  now: () => number = () => performance.now()
): (name: string) => boolean | undefined {
  const known = new Map<string, boolean | undefined>()
  let home: { readonly path: string | undefined } | undefined
  let jars: readonly string[] | undefined
  let spentMs = 0
  const look = (name: string): boolean | undefined => {
    home ??= { path: findJMeterHome(env) }
    const folders = home.path === undefined ? [] : [join(home.path, 'lib', 'ext'), join(home.path, 'lib')]
    jars ??= [...jarsOfRun, ...folders.flatMap(jarsIn)].filter(isSmall)
    for (const jar of jars) {
      if (spentMs > LONGEST_MS) return undefined
      const startedMs = now()
      const isThere = hasClass(jar, name)
      spentMs += now() - startedMs
      if (isThere) return true
    }
    return home.path !== undefined && jars.length === 0 ? undefined : false
  }
  return (name) => {
    if (known.has(name)) return known.get(name)
    let found: boolean | undefined
    try {
      found = look(name)
    } catch {
      found = undefined
    }
    known.set(name, found)
    return found
  }
}

function jarsIn(folder: string): string[] {
  return readdirSync(folder)
    .filter((name) => name.endsWith('.jar'))
    .map((name) => join(folder, name))
}

function isSmall(path: string): boolean {
  return statSync(path).size <= LARGEST_JAR_BYTES
}

/** The names of a jar's entries are not compressed. A plan writes `_-` for the `$` of a class within another. */
function hasClass(jar: string, name: string): boolean {
  return readFileSync(jar).includes(`${name.replaceAll('_-', '$').replaceAll('.', '/')}.class`)
}
