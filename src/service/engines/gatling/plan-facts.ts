import { basename, extname, posix } from 'node:path'
import { ToolError } from '../../errors.js'
import { type PlanRequest, propertyValue } from '../engine.js'

type Language = 'java' | 'scala' | 'kotlin'

export interface PlanFiles {
  readonly plan: string
  /** Undefined if the plan is a jar. */
  readonly language: Language | undefined
  /** What is compiled: the plan and the other sources of its language. */
  readonly sources: readonly string[]
  /** Jars on the class path: the plan itself, or libraries. */
  readonly jars: readonly string[]
}

/** Names the simulation to run, as Gatling's own Maven plugin does. */
export const SIMULATION_PROPERTY = 'gatling.simulationClass'

const LANGUAGES: Readonly<Record<string, Language>> = { '.java': 'java', '.scala': 'scala', '.kt': 'kotlin' }
const JAVASCRIPT = new Set(['.js', '.mjs', '.cjs', '.ts', '.mts', '.jsx', '.tsx'])
const WANTED_FILE = 'a simulation as .java, .scala, .kt or .jar'

export function sortPlanFiles(fileNames: readonly string[]): PlanFiles {
  const [plan = ''] = fileNames
  const language = languageOf(plan)
  return {
    plan,
    language,
    sources:
      language === undefined ? [] : [...new Set(fileNames)].filter((name) => languageOf(name) === language),
    jars: fileNames.filter((name) => extensionOf(name) === '.jar')
  }
}

export function refuseFiles({ fileNames, properties }: PlanRequest): string[] {
  const [plan = ''] = fileNames
  const language = languageOf(plan)
  if (JAVASCRIPT.has(extensionOf(plan)))
    return [
      `${plan} is a JavaScript simulation, which needs Gatling's own JavaScript runtime; the plan must be ${WANTED_FILE}`
    ]
  if (language === undefined && extensionOf(plan) !== '.jar')
    return [`${plan} is not a plan for Gatling: the plan must be ${WANTED_FILE}`]
  // Only sources are checked: any jar is accepted.
  const sources = fileNames.filter((name) => languageOf(name) !== undefined)
  const misspelt = sources.filter((name) => extname(name) !== extensionOf(name))
  const foreign = sources.filter((name) => languageOf(name) !== language)
  const simulation = propertyValue(properties, SIMULATION_PROPERTY)
  const refused = misspelt.map(
    (name) =>
      `${name} cannot be compiled under this name: compilers want the extension in lower case, ${extensionOf(name)}`
  )
  for (const name of foreign)
    refused.push(
      `${name} is not compiled with ${plan}: all sources must be of one language; upload the others as a .jar`
    )
  if (simulation !== undefined && !/^[\w$.]+$/.test(simulation))
    refused.push(`${SIMULATION_PROPERTY} must be the name of a class, not "${simulation}"`)
  return refused
}

function languageOf(name: string): Language | undefined {
  return LANGUAGES[extensionOf(name)]
}

function extensionOf(name: string): string {
  return extname(name).toLowerCase()
}

export interface Unusable {
  readonly name: string
  /** The rest of a sentence that starts with its name. */
  readonly why: string
}

export interface PlanFacts {
  readonly simulations: readonly string[]
  /** Simulations that Gatling cannot construct. */
  readonly hidden: readonly Unusable[]
  /** Classes that cannot be loaded, and may be simulations. */
  readonly broken: readonly Unusable[]
  /** Strings such as `${user}`, in the syntax of Gatling 2. */
  readonly expressions: readonly string[]
  /** Literals that look like the path of a file in a folder. */
  readonly paths: readonly string[]
}

const SHOWN = 5
const WANTED =
  'a simulation is a public class with a public constructor without parameters that extends Simulation, of io.gatling.javaapi.core in Java and Kotlin, or of io.gatling.core.Predef in Scala'
const CHOOSE = `choose one with -D${SIMULATION_PROPERTY}=<class> in override-parameters`

export function parseFacts(lines: readonly string[]): PlanFacts {
  const facts = lines.map((line) => line.split('\t'))
  const valuesOf = (kind: string): string[] => [
    ...new Set(facts.flatMap(([name, value]) => (name === kind && value !== undefined ? [value] : [])))
  ]
  const unusable = (kind: string, explain: (reason: string) => string): Unusable[] =>
    facts.flatMap(([name, value = '', reason = '']) =>
      name === kind ? [{ name: value, why: explain(reason) }] : []
    )
  return {
    simulations: valuesOf('simulation'),
    hidden: unusable('hidden', (reason) => reason),
    broken: unusable('broken', explainBroken),
    expressions: valuesOf('expression'),
    paths: valuesOf('path')
  }
}

/** In Java's words `java.lang.NoClassDefFoundError: acme/Base`. */
function explainBroken(reason: string): string {
  const missing = /^java\.lang\.NoClassDefFoundError: ([^\s()]+)$/.exec(reason)?.[1]?.replaceAll('/', '.')
  return missing === undefined
    ? `cannot be loaded (${reason})`
    : `needs ${missing}, which is in none of the uploaded files: upload the jar that has it as well`
}

/** The simulation to run: the one that was asked for, the one named after the plan, or the only one. What it leaves out becomes a warning. */
export function chooseSimulation(
  facts: PlanFacts,
  { plan, wanted }: { plan: string; wanted: string | undefined }
): { simulation: string; doubts: string[] } {
  if (wanted !== undefined) return { simulation: findWanted(facts, { plan, wanted }), doubts: [] }
  const { simulations, hidden, broken } = facts
  const name = basename(plan, extname(plan))
  const own = [...hidden, ...broken].find((each) => simpleName(each.name) === name)
  if (own !== undefined)
    throw new ToolError(
      `${plan} cannot be run, because its class ${own.name} ${own.why}${advice(facts, own)}`
    )
  const named = findNamed(simulations, name)
  const simulation = named ?? (simulations.length === 1 ? simulations[0] : undefined)
  if (simulation === undefined) throw new ToolError(explainNone(facts, plan))
  const leftOut = named === undefined ? [...hidden, ...broken] : broken
  return { simulation, doubts: tell(leftOut).map((words) => `${simulation} ran, but ${words}`) }
}

function findWanted(facts: PlanFacts, { plan, wanted }: { plan: string; wanted: string }): string {
  const named = findNamed(facts.simulations, wanted)
  if (named !== undefined) return named
  const own = [...facts.hidden, ...facts.broken].find(({ name }) => [name, simpleName(name)].includes(wanted))
  const but = own && `${own.name} ${own.why}${advice(facts, own)}`
  throw new ToolError(
    `${SIMULATION_PROPERTY} is ${wanted}, but ${but ?? `${describe(plan, facts.simulations)}; ${CHOOSE}`}`
  )
}

function explainNone({ simulations, hidden, broken }: PlanFacts, plan: string): string {
  const others = tell([...hidden, ...broken])
  const but = others.length === 0 ? '' : ` (${others.join('; ')})`
  return `${describe(plan, simulations)}${but}; ${simulations.length === 0 ? WANTED : CHOOSE}`
}

/** Why a class cannot be loaded has its own. */
function advice({ hidden }: PlanFacts, unusable: Unusable): string {
  return hidden.includes(unusable) ? `; ${WANTED}` : ''
}

/** A jar may have thousands. */
function tell(classes: readonly Unusable[]): string[] {
  const words = classes.slice(0, SHOWN).map(({ name, why }) => `${name} ${why}`)
  return classes.length > SHOWN ? [...words, `${classes.length - SHOWN} more cannot be run`] : words
}

function simpleName(name: string): string {
  return name.split(/[.$]/).at(-1) ?? ''
}

function findNamed(simulations: readonly string[], name: string): string | undefined {
  const simple = simulations.filter((each) => simpleName(each) === name)
  return simulations.find((each) => each === name) ?? (simple.length === 1 ? simple[0] : undefined)
}

function describe(plan: string, simulations: readonly string[]): string {
  if (simulations.length === 0) return `there is no simulation in ${plan}`
  const count = simulations.length === 1 ? 'one simulation' : `${simulations.length} simulations`
  return `${plan} has ${count}: ${simulations.join(', ')}`
}

/** Where a plan looks for uploaded files below its own folder: `data/users.csv` for an uploaded `users.csv`. */
export function subPathsOf({ paths }: PlanFacts, fileNames: readonly string[]): string[] {
  const names = new Set(fileNames)
  const below = paths
    .map((path) => posix.normalize(path.replaceAll('\\', '/')))
    .filter((path) => names.has(posix.basename(path)))
    .filter((path) => path.includes('/') && !path.startsWith('/') && !path.startsWith('../'))
  return [...new Set(below)]
}
