import { isJmx } from '../../analysis/plans/jmx/plan-tree.js'
import { joinWords } from '../../contract/text.js'
import { askAboutPlan } from '../plans/ask.js'

/** The files that can be a tool's plan, in order of preference: next to sources, a jar is a library. */
const JAVA = [/\.java$/]
const PLANS: Readonly<Record<string, readonly RegExp[]>> = {
  jmeter: [/\.jmx$/i],
  gatling: [/\.(java|scala|kt)$/i, /\.jar$/i],
  'java-selenium-chrome': JAVA,
  'java-selenium-firefox': JAVA,
  'service-chrome': [/(?<!\.d)\.(ts|js)$/i],
  k6: [/(?<!\.d)\.[cm]?[tj]s$/i, /\.tar$/i]
}
/** These find the plan among its parts: by what JMeter's plans include, or by the class to run if all sources are compiled together. */
const WITH_PARTS: readonly string[] = ['jmeter', 'gatling', 'java-selenium-chrome', 'java-selenium-firefox']

/** The plan by its name: the first of the kind that is preferred. If there are several for JMeter, their content decides later. */
export function findPlan(tool: string, fileNames: readonly string[]): { name: string } | { problem: string } {
  const [first = ''] = fileNames
  const plans = (PLANS[tool] ?? [])
    .map((kind) => fileNames.filter((name) => kind.test(name)))
    .find((named) => named.length > 0)
  const [plan = first, ...others] = plans ?? []
  return others.length === 0 || plan === first || WITH_PARTS.includes(tool)
    ? { name: plan }
    : { problem: `${joinWords([plan, ...others])} can all be the plan: send the plan as the first file` }
}

/** Which of several plans for JMeter runs, and includes the others: wherever it stands, the one with thread groups that none includes. */
export async function findIncludingPlan(
  tool: string,
  fileNames: readonly string[],
  folder: string
): Promise<{ name: string } | { problem: string } | undefined> {
  const names = tool === 'jmeter' ? [...new Set(fileNames.filter(isJmx))] : []
  if (names.length < 2) return undefined
  const files = await askAboutPlan('parts', { folder, names })
  const isIncluded = (name: string): boolean =>
    files.some((file) => file.name !== name && file.includes.includes(name))
  const free = files.filter(({ name }) => !isIncluded(name))
  const plans = [free.filter(({ hasGroups }) => hasGroups), free, files].find((some) => some.length > 0) ?? []
  // Which file a variable stands for is not known: any of the others.
  const including = files.filter(({ includes }) => includes.length > 0)
  const isOpen = including.some(({ includes }) => includes.some((name) => name.includes('${')))
  const [plan, another] = isOpen && plans.length > 1 && including.length === 1 ? including : plans
  if (plan !== undefined && another === undefined) return { name: plan.name }
  return {
    problem: `${joinWords(plans.map(({ name }) => name))} are plans, and a run has one: send one of them, or a plan that includes the others by an Include Controller`
  }
}
