import { describeCapacity } from '../browser-capacity.js'
import type { Engine, PlanRequest, PlanToPrepare, PreparedPlan } from '../engine.js'
import { readEnvironmentFile } from '../environment-file.js'
import type { InstallPorts } from '../install/install-ports.js'
import { requireJdk } from '../install/java.js'
import { capacityKind, describeBrowser, findBrowser } from './browsers.js'
import { compilePlan } from './compile.js'
import { runSelenium } from './run-node.js'
import type { BrowserKind } from '../../../tools/selenium-hub/order.js'

const BROWSERS: Readonly<Record<string, BrowserKind>> = {
  'java-selenium-chrome': 'chrome',
  'java-selenium-firefox': 'firefox'
}

/** Runs scripts for Selenium in Java, with real browsers. */
export function createSeleniumEngine(ports: InstallPorts): Engine {
  return { tools: Object.keys(BROWSERS), synthetic: false, refuse, prepare: (plan) => prepare(plan, ports) }
}

function refuse({ tool, fileNames, hosts }: PlanRequest): string[] {
  const [plan = ''] = fileNames
  return [
    ...(plan.endsWith('.java')
      ? []
      : [`${tool}: the plan, the first file, must be Java source (.java), and it is "${plan}"`]),
    ...(hosts.length > 0 && BROWSERS[tool] === 'firefox'
      ? [
          `override_hosts: Firefox cannot be given addresses for host names; use java-selenium-chrome, or leave it out`
        ]
      : [])
  ]
}

async function prepare(plan: PlanToPrepare, engine: InstallPorts): Promise<PreparedPlan> {
  const ports = { ...engine, signal: AbortSignal.any([engine.signal, plan.signal]) }
  const variables = await readEnvironmentFile(plan.uploadDir, plan.fileNames)
  const jdk = await requireJdk(ports, plan.tool)
  // What is missing is told before anything is downloaded.
  const browser = await findBrowser(BROWSERS[plan.tool] ?? 'chrome', ports)
  const compiled = await compilePlan(plan, jdk, ports)
  const [kind, ...names] = compiled.choice
  const what = kind === 'main' ? `main of ${names[0] ?? ''}` : `the JUnit tests of ${names.join(', ')}`
  ports.log(`Selenium ${compiled.version} runs ${what} with ${describeBrowser(browser)}`)
  const crowd = { users: plan.threads ?? 1, browser: capacityKind(browser), sharing: 'browsers' } as const
  const capacity = describeCapacity(crowd)
  if (capacity !== undefined) ports.log(capacity.warning ?? capacity.line)
  const doubts = capacity?.warning === undefined ? [] : [capacity.warning]
  const shared = { compiled, browser, java: jdk.java, variables, doubts }
  return {
    // Browsers update themselves, and change the figures more than Selenium does.
    version: `${compiled.version}, ${browser.program.name}`,
    runNode: (order, signal) => runSelenium(shared, { order, signal, ports: engine })
  }
}
