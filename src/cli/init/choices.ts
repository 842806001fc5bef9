import { readRate, type Load, type Rate } from '../plans/write-plan.js'
import { SourceError } from '../plans/request.js'
import { readUrls } from '../plans/url-requests.js'
import { parseChoice, parseDurationSeconds, parseInteger } from '../../contract/setting-values.js'
import type { Parsed } from '../../contract/setting-values.js'
import { UsageError, valueOf, type Arguments } from '../arguments.js'
import { parseThresholds } from '../../analysis/thresholds/grammar/grammar.js'
import type { Asker, Question } from './asker.js'

export type Source =
  | { readonly kind: 'url'; readonly addresses: readonly string[] }
  | { readonly kind: 'openapi' | 'har'; readonly path: string }

/** The tools that a plan can be written for. */
export type InitTool = (typeof INIT_TOOLS)[number]
const INIT_TOOLS = ['jmeter', 'k6'] as const

export interface Choices {
  readonly tool: InitTool
  readonly source: Source
  readonly load: Load
  readonly durationSeconds: number
  readonly rampupSeconds: number
  readonly thresholds: readonly string[]
}

const DEFAULT_ADDRESS = 'http://localhost:8080/'
const DEFAULT_THRESHOLDS = 'error_rate < 1%, p95 < 800ms'
const MOST_THREADS = 1000
const MOST_SECONDS = 24 * 60 * 60

/** The flags, and what the help says about them. */
export const CHOICES = {
  'tool <tool>': 'The tool that the plan is for: jmeter, or k6, whose plan is a script. Default: jmeter.',
  'from-url <url>…': `Make the plan from an address: one GET request. Give it several times for several pages. Default: ${DEFAULT_ADDRESS}.`,
  'from-openapi <file>':
    'Make the plan from an OpenAPI 3 or Swagger 2 file, YAML or JSON: one request per operation, after the login if it has one.',
  'from-har <file>':
    'Make the plan from a recording of a browser: the requests to its main host, in order, without static files, cookies and secrets. Tokens, CSRF fields and ids that a reply contains and a later request sends are taken from the reply.',
  'target <url>':
    'With --from-openapi or --from-har: address of the application. Default: what the file says.',
  'all-methods':
    'With --from-openapi or --from-har: also enable requests that may change data. Default: GET, HEAD and a login only; the others are in the plan, disabled.',
  'think-times': 'With --from-har: wait between requests as in the recording.',
  'threads <number>': 'Number of users at the same time. Default: 5.',
  'rate <rate>':
    'Instead of --threads: users arrive at this rate, such as 20/s or 90/min, whether others are waiting or not (an open model).',
  'duration <duration>': 'How long the load lasts. Default: 60s.',
  'rampup <duration>': 'Time in which the users start. Default: a tenth of the duration, at most 30s.',
  'thresholds <threshold>…': `What must hold; can be given several times. Default: ${DEFAULT_THRESHOLDS}.`
}

const SOURCE_FLAGS = { 'from-url': 'url', 'from-openapi': 'openapi', 'from-har': 'har' } as const
/** Which sources a flag is for. */
const ONLY_WITH = {
  target: ['openapi', 'har'],
  'all-methods': ['openapi', 'har'],
  'think-times': ['har']
} as const

/** There is no question for it: which files are written depends on it. */
export function readTool(args: Arguments): InitTool {
  return valueOf(args, 'tool', (text) => parseChoice(text, INIT_TOOLS)) ?? 'jmeter'
}

/** From flags; what they leave open is asked, or has a default. The source is tried before the other questions. */
export async function readChoices(
  args: Arguments,
  ask: Asker,
  trySource: (source: Source) => Promise<void>
): Promise<Choices> {
  const source = readSource(args) ?? (await askSource(ask))
  checkSourceFlags(args, source)
  await trySource(source)
  const load = await chooseLoad(args, ask)
  const durationSeconds = await choose(args, ask, {
    flag: 'duration',
    question: 'For how long?',
    fallback: '60s',
    parse: (text) => parseLength(text, 1)
  })
  const rampupSeconds =
    valueOf(args, 'rampup', (text) => parseLength(text, 0)) ?? Math.min(Math.ceil(durationSeconds / 10), 30)
  if (load.kind === 'open' && rampupSeconds > durationSeconds)
    throw new UsageError('--rampup is longer than the duration, in which users arrive at --rate')
  const thresholds = await choose(args, ask, {
    flag: 'thresholds',
    question: 'What must hold? Separate thresholds with commas.',
    fallback: DEFAULT_THRESHOLDS,
    parse: readThresholds
  })
  return { tool: readTool(args), source, load, durationSeconds, rampupSeconds, thresholds }
}

/** Only a flag chooses users who arrive at a rate. */
async function chooseLoad(args: Arguments, ask: Asker): Promise<Load> {
  const rate = valueOf(args, 'rate', parseRate)
  if (rate !== undefined && args.has('threads'))
    throw new UsageError('--rate and --threads are two ways to say how much load there is; give one of them')
  if (rate !== undefined) return { kind: 'open', rate }
  const threads = await choose(args, ask, {
    flag: 'threads',
    question: 'How many users at the same time?',
    fallback: '5',
    parse: (text) => parseInteger(text, { least: 1, most: MOST_THREADS })
  })
  return { kind: 'closed', threads }
}

function parseRate(text: string): Parsed<Rate> {
  const value = readRate(text)
  return value === undefined
    ? { ok: false, accepted: 'a rate such as 20/s, 90/min or 500/h, at most 10000/s' }
    : { ok: true, value }
}

/** Longer ones are typing errors; and the config file takes numbers of up to seven digits. */
function parseLength(text: string, least: number): Parsed<number> {
  const parsed = parseDurationSeconds(text, least)
  return parsed.ok && parsed.value > MOST_SECONDS ? { ok: false, accepted: 'at most 24h' } : parsed
}

async function choose<T>(
  args: Arguments,
  ask: Asker,
  { flag, ...choice }: Question<T> & { flag: string }
): Promise<T> {
  return valueOf(args, flag, choice.parse) ?? ask(choice)
}

function readSource(args: Arguments): Source | undefined {
  const [first, second] = Object.entries(SOURCE_FLAGS).filter(([flag]) => args.has(flag))
  if (first === undefined) return undefined
  if (second !== undefined)
    throw new UsageError(`--${first[0]} and --${second[0]} are two ways to make the plan; give one of them`)
  const [flag, kind] = first
  const text = args.text(flag)
  return kind === 'url' ? { kind, addresses: text.split('\n') } : { kind, path: text }
}

function checkSourceFlags(args: Arguments, { kind }: Source): void {
  for (const [flag, kinds] of Object.entries(ONLY_WITH)) {
    if (!args.has(flag) || (kinds as readonly string[]).includes(kind)) continue
    const ways = kinds.map((one) => `--from-${one}`).join(' or ')
    throw new UsageError(`--${flag} only works with ${ways}`)
  }
}

async function askSource(ask: Asker): Promise<Source> {
  const kind = await ask({
    question: 'Make the plan from an address (url), an OpenAPI file (openapi) or a recording (har)?',
    fallback: 'url',
    parse: (text) => parseChoice(text.toLowerCase(), ['url', 'openapi', 'har'])
  })
  if (kind === 'url') {
    const addresses = await ask({
      question: 'Address of the application?',
      fallback: DEFAULT_ADDRESS,
      parse: readAddresses
    })
    return { kind, addresses }
  }
  const path = await ask({
    question: `Path of the ${kind === 'har' ? 'HAR' : 'OpenAPI'} file?`,
    fallback: '',
    parse: (text) => (text === '' ? { ok: false, accepted: 'a path' } : { ok: true, value: text })
  })
  return { kind, path }
}

function readAddresses(text: string): Parsed<readonly string[]> {
  const addresses = text.split(/[\s,]+/)
  try {
    readUrls(addresses)
    return { ok: true, value: addresses }
  } catch (thrown) {
    if (!(thrown instanceof SourceError)) throw thrown
    return { ok: false, accepted: `an address such as ${DEFAULT_ADDRESS} (${thrown.message})` }
  }
}

/** Thresholds on lines of their own, or separated by commas; commas within braces belong to a selector. */
function readThresholds(text: string): Parsed<readonly string[]> {
  const lines = text
    .split(/\n|,(?![^{]*\})/)
    .map((line) => line.trim())
    .filter((line) => line !== '')
  const { problems } = parseThresholds(lines.join('\n'))
  if (lines.length > 0 && problems.length === 0) return { ok: true, value: lines }
  const why = problems.length === 0 ? '' : ` (${problems.join('; ')})`
  return { ok: false, accepted: `one or more thresholds such as error_rate < 1%, p95 < 800ms${why}` }
}
