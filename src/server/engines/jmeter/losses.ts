import { basename, isAbsolute, relative } from 'node:path'
import type { LogEntry } from './log.js'

/** Where the plan ran, to say which of its files are meant. */
export interface PlanPlace {
  /** The folder of the plan. */
  readonly folder: string
  /** The names of the files that were uploaded. */
  readonly files: ReadonlySet<string>
  readonly samplesFile: string
  /** The words in JMeter's log for each end that a Result Status Action Handler of the plan asks for. */
  readonly stops?: ReadonlySet<string>
}

/** What a Result Status Action Handler's number asks for; the other numbers go on in some way. */
const STOPS = new Map([
  ['1', 'Stop Thread'],
  ['2', 'Shutdown Test'],
  ['3', 'Stop Test Now']
])

/** How the Result Status Action Handlers of a plan end a thread or the test after a failed sample. */
export function readStops(plan: string): string[] {
  const handlers = plan.matchAll(/<ResultAction\b([^>]*)>([^]*?)<\/ResultAction>/g)
  return [...handlers].flatMap(([, attributes = '', content = '']) => {
    if (/\benabled="false"/.test(attributes)) return []
    const action = /name="OnError\.action">\s*([^<]*?)\s*</.exec(content)?.[1] ?? ''
    // What a property or a variable will say is not known here.
    return [...STOPS].filter(([number]) => number === action || action.includes('${')).map(([, stop]) => stop)
  })
}

export interface LogFindings {
  /** Load that was not made, a sentence each. */
  readonly losses: readonly string[]
  /** Other errors, as the log has them: they belong to samples or listeners, and no load was lost by them. */
  readonly notes: readonly string[]
  /** Whether the test came to its end, by JMeter's own words; undefined where the log leaves such words out. */
  readonly isEnded: boolean | undefined
}

interface Rule {
  /** Looks at the entry's text, its exception and its root cause, a line each. */
  readonly pattern: RegExp
  /** True where JMeter tells it in passing. */
  readonly isInfo?: boolean
  tell(match: RegExpExecArray, entry: LogEntry, place: PlanPlace): string | undefined
}

const MAX_DISTINCT = 20
const MAX_QUOTE = 300
const NO_GROUP = 'the plan has no thread group that is switched on'
const PLUGIN_ADVICE = 'install the plugin into a JMeter of your own and let JMETER_HOME point to it'

/** Listeners make no load: whatever fails in them, the samples are the same. */
const LISTENER = /^(?:o\.a\.j|org\.apache\.jmeter)\.(?:r|v|reporters|visualizers)\.\S*:/

/** Loggers of JMeter and of the common sets of plugins, in whole or shortened; some layouts have the thread first. */
const OWN_LOGGER =
  /^(?:\[[^\]]*\]\s+)?(?:o\.a\.j|org\.apache\.(?:jmeter|jorphan)|k\.a\.j|kg\.apc|c\.b\.j|com\.blazemeter)\./

/**
 * Loggers that a plan's scripts are given. What they say is the plan's affair: it may be about a file that can be
 * missing, or quote a server. A JSR223 script's logger has the class, which may be shortened, and then its own name.
 */
const SCRIPT_LOGGER =
  /^(?:\[[^\]]*\]\s+)?[\w.]+\.(?:(?:J|JSR223\w*)\.|(?:BeanShellTestElement|LogFunction2?|(?:Groovy|BeanShell|JavaScript|Jexl\d?Function)): (?!Error running (?:groovy|BSH) script$|Error processing Javascript: |An error occurred while evaluating ))/

/**
 * What JMeter logs, as an error or in passing, when it leaves out part of the plan and still ends with exit code 0.
 * The first rule that matches tells. What is not here is no loss: errors of assertions, extractors, scripts and
 * requests are in the samples, where the thresholds judge them.
 */
const RULES: readonly Rule[] = [
  // The heap is full: the thread dies, whatever it was about to do, and others may follow.
  {
    pattern: /^java\.lang\.OutOfMemoryError.*/m,
    tell: ([words]) => `ran out of memory (${quote(words)}); give it more, such as HEAP=-Xmx2g`
  },
  // A data set stops its thread, and with it all its requests, before the first one.
  {
    pattern: /^(?:[\w.$]+(?:Exception|Error): )+File (.+?) must exist and be readable/m,
    tell: tellMissingFile
  },
  // The functions FileToString, CSVRead and StringFromFile: requests go out without the data they were to have.
  { pattern: /FileToString: Could not read open: (.+)/, tell: tellMissingFile },
  {
    pattern: /\.(?:f|functions)\.\w+: .*NoSuchFileException: (.+)/,
    tell: tellMissingFile
  },
  // What an include brings is left out; each look at it logs three entries, of which one is counted.
  {
    pattern: /IncludeController: Including file "(.+?)" failed .*, ([^,]+)$/m,
    tell: (match, entry, place) =>
      /failed for: |NoSuchFile|FileNotFound|file not found/.test(`${entry.exception} ${match[2] ?? ''}`)
        ? tellMissingFile(match, entry, place)
        : `could not include ${match[1] ?? ''} (${quote(reasonOf(entry) || match[2])})`
  },
  // A script that is not there does not run: a sampler fails, a pre-processor leaves its request as it was.
  { pattern: /Script file '(.+?)' is not a file/, tell: tellMissingFile },
  {
    pattern: /BeanShellInterpreter: Error invoking bsh method: source\s+(.+?) \(No such file/,
    tell: tellMissingFile
  },
  // Any other file that a script or an element wanted to read. Only the exception's own words count: a message may
  // quote what a server answered.
  {
    pattern:
      /^(?:[\w.$]+(?:Exception|Error): )*java\.(?:nio\.file\.NoSuchFile|io\.FileNotFound)Exception: (.+?)(?: \([A-Z][^()]*\))?$/m,
    tell: tellMissingFile
  },
  // A data set that cannot be read for another reason, such as its encoding, hands out nothing.
  {
    pattern: /CSVDataSet: \S*Exception/,
    tell: (_match, entry) => `could not read a data set (${quote(entry.text.replace(/^\S+: /, ''))})`
  },
  // A condition that is none counts as false, whatever it was to lead to; other requests go out without their data.
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
  // A class that the plan names and nobody has: its sampler does nothing but fail.
  {
    pattern: /Sampler: .*\n(?:.*\n)?java\.lang\.(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]+)/,
    tell: ([, name = '']) =>
      `the plan uses ${name.replaceAll('/', '.')}, which this JMeter does not have; ${PLUGIN_ADVICE}`
  },
  // A thread that ends by an error makes no more requests.
  {
    pattern: /JMeterThread: Test failed!/,
    tell: (_match, entry) => `a thread ended with an error (${quote(reasonOf(entry))})`
  },
  // The same for errors that JMeter does not expect; threads that a plan started itself are no users.
  {
    pattern:
      /Uncaught exception in thread Thread\[(?:.* \d+-\d+|StandardJMeterEngine.*|.*ThreadStarter.*?),\d+,/,
    tell: (_match, entry) => `a thread ended with an error (${quote(entry.exception)})`
  },
  // The request was not sent, or it has no row.
  {
    pattern: /JMeterThread: Error while processing sampler(?:: '(.*)')?/,
    tell: ([, name], entry) =>
      `a request of ${name ?? 'a sampler'} was not made, or not recorded (${quote(reasonOf(entry))})`
  },
  // Nothing or not everything of the plan is started.
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
  // An exception that asks for the end of the test; a plan's regular end has none.
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

/** What JMeter tells its user is in the log once more; an include that fails is told by its warning. */
const TOLD_TWICE = /(?:JMeterUtils|IncludeController): /

/** By JMeter itself, and not by a script of the plan. */
function isOwn({ text }: LogEntry): boolean {
  return OWN_LOGGER.test(text) && !SCRIPT_LOGGER.test(text)
}

function isError({ level }: LogEntry): boolean {
  return level === 'ERROR' || level === 'FATAL'
}

/** Goes through JMeter's log and keeps what tells of load that was not made. Equal sentences are one with a count. */
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
    // Where something else was left out, the groups may have been in it.
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

/** The one listener that counts is ours: JMeter never fails on a full disk, it only stops writing samples. */
function lossInListener({ text }: LogEntry, { samplesFile }: PlanPlace): string | undefined {
  return text.includes(`Problem detected during use of ${samplesFile}`)
    ? 'could not write all of its samples; is the disk full?'
    : undefined
}

/**
 * "Action to be taken after a sampler error", of a thread group or of a Result Status Action Handler: the load that a thread or the test would have made after a failed
 * sample is not made. A script that asks for the same end without an error is the plan's own way to end.
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
  // Java calls a page that is not there a file too.
  if (path.includes('://')) return undefined
  const inFolder = isAbsolute(path) ? relative(place.folder, path) : path
  const name = inFolder.startsWith('..') ? path : inFolder
  const base = basename(name)
  if (place.files.has(base)) {
    return `could not read ${name}; ${base} was uploaded, and files lie beside the plan without folders, so name it ${base} in the plan`
  }
  return `could not read ${name}; is it listed under files?`
}

/** The innermost words are the ones that help. */
function reasonOf({ exception, rootCause }: LogEntry): string {
  return withoutClass(rootCause || exception)
}

function withoutClass(words = ''): string {
  return words.replace(/^(?:[\w.$]+(?:Exception|Error): )+(?=.)/, '')
}

function quote(words = ''): string {
  const line = words.replace(/\s+/g, ' ').trim()
  if (line === '') return 'it does not say why'
  return `"${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}"`
}

function noteOf({ level, text, exception }: LogEntry): string {
  return `${level} ${text} ${exception}`.trim().slice(0, 500)
}

/** Vocabulary with numbers in them may be as many as there are samples. */
function add(counts: Map<string, number>, sentence: string): void {
  const known = counts.get(sentence)
  if (known !== undefined || counts.size < MAX_DISTINCT) counts.set(sentence, (known ?? 0) + 1)
}

function tellAll(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([sentence, count]) => (count === 1 ? sentence : `${sentence} (${count} times)`))
}
