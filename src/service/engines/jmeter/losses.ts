import { basename, isAbsolute, relative } from 'node:path'
import type { LogEntry } from './log.js'

/** Where the plan ran, to identify its files. */
export interface PlanPlace {
  /** The folder of the plan. */
  readonly folder: string
  /** The names of the files that were uploaded. */
  readonly files: ReadonlySet<string>
  readonly samplesFile: string
  /** JMeter's log text for each stop that a Result Status Action Handler of the plan can ask for. */
  readonly stops?: ReadonlySet<string>
}

/** The actions of a Result Status Action Handler that stop something; the other numbers continue in some way. */
const STOPS = new Map([
  ['1', 'Stop Thread'],
  ['2', 'Shutdown Test'],
  ['3', 'Stop Test Now']
])

/** Which stops of a thread or the test the plan's Result Status Action Handlers ask for after a failed sample. */
export function readStops(plan: string): string[] {
  const handlers = plan.matchAll(/<ResultAction\b([^>]*)>([^]*?)<\/ResultAction>/g)
  return [...handlers].flatMap(([, attributes = '', content = '']) => {
    if (/\benabled="false"/.test(attributes)) return []
    const action = /name="OnError\.action">\s*([^<]*?)\s*</.exec(content)?.[1] ?? ''
    // The value of a property or variable is unknown here.
    return [...STOPS].filter(([number]) => number === action || action.includes('${')).map(([, stop]) => stop)
  })
}

export interface LogFindings {
  /** Load that was not generated, one sentence each. */
  readonly losses: readonly string[]
  /** Other errors in the log: they concern samples or listeners, and no load was lost. */
  readonly notes: readonly string[]
  /** Whether the test ended, by JMeter's own words; undefined where the log leaves such words out. */
  readonly isEnded: boolean | undefined
}

interface Rule {
  /** Matched against the entry's text, its exception and its root cause, one per line. */
  readonly pattern: RegExp
  /** True if JMeter logs it as info. */
  readonly isInfo?: boolean
  tell(match: RegExpExecArray, entry: LogEntry, place: PlanPlace): string | undefined
}

const MAX_DISTINCT = 20
const MAX_QUOTE = 300
const NO_GROUP = 'the plan has no enabled thread group'
const PLUGIN_ADVICE = 'install the plugin into your own JMeter and point JMETER_HOME to it'

/** Listeners generate no load: whatever fails in them, the samples are the same. */
const LISTENER = /^(?:o\.a\.j|org\.apache\.jmeter)\.(?:r|v|reporters|visualizers)\.\S*:/

/** Loggers of JMeter and of the common plugin sets, full or abbreviated; some layouts have the thread first. */
const OWN_LOGGER =
  /^(?:\[[^\]]*\]\s+)?(?:o\.a\.j|org\.apache\.(?:jmeter|jorphan)|k\.a\.j|kg\.apc|c\.b\.j|com\.blazemeter)\./

/**
 * Loggers available to a plan's scripts. What they log is up to the plan: it may be about a file that may be missing, or
 * quote a server. A JSR223 script's logger has the class, which may be abbreviated, and then its own name.
 */
const SCRIPT_LOGGER =
  /^(?:\[[^\]]*\]\s+)?[\w.]+\.(?:(?:J|JSR223\w*)\.|(?:BeanShellTestElement|LogFunction2?|(?:Groovy|BeanShell|JavaScript|Jexl\d?Function)): (?!Error running (?:groovy|BSH) script$|Error processing Javascript: |An error occurred while evaluating ))/

/**
 * What JMeter logs, as an error or as info, when it skips part of the plan and still exits with code 0. The first
 * matching rule counts. Anything else is not a loss: errors of assertions, extractors, scripts and requests are in the
 * samples, where the thresholds judge them.
 */
const RULES: readonly Rule[] = [
  // Out of heap: the thread dies, whatever it was doing, and others may follow.
  {
    pattern: /^java\.lang\.OutOfMemoryError.*/m,
    tell: ([words]) => `ran out of memory (${quote(words)}); give it more, for example HEAP=-Xmx2g`
  },
  // A data set that fails stops its thread, and all of its requests, before the first one.
  {
    pattern: /^(?:[\w.$]+(?:Exception|Error): )+File (.+?) must exist and be readable/m,
    tell: tellMissingFile
  },
  // The functions FileToString, CSVRead and StringFromFile: requests are sent without their data.
  { pattern: /FileToString: Could not read open: (.+)/, tell: tellMissingFile },
  {
    pattern: /\.(?:f|functions)\.\w+: .*NoSuchFileException: (.+)/,
    tell: tellMissingFile
  },
  // The included part is skipped; each attempt logs three entries, of which one counts.
  {
    pattern: /IncludeController: Including file "(.+?)" failed .*, ([^,]+)$/m,
    tell: (match, entry, place) =>
      /failed for: |NoSuchFile|FileNotFound|file not found/.test(`${entry.exception} ${match[2] ?? ''}`)
        ? tellMissingFile(match, entry, place)
        : `could not include ${match[1] ?? ''} (${quote(reasonOf(entry) || match[2])})`
  },
  // A missing script does not run: a sampler fails, a pre-processor leaves its request unchanged.
  { pattern: /Script file '(.+?)' is not a file/, tell: tellMissingFile },
  {
    pattern: /BeanShellInterpreter: Error invoking bsh method: source\s+(.+?) \(No such file/,
    tell: tellMissingFile
  },
  // Any other file that a script or an element wanted to read. Only the exception's own message counts: the entry may
  // quote a server's response.
  {
    pattern:
      /^(?:[\w.$]+(?:Exception|Error): )*java\.(?:nio\.file\.NoSuchFile|io\.FileNotFound)Exception: (.+?)(?: \([A-Z][^()]*\))?$/m,
    tell: tellMissingFile
  },
  // A data set that cannot be read for another reason, such as its encoding, supplies nothing.
  {
    pattern: /CSVDataSet: \S*Exception/,
    tell: (_match, entry) => `could not read a data set (${quote(entry.text.replace(/^\S+: /, ''))})`
  },
  // An invalid condition counts as false, so its branch is skipped; other requests are sent without their data.
  {
    pattern: /^\S*\bIfController: (.*?): error while processing \[(.*?)\]?$/m,
    tell: ([, name = '', condition]) => `could not evaluate the condition of ${name} (${quote(condition)})`
  },
  {
    pattern: /^\S*\bJexl\d?Function: An error occurred while evaluating the expression "(.*?)"?$/m,
    tell: ([, expression]) => `could not evaluate an expression (${quote(expression)})`
  },
  {
    pattern: /^\S*\bJavaScript: Error processing Javascript: \[(.*?)\]?$/m,
    tell: ([, expression]) => `could not evaluate an expression (${quote(expression)})`
  },
  {
    pattern: /^\S*\b(?:Groovy: Error running groovy|BeanShell: Error running BSH) script$/m,
    tell: ([words], entry) =>
      // Groovy numbers the scripts that it compiles.
      `could not evaluate an expression of __${words.includes('Groovy') ? 'groovy' : 'BeanShell'} (${quote(reasonOf(entry).replace(/\bScript\d+$/, 'Script'))})`
  },
  // A class that the plan names and JMeter lacks: its sampler only fails.
  {
    pattern: /Sampler: .*\n(?:.*\n)?java\.lang\.(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]+)/,
    tell: ([, name = '']) =>
      `the plan uses ${name.replaceAll('/', '.')}, which this JMeter does not have; ${PLUGIN_ADVICE}`
  },
  // A thread that ends with an error sends no more requests.
  {
    pattern: /JMeterThread: Test failed!/,
    tell: (_match, entry) => `a thread ended with an error (${quote(reasonOf(entry))})`
  },
  // The same for errors that JMeter does not expect; threads started by the plan itself are not users.
  {
    pattern:
      /Uncaught exception in thread Thread\[(?:.* \d+-\d+|StandardJMeterEngine.*|.*ThreadStarter.*?),\d+,/,
    tell: (_match, entry) => `a thread ended with an error (${quote(entry.exception)})`
  },
  // The request was not sent, or it has no row.
  {
    pattern: /JMeterThread: Error while processing sampler(?:: '(.*)')?/,
    tell: ([, name], entry) =>
      `a request of ${name ?? 'a sampler'} was not sent, or not recorded (${quote(reasonOf(entry))})`
  },
  // The plan was not started, or not completely.
  {
    pattern: /StandardJMeterEngine: (?:Error occurred compiling the tree|Unable to execute testStarted)/,
    tell: (_match, entry) => `could not start the plan (${quote(reasonOf(entry))})`
  },
  {
    pattern: /Error occurred starting thread group :(.*?), error message:(.*)/,
    tell: ([, group = '', words]) => `could not start the thread group ${group.trim()} (${quote(words)})`
  },
  {
    pattern: /StandardJMeterEngine: No enabled thread groups found/,
    isInfo: true,
    tell: () => NO_GROUP
  },
  // An exception that ends the test; a regular end has none.
  {
    pattern: /JMeterThread: Stopping Test(?: Now| with interruption of current samplers)?: (.+)/,
    isInfo: true,
    tell: ([, words]) => `the test was stopped before its end (${quote(withoutClass(words))})`
  }
]

/** JMeter's engine, of the test's start and of its end, which a script that ends JMeter leaves out. Both are of one level. */
const STARTED = /\bStandardJMeterEngine: Running the test!/
const ENDED = /\bStandardJMeterEngine: Notifying test listeners of end of test/

const INFO_RULES = RULES.filter(({ isInfo }) => isInfo)

/** Messages for JMeter's user are logged a second time; a failed include is reported by its warning. */
const TOLD_TWICE = /(?:JMeterUtils|IncludeController): /

/** By JMeter itself, and not by a script of the plan. */
function isOwn({ text }: LogEntry): boolean {
  return OWN_LOGGER.test(text) && !SCRIPT_LOGGER.test(text)
}

function isError({ level }: LogEntry): boolean {
  return level === 'ERROR' || level === 'FATAL'
}

/** Goes through JMeter's log and keeps what shows lost load. Equal sentences are counted. */
export class LossFinder {
  readonly #losses = new Map<string, number>()
  readonly #notes = new Map<string, number>()
  readonly #errorActions: ErrorActions
  #isEnded: boolean | undefined

  constructor(private readonly place: PlanPlace) {
    this.#errorActions = new ErrorActions(place.stops ?? new Set())
  }

  push(entry: LogEntry): void {
    if (STARTED.test(entry.text) && isOwn(entry)) this.#isEnded = false
    if (ENDED.test(entry.text) && isOwn(entry)) this.#isEnded = true
    const loss = this.#lossIn(entry)
    if (loss !== undefined) add(this.#losses, `JMeter: ${loss}`)
    else if (isError(entry) && !TOLD_TWICE.test(entry.text)) add(this.#notes, noteOf(entry))
  }

  end(): LogFindings {
    // If something else was skipped, the groups may have been part of it.
    if (this.#losses.size > 1) this.#losses.delete(`JMeter: ${NO_GROUP}`)
    return { losses: tellAll(this.#losses), notes: tellAll(this.#notes), isEnded: this.#isEnded }
  }

  #lossIn(entry: LogEntry): string | undefined {
    if (!isOwn(entry)) return undefined
    const isInfo = !isError(entry) && entry.level !== 'WARN'
    const stopped = isInfo ? this.#errorActions.push(entry.text) : undefined
    if (stopped !== undefined) return stopped
    if (LISTENER.test(entry.text)) return lossInListener(entry, this.place)
    const all = `${entry.text}\n${entry.exception}\n${entry.rootCause}`
    for (const rule of isInfo ? INFO_RULES : RULES) {
      const match = rule.pattern.exec(all)
      if (match) return rule.tell(match, entry, this.place)
    }
    return undefined
  }
}

/** The only listener that matters is ours: on a full disk JMeter does not fail, it just stops writing samples. */
function lossInListener({ text }: LogEntry, { samplesFile }: PlanPlace): string | undefined {
  return text.includes(`Problem detected during use of ${samplesFile}`)
    ? 'could not write all of its samples; is the disk full?'
    : undefined
}

/**
 * "Action to be taken after a sampler error", of a thread group or a Result Status Action Handler: the load that a
 * thread or the test would have generated after a failed sample is lost. A script that stops the test without an error
 * does so on purpose.
 */
class ErrorActions {
  readonly #stoppingGroups = new Set<string>()
  #startingGroup = ''

  constructor(private readonly stops: ReadonlySet<string>) {}

  push(text: string): string | undefined {
    this.#startingGroup = / Starting \d+ threads for group (.*)\.$/.exec(text)?.[1] ?? this.#startingGroup
    if (/: (?:Test|Thread) will stop (?:abruptly )?on error$/.test(text))
      this.#stoppingGroups.add(this.#startingGroup)
    const [, what, group = ''] =
      /JMeterThread: (Shutdown Test|Stop Test Now|Stop Thread) detected by thread: (.*?)(?: \d+-\d+)?$/.exec(
        text
      ) ?? []
    if (what === undefined) return undefined
    const isOfGroup = this.#stoppingGroups.has(group)
    if (!isOfGroup && !this.stops.has(what)) return undefined
    if (what === 'Stop Thread') return `a thread of ${group} stopped after a failed sample, as the plan says`
    const who = isOfGroup ? `the thread group ${group}` : 'a Result Status Action Handler of the plan'
    return `the whole test stopped after a failed sample, as ${who} says`
  }
}

function tellMissingFile(
  [, path = '']: RegExpExecArray,
  _entry: LogEntry,
  place: PlanPlace
): string | undefined {
  // Java reports a missing web page as a missing file too.
  if (path.includes('://')) return undefined
  const inFolder = isAbsolute(path) ? relative(place.folder, path) : path
  const name = inFolder.startsWith('..') ? path : inFolder
  const base = basename(name)
  if (place.files.has(base)) {
    return `could not read ${name}; ${base} was uploaded next to the plan, without its folder: refer to it as ${base} in the plan`
  }
  return `could not read ${name}; is it listed under files?`
}

/** The innermost message is the most useful one. */
function reasonOf({ exception, rootCause }: LogEntry): string {
  return withoutClass(rootCause || exception)
}

function withoutClass(words = ''): string {
  return words.replace(/^(?:[\w.$]+(?:Exception|Error): )+(?=.)/, '')
}

function quote(words = ''): string {
  const line = words.replace(/\s+/g, ' ').trim()
  if (line === '') return 'no reason given'
  return `"${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}"`
}

function noteOf({ level, text, exception }: LogEntry): string {
  return `${level} ${text} ${exception}`.trim().slice(0, 500)
}

/** Words with numbers in them may be as many as there are samples. */
function add(counts: Map<string, number>, sentence: string): void {
  const known = counts.get(sentence)
  if (known !== undefined || counts.size < MAX_DISTINCT) counts.set(sentence, (known ?? 0) + 1)
}

function tellAll(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([sentence, count]) => (count === 1 ? sentence : `${sentence} (${count} times)`))
}
