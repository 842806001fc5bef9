import { extname } from 'node:path'
import { type PlanRequest, propertyValue } from '../engine.js'

type Language = 'java' | 'scala' | 'kotlin'

/** The uploaded files by what they are for. */
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
const WANTED = 'a simulation as .java, .scala, .kt or .jar'

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

/** Why Gatling cannot run these files, one sentence each. */
export function refuseFiles({ fileNames, properties }: PlanRequest): string[] {
  const [plan = ''] = fileNames
  const language = languageOf(plan)
  if (JAVASCRIPT.has(extensionOf(plan)))
    return [
      `${plan} is a JavaScript simulation, which needs Gatling's own JavaScript runtime; the plan must be ${WANTED}`
    ]
  if (language === undefined && extensionOf(plan) !== '.jar')
    return [`${plan} is not a plan for Gatling: the first file must be ${WANTED}`]
  // Of sources only: any jar is taken as one.
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
