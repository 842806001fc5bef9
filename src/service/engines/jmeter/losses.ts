import { basename, isAbsolute, relative } from 'node:path'
import { GET_PLUGIN } from '../../../analysis/plans/check/request.js'
import { readLogLines } from '../engine.js'

/** Where the plan ran, to identify its files. */
interface PlanPlace {
  readonly folder: string
  readonly files: ReadonlySet<string>
  readonly samplesFile: string
  /** What the Result Status Action Handlers of the plan can ask for, in the words of JMeter's log. */
  readonly stops: ReadonlySet<string>
}

export type LogFindings = ReturnType<LossFinder['end']>

/** A class of a plugin that this JMeter does not have: it does not load the plan. */
export const MISSING_CLASS = /CannotResolveClassException: ([\w.$-]+)/

const ERROR_LEVELS = ['ERROR', 'FATAL']
const MAX_DISTINCT = 20
const MAX_QUOTE = 300

/** Listeners generate no load: whatever fails in them, the samples are the same. */
const LISTENER = /^(?:o\.a\.j|org\.apache\.jmeter)\.(?:r|v|reporters|visualizers)\.\S*:/

/** Loggers of JMeter and of the common plugin sets, full or abbreviated; some layouts have the thread first. */
const OWN_LOGGER =
  /^(?:\[[^\]]*\]\s+)?(?:o\.a\.j|org\.apache\.(?:jmeter|jorphan)|k\.a\.j|kg\.apc|c\.b\.j|com\.blazemeter)\./

/** Loggers of a plan's scripts, which may log anything. That of a JSR223 script has the class, perhaps abbreviated, and the script's name. */
const SCRIPT_LOGGER =
  /^(?:\[[^\]]*\]\s+)?[\w.]+\.(?:(?:J|JSR223\w*)\.|(?:BeanShellTestElement|LogFunction2?|(?:Groovy|BeanShell|JavaScript|Jexl\d?Function)): (?!Error running (?:groovy|BSH) script$|Error processing Javascript: |An error occurred while evaluating ))/

/** Messages for JMeter's user are logged a second time; a failed include is reported by its warning. */
const TOLD_TWICE = /(?:JMeterUtils|IncludeController): /

/** The sentence about a file, whose path is the first group. */
const MISSING_FILE = 'missing file'

/**
 * What JMeter logs as an error when it skips part of the plan and still exits with code 0, and neither samples nor plan show. A pattern
 * is matched against the entry's text, its exception and its root cause, one per line; the first one counts. In a sentence, `$1` is a
 * group, `{1}` a group as a quote, `{exception}` the exception, and `{reason}` its innermost message. Anything else is not a loss:
 * errors of assertions, extractors, scripts and requests are in the samples, where the thresholds judge them.
 */
const ERRORS: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  // Out of heap: the thread dies, whatever it was doing, and others may follow.
  [/^(java\.lang\.OutOfMemoryError.*)/m, 'ran out of memory ({1}); give it more, for example HEAP=-Xmx2g'],
  // A data set that fails stops its thread, and all of its requests, before the first one.
  [/^(?:[\w.$]+(?:Exception|Error): )+File (.+?) must exist and be readable/m, MISSING_FILE],
  // The functions FileToString, CSVRead and StringFromFile: requests are sent without their data.
  [/FileToString: Could not read open: (.+)/, MISSING_FILE],
  [/\.(?:f|functions)\.\w+: .*NoSuchFileException: (.+)/, MISSING_FILE],
  // The included part is skipped; each attempt logs three entries, of which one counts.
  [
    /IncludeController: Including file "(.+?)" failed [^]*(?:failed for: |NoSuchFile|FileNotFound|file not found)/,
    MISSING_FILE
  ],
  [/IncludeController: Including file "(.+?)" failed /, 'could not include $1 ({reason})'],
  // A missing script does not run: a sampler fails, a pre-processor leaves its request unchanged.
  [/Script file '(.+?)' is not a file/, MISSING_FILE],
  [/BeanShellInterpreter: Error invoking bsh method: source\s+(.+?) \(No such file/, MISSING_FILE],
  // Any other file that was to be read. Only the exception's own message counts: the entry may quote a server's response.
  [
    /^(?:[\w.$]+(?:Exception|Error): )*java\.(?:nio\.file\.NoSuchFile|io\.FileNotFound)Exception: (.+?)(?: \([A-Z][^()]*\))?$/m,
    MISSING_FILE
  ],
  // A data set that cannot be read for another reason, such as its encoding, supplies nothing.
  [/CSVDataSet: (\S*Exception.*)/, 'could not read a data set ({1})'],
  // An invalid condition counts as false, so its branch is skipped; other requests are sent without their data.
  [
    /^\S*\bIfController: (.*?): error while processing \[(.*?)\]?$/m,
    'could not evaluate the condition of $1 ({2})'
  ],
  [
    /^\S*\bJexl\d?Function: An error occurred while evaluating the expression "(.*?)"?$/m,
    'could not evaluate an expression ({1})'
  ],
  [/^\S*\bJavaScript: Error processing Javascript: \[(.*?)\]?$/m, 'could not evaluate an expression ({1})'],
  [/^\S*\bGroovy: Error running groovy script$/m, 'could not evaluate an expression of __groovy ({reason})'],
  [
    /^\S*\bBeanShell: Error running BSH script$/m,
    'could not evaluate an expression of __BeanShell ({reason})'
  ],
  // A class that the plan names and JMeter lacks: its sampler only fails.
  [
    /Sampler: .*\n(?:.*\n)?java\.lang\.(?:ClassNotFoundException|NoClassDefFoundError): ([\w.$/]+)/,
    `the plan uses $1, which this JMeter does not have; ${GET_PLUGIN}`
  ],
  // A thread that ends with an error sends no more requests; threads started by the plan itself are not users.
  [/JMeterThread: Test failed!/, 'a thread ended with an error ({reason})'],
  [
    /Uncaught exception in thread Thread\[(?:.* \d+-\d+|StandardJMeterEngine.*|.*ThreadStarter.*?),\d+,/,
    'a thread ended with an error ({exception})'
  ],
  [
    /JMeterThread: Error while processing sampler: '(.*)'/,
    'a request of $1 was not sent, or not recorded ({reason})'
  ],
  [
    /JMeterThread: Error while processing sampler/,
    'a request of a sampler was not sent, or not recorded ({reason})'
  ],
  // The plan was not started, or not completely.
  [
    /StandardJMeterEngine: (?:Error occurred compiling the tree|Unable to execute testStarted)/,
    'could not start the plan ({reason})'
  ],
  [
    /Error occurred starting thread group :\s*(.*?)\s*, error message:(.*)/,
    'could not start the thread group $1 ({2})'
  ]
]

/** An exception that ends the test, which JMeter logs as info; a regular end has none. */
const STOPPED =
  /JMeterThread: Stopping Test(?: Now| with interruption of current samplers)?: (?:[\w.$]+(?:Exception|Error): )*(.+)/
const STARTED = /\bStandardJMeterEngine: Running the test!/
const ENDED = /\bStandardJMeterEngine: Notifying test listeners of end of test/
/** What JMeter says of each thread group that it starts: its values are known by then. */
const GROUP_STARTED = /\bStandardJMeterEngine: Starting \d+ threads for group (.*?)\.?$/
const GROUP_STOPS = /\bStandardJMeterEngine: (?:Test|Thread) will stop (?:abruptly )?on error$/
const STOP_DETECTED =
  /JMeterThread: (Shutdown Test|Stop Test Now|Stop Thread) detected by thread: (.*?)(?: \d+-\d+)?$/

/** Goes through JMeter's log and keeps what shows lost load. Equal sentences are counted. */
export class LossFinder {
  /** Load that was not generated, in sentences. */
  readonly #losses = new Map<string, number>()
  /** Other errors in the log: they concern samples or listeners, and no load was lost. */
  readonly #notes = new Map<string, number>()
  /** The root cause of the last exception that has one: some errors have no message but that of their cause. */
  #cause: string | undefined
  #missingClass: string | undefined
  /** Whether the test ended, by JMeter's own words; undefined where the log leaves such words out. */
  #isEnded: boolean | undefined
  #startedGroup = ''
  /** Thread groups that stop their thread or the test after a failed sample, by name. */
  readonly #stoppingGroups = new Set<string>()

  constructor(private readonly place: PlanPlace) {}

  push(entry: LogEntry): void {
    const { level, text, exception, rootCause } = entry
    this.#cause = rootCause || this.#cause
    this.#missingClass = MISSING_CLASS.exec(`${text}\n${exception}\n${rootCause}`)?.[1] ?? this.#missingClass
    // By JMeter itself, and not by a script of the plan.
    const isOwn = OWN_LOGGER.test(text) && !SCRIPT_LOGGER.test(text)
    if (isOwn && STARTED.test(text)) this.#isEnded = false
    if (isOwn && ENDED.test(text)) this.#isEnded = true
    const loss = isOwn ? this.#lossIn(entry) : undefined
    if (loss !== undefined) add(this.#losses, `JMeter: ${loss}`)
    else if (ERROR_LEVELS.includes(level) && !TOLD_TWICE.test(text))
      add(this.#notes, `${level} ${text} ${exception}`.trim().slice(0, 500))
  }

  end() {
    return {
      ...{ losses: tellAll(this.#losses), notes: tellAll(this.#notes) },
      ...{ cause: this.#cause, missingClass: this.#missingClass, isEnded: this.#isEnded }
    }
  }

  #lossIn(entry: LogEntry): string | undefined {
    const { level, text, exception, rootCause } = entry
    if (![...ERROR_LEVELS, 'WARN'].includes(level)) return this.#stopIn(text)
    // The only listener that matters is ours: on a full disk JMeter does not fail, it just stops writing samples.
    if (LISTENER.test(text))
      return text.includes(`Problem detected during use of ${this.place.samplesFile}`)
        ? 'could not write all of its samples; is the disk full?'
        : undefined
    const all = `${text}\n${exception}\n${rootCause}`
    for (const [pattern, sentence] of ERRORS) {
      const match = pattern.exec(all)
      if (match && sentence === MISSING_FILE) return tellMissingFile(match[1] ?? '', this.place)
      if (match) return fillIn(sentence, match, entry)
    }
    return undefined
  }

  /** "Action to be taken after a sampler error": the load after it is lost. A script that stops the test without an error means to. */
  #stopIn(text: string): string | undefined {
    const words = STOPPED.exec(text)?.[1]
    if (words !== undefined) return `the test was stopped before its end (${quote(words)})`
    this.#startedGroup = GROUP_STARTED.exec(text)?.[1] ?? this.#startedGroup
    if (GROUP_STOPS.test(text)) this.#stoppingGroups.add(this.#startedGroup)
    const [, what, group = ''] = STOP_DETECTED.exec(text) ?? []
    const isOfGroup = this.#stoppingGroups.has(group)
    if (what === undefined || (!isOfGroup && !this.place.stops.has(what))) return undefined
    if (what === 'Stop Thread') return `a thread of ${group} stopped after a failed sample, as the plan says`
    const who = isOfGroup ? `the thread group ${group}` : 'a Result Status Action Handler of the plan'
    return `the whole test stopped after a failed sample, as ${who} says`
  }
}

function fillIn(sentence: string, match: RegExpExecArray, { exception, rootCause }: LogEntry): string {
  return sentence.replace(/\$(\d)|\{(\d|reason|exception)\}/g, (_, plain?: string, quoted?: string) => {
    if (plain !== undefined) return match[Number(plain)] ?? ''
    if (quoted === 'exception') return quote(exception)
    if (quoted !== 'reason') return quote(match[Number(quoted)])
    // The innermost message is the most useful one. Groovy numbers the scripts that it compiles.
    const reason = (rootCause || exception).replace(/^(?:[\w.$]+(?:Exception|Error): )+(?=.)/, '')
    return quote(reason.replace(/\bScript\d+$/, 'Script'))
  })
}

function tellMissingFile(path: string, place: PlanPlace): string | undefined {
  // Java reports a missing web page as a missing file too.
  if (path.includes('://')) return undefined
  const inFolder = isAbsolute(path) ? relative(place.folder, path) : path
  const name = inFolder.startsWith('..') ? path : inFolder
  const base = basename(name)
  return place.files.has(base)
    ? `could not read ${name}; ${base} was uploaded next to the plan, without its folder: refer to it as ${base} in the plan`
    : `could not read ${name}; is it listed under files?`
}

function quote(words = ''): string {
  const line = words.replace(/\s+/g, ' ').trim()
  if (line === '') return 'no reason given'
  return `"${line.length > MAX_QUOTE ? `${line.slice(0, MAX_QUOTE)}…` : line}"`
}

/** Messages with numbers in them may be as many as there are samples. */
function add(counts: Map<string, number>, sentence: string): void {
  const known = counts.get(sentence)
  if (known !== undefined || counts.size < MAX_DISTINCT) counts.set(sentence, (known ?? 0) + 1)
}

function tellAll(counts: ReadonlyMap<string, number>): string[] {
  return [...counts].map(([sentence, count]) => (count === 1 ? sentence : `${sentence} (${count} times)`))
}

/** An entry of JMeter's log, with the first and the last message of the exception below it. */
export interface LogEntry {
  readonly level: string
  /** Logger and message, as in `o.a.j.t.JMeterThread: Test failed!`. */
  readonly text: string
  /** Empty if the entry has no exception. */
  readonly exception: string
  /** The root cause of the exception; empty if there is none. */
  readonly rootCause: string
}

const MAX_TEXT = 1000
/** By default time, level, logger and message; other layouts have the level near the start of the line too. */
const ENTRY = /^(?:[\d[].{0,80}?\b)?(FATAL|ERROR|WARN|INFO|DEBUG|TRACE)\b[\]\s:|-]*(.*)$/
/** JMeter's default layout. */
const TIME = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d,\d{3} /
const CAUSED_BY = 'Caused by: '

/** Reads a log of any size entry by entry, as far as time allows: its start matters as much as its end. */
export async function readLogEntries(file: string, onEntry: (entry: LogEntry) => void, signal?: AbortSignal) {
  const entries = new EntryReader(onEntry)
  await readLogLines(file, (line) => entries.push(line), signal)
  entries.end()
}

class EntryReader {
  #entry: { level: string; text: string; exception: string; rootCause: string } | undefined

  /** Whether entries start with a time, judged by the first one: then a message's further lines are not entries. */
  #hasTimes: boolean | undefined

  constructor(private readonly onEntry: (entry: LogEntry) => void) {}

  push(line: string): void {
    const [, level, text] = ENTRY.exec(line) ?? []
    if (level !== undefined && text !== undefined && (!this.#hasTimes || TIME.test(line))) {
      this.#hasTimes ??= TIME.test(line)
      this.end()
      this.#entry = { level, text: text.slice(0, MAX_TEXT).trim(), exception: '', rootCause: '' }
    } else if (this.#entry !== undefined && !line.startsWith('\tat ')) {
      const words = line.slice(0, MAX_TEXT).trim()
      if (words.startsWith(CAUSED_BY)) this.#entry.rootCause = words.slice(CAUSED_BY.length)
      else this.#entry.exception ||= words
    }
  }

  end(): void {
    if (this.#entry !== undefined) this.onEntry(this.#entry)
    this.#entry = undefined
  }
}
