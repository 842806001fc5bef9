import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { list } from '../../analysis/plans/check/request.js'

/** The files that can be a tool's plan; what comes first is preferred, for a jar is a library where there are sources. */
const JAVA = [/\.java$/]
const PLANS: Readonly<Record<string, readonly RegExp[]>> = {
  jmeter: [/\.jmx$/i],
  gatling: [/\.(java|scala|kt)$/i, /\.jar$/i],
  'java-selenium-chrome': JAVA,
  'java-selenium-firefox': JAVA,
  'service-chrome': [/(?<!\.d)\.(ts|js)$/i]
}
/** They compile all sources together and find the class to run among them. */
const COMPILING: readonly string[] = ['gatling', 'java-selenium-chrome', 'java-selenium-firefox']

/** The name of the plan: the first file if it can be one, for scripts and parts of plans may follow; else the only one that can. */
export function findPlan(tool: string, fileNames: readonly string[]): { name: string } | { problem: string } {
  const [first = ''] = fileNames
  const kinds = PLANS[tool] ?? []
  if (kinds.some((kind) => kind.test(first))) return { name: first }
  const plans = kinds
    .map((kind) => fileNames.filter((name) => kind.test(name)))
    .find((named) => named.length > 0)
  const [plan = first, ...others] = plans ?? []
  return others.length === 0 || COMPILING.includes(tool)
    ? { name: plan }
    : { problem: `${list([plan, ...others])} can all be the plan: send the plan as the first file` }
}

/** Of several plans for JMeter only the first would run: one with thread groups of its own is a part of it only if something is included. */
export async function refuseTwoPlans(tool: string, fileNames: readonly string[], folder: string) {
  const names = tool === 'jmeter' ? fileNames.filter((name) => /\.jmx$/i.test(name)) : []
  if (names.length < 2) return []
  const files = await Promise.all(
    // Whatever the encoding.
    names.map(async (name) => ({
      name,
      text: (await readFile(join(folder, name), 'latin1')).replaceAll('\0', '')
    }))
  )
  if (files.some(({ text }) => text.includes('IncludeController'))) return []
  const plans = files.filter(({ text }) => text.includes('ThreadGroup')).map(({ name }) => name)
  if (plans.length < 2) return []
  return [
    `${list(plans)} are plans, and a run has one: send one of them, or a plan that includes the others by an Include Controller`
  ]
}
