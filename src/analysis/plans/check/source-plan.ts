import { extname } from 'node:path'
import { checkBaselineParameters, hasJars } from './jmx-parameters.js'
import { hasWord, settingsOf, shorten, warning } from './request.js'
import type { Finding, PlanInputs, PlanRequest } from './request.js'
import {
  blankComments,
  checkMissingValues,
  JAVA_ENVIRONMENT,
  OWN_VARIABLES,
  type ValueReader
} from './source-values.js'

interface SourceTool {
  readonly extensions: readonly string[]
  readonly wanted: string
  /** The plan itself reads threads, rampup and duration; otherwise the tool starts that many users for so long. */
  readonly readsSettings: boolean
  /** A call that reads an uploaded file, its quote and the file. */
  readonly readsFile?: RegExp
  /** How it reads values. */
  readonly values: readonly ValueReader[]
  example(name: string): string
}

/** System properties of Java. */
const PROPERTIES: ValueReader = {
  calls:
    /\b(?:System\s*\.\s*getProperty|Integer\s*\.\s*getInteger|Long\s*\.\s*getLong)\(\s*"([^"\n]{1,200})"\s*\)|\bsys\.props\(\s*"([^"\n]{1,200})"\s*\)/g,
  missing: 'null',
  names: (name) => [name],
  fallback: (written) => `${written.replace('sys.props(', 'sys.props.getOrElse(').slice(0, -1)}, …)`
}

/** Variables of a script: the fields of an object. */
function fieldsOf(object: string): Pick<ValueReader, 'calls' | 'missing' | 'own' | 'fallback'> {
  const field = String.raw`(?:\.([A-Za-z_$][\w$]{0,200})|\[\s*(?:"([^"\n]{1,200})"|'([^'\n]{1,200})')\s*\])`
  return {
    calls: new RegExp(`\\b${object}${field}`, 'g'),
    missing: 'undefined or empty',
    own: OWN_VARIABLES,
    fallback: (written) => `${written} || '…'`
  }
}

const K6_VARIABLES: ValueReader = {
  ...fieldsOf('__ENV'),
  names: (name) => [name, variableOf(name)],
  give: (name) =>
    `Add -J${variableOf(name.toLowerCase()) === name ? name.toLowerCase() : name}=… to override-parameters`
}
const NODE_VARIABLES: ValueReader = { ...fieldsOf('process\\.env'), names: (name) => [name] }

const GATLING: SourceTool = {
  extensions: ['.java', '.scala', '.kt', '.jar'],
  wanted: 'a simulation as .java, .scala, .kt or .jar',
  readsSettings: true,
  values: [PROPERTIES, JAVA_ENVIRONMENT],
  example: (name) => `Integer.getInteger("${name}", 1)`
}
const SELENIUM: SourceTool = {
  extensions: ['.java'],
  wanted: 'a .java file with a main method or JUnit 5 tests',
  readsSettings: false,
  values: [PROPERTIES, JAVA_ENVIRONMENT],
  example: (name) => `System.getProperty("${name}")`
}
const CHROME: SourceTool = {
  extensions: ['.ts', '.js', '.mts', '.mjs', '.cts', '.cjs', '.tsx', '.jsx'],
  wanted: 'a script in TypeScript or JavaScript',
  readsSettings: false,
  values: [NODE_VARIABLES],
  example: (name) => `process.env.${name}`
}
const K6: SourceTool = {
  extensions: ['.js', '.ts', '.mjs', '.mts', '.cjs', '.cts', '.tar'],
  wanted: 'a script in JavaScript or TypeScript, or an archive of `k6 archive` (.tar)',
  readsSettings: false,
  values: [K6_VARIABLES],
  readsFile:
    /(?:(?<![.\w])open\(\s*(?=["'`])|\b(?:from|import)\s*(?=["']\.{1,2}\/))(["'`])([^"'`$#\n]{1,300})\1/g,
  example: (name) => `__ENV.${variableOf(name)}`
}
const TOOLS: Readonly<Record<string, SourceTool>> = {
  gatling: GATLING,
  'java-selenium-chrome': SELENIUM,
  'java-selenium-firefox': SELENIUM,
  'service-chrome': CHROME,
  k6: K6
}

/** Functions of Gatling and Element that read an uploaded file, and the file. */
const READS_FILE =
  /\b(?:csv|ssv|tsv|jsonFile|separatedValues|RawFileBody|ElFileBody|PebbleFileBody|fromCSV|fromJSON)\(\s*(["'`])([^"'`$#\n]{1,300})\1/g
/** A property whose name is put together, or all of them. */
const DYNAMIC =
  /\bget(?:Property|Integer|Long|Boolean|env|Properties)\s*\(\s*(?!["'])|\bsys\.props(?!\s*(?:\(|\.get\w*\()\s*")|\b(?:process\.env|__ENV)\s*(?:\[\s*(?!["'])|\))/
const LITERAL = /"((?:[^"\\\n]|\\.){1,200})"|'((?:[^'\\\n]|\\.){1,200})'|`((?:[^`\\$]|\\.){1,200})`/g

export function refuseKind(tool: string, name: string): string | undefined {
  const known = TOOLS[tool]
  if (known === undefined || known.extensions.includes(extname(name).toLowerCase())) return undefined
  const hint = /\.jmx$/i.test(name) ? '; set tool to jmeter for it' : ''
  return `tool ${tool} runs ${known.wanted}, not ${name}${hint}.`
}

/** What the source of a plan shows. In doubt it says nothing. */
export function checkSource(request: PlanRequest): Finding[] {
  const tool = TOOLS[request.tool]
  if (tool === undefined) return []
  const texts = sourcesOf(request)
  const isOpaque =
    isArchive(request.plan) || request.others.some(isUnread) || texts.some((text) => DYNAMIC.test(text))
  const reads = (name: string): boolean =>
    texts.some((text) =>
      tool.values.flatMap((reader) => reader.names(name)).some((word) => hasWord(text, word))
    )
  return [
    ...(isOpaque ? [] : checkSettings(tool, request, reads)),
    ...(isOpaque || request.tool !== 'k6' || !texts.some(hasScenarios) ? [] : checkScenarios(request)),
    ...(isOpaque ? [] : checkParameters(tool, request, reads)),
    ...checkBaselineParameters(request, {
      reads,
      // Libraries for settings put names with a dot together.
      isWhole: ({ name }) => !isOpaque && !hasJars(request) && !name.includes('.'),
      example: (name) => tool.example(name)
    }),
    ...tool.values.flatMap((reader) => checkValues(reader, request)),
    ...checkFiles(request, texts, tool.readsFile ?? READS_FILE)
  ]
}

function checkValues(reader: ValueReader, request: PlanRequest): Finding[] {
  const names = [...request.parameters.map(({ name }) => name), ...settingsOf(request).keys()]
  const given = new Set([...names.flatMap((name) => reader.names(name)), ...(request.given ?? [])])
  return checkMissingValues(reader, [request.plan, ...request.others], (name) => given.has(name))
}

/** The texts of strings in a source: what requests may be named after. */
export function literalsIn(text: string): string[] {
  return [...text.matchAll(LITERAL)].map(([, double, single, back]) => double ?? single ?? back ?? '')
}

/** The names of methods: a JUnit test is named after its own. */
export function callsIn(text: string): string[] {
  return [...text.matchAll(/\b([A-Za-z_]\w{0,100})\s*\(/g)].map(([, name = '']) => name)
}

export function sourcesOf({ plan, others }: Pick<PlanRequest, 'plan' | 'others'>): string[] {
  return [plan, ...others].flatMap(({ text }) => text ?? [])
}

/** What a script of k6 finds a value under: `__ENV.X_TENANT` for `-Jx-tenant=…`. */
export function variableOf(name: string): string {
  return name.toUpperCase().replace(/\W/g, '_')
}

function hasScenarios(text: string): boolean {
  return /\bscenarios\s*:/.test(blankComments(text))
}

/** If a script has scenarios of its own, these alone decide how many users there are, and for how long. */
export function checkScenarios(request: Pick<PlanRequest, 'plan' | keyof PlanInputs>): Finding[] {
  const texts = sourcesOf(request)
  return [...settingsOf(request)]
    .filter(([name]) => !texts.some((text) => hasWord(text, variableOf(name))))
    .map(([name, value]) =>
      warning(
        `${name} is ${value}, but ${request.plan.name} has scenarios of its own and does not read it; use ${K6.example(name)} in them, or remove ${name}.`
      )
    )
}

function isArchive({ name }: { name: string }): boolean {
  return /\.tar$/i.test(name)
}

/** Code that cannot be read here, or a file with variables of its own. */
function isUnread({ name, text }: { name: string; text: string | undefined }): boolean {
  return (
    text === undefined &&
    /\.(?:jar|tar|java|scala|kt|[cm]?[jt]sx?|conf|properties)$|^environment$/i.test(name)
  )
}

function checkSettings(tool: SourceTool, request: PlanRequest, reads: (name: string) => boolean): Finding[] {
  if (!tool.readsSettings) return []
  return [...settingsOf(request)]
    .filter(([name]) => !reads(name))
    .map(([name, value]) =>
      warning(
        `${name} is ${value}, but ${request.plan.name} does not read it; use ${tool.example(name)} in the simulation, or remove ${name}.`
      )
    )
}

function checkParameters(
  tool: SourceTool,
  request: PlanRequest,
  reads: (name: string) => boolean
): Finding[] {
  const flags = new Map(request.parameters.map(({ kind, name }) => [`-${kind}${name}`, name]))
  const ofBase = new Set(request.baselineParameters?.map(({ name }) => name))
  return [...flags]
    .filter(([, name]) => !ofBase.has(name) && !name.includes('.') && !reads(name))
    .map(([flag, name]) =>
      warning(
        `${flag} has no effect: ${request.plan.name} does not read ${tool.example(name)}. Is the name spelled as in the plan?`
      )
    )
}

function checkFiles(request: PlanRequest, texts: readonly string[], readsFile: RegExp): Finding[] {
  const names = [request.plan, ...request.others].map(({ name }) => name)
  const paths = texts
    .map(blankComments)
    .flatMap((text) => [...text.matchAll(readsFile)].map(([, , path = '']) => path))
  return [...new Set(paths)]
    .filter((path) => !/^(?:[a-z]+:|\/)/i.test(path) && !names.includes(path.split('/').at(-1) ?? ''))
    .map((path) =>
      warning(`The plan reads ${shorten(path)}, which is not listed under files; add its path to files.`)
    )
}
