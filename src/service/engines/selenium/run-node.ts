import { dirname } from 'node:path'
import { joinWords } from '../../../contract/text.js'
import { describeExit, limitLines } from '../../lines.js'
import { type NodeOrder, type NodeWork, withFinalDots } from '../engine.js'
import { hostAgent } from '../host-agent.js'
import { packageFile } from '../install/run-to-end.js'
import { NodeOutput } from '../node-output.js'
import { jvmOptions } from '../tool-environment.js'
import { placeVariables, planParameters } from '../environment-file.js'
import { planSecrets, redactLog } from '../redact-log.js'
import { javaProperties } from '../secret-file.js'
import type { RunFacts, SeleniumOrder, UserFailure } from '../../programs/selenium-hub/order.js'
import { FACTS_LINE, FAILURE_LINE, ORDER_VARIABLE } from '../../programs/selenium-hub/order.js'
import { readThreadNames } from '../../samples/row-cutter.js'
import type { NodeExit } from '../../nodes/load-node.js'
import type { Browser } from './browsers.js'
import type { CompiledPlan } from './compile.js'

export interface SeleniumPlan {
  readonly compiled: CompiledPlan
  /** Programs on the node. */
  readonly browser: Browser
  readonly java: string
  readonly node: string
  /** `HEAP` and `JVM_ARGS` there, if it is not this machine. */
  readonly jvm?: NodeJS.ProcessEnv
  readonly variables: Readonly<Record<string, string>>
}

/** Small, because every user has a JVM, and a script has little to do there: the work is in the browser. */
const DEFAULT_HEAP = '-Xmx128m'
const JVM_OPTIONS = [
  ...['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', '-Xshare:auto', '-Djava.awt.headless=true']
]
const SHOWN_USERS = 5
/** Every user may print the same; the tool's log has it all. */
const SHOWN_LINES = 200
/** A user who reports nothing for this share of the duration, and this long (closing and opening a browser takes a while), is stuck. */
const STUCK_SHARE = 0.5
const STUCK_MS = 5000

/** Runs the node's users, in one process that starts everything else. */
export async function runSelenium(plan: SeleniumPlan, { order, signal, ports }: NodeWork) {
  const secrets = planSecrets(order.properties, plan.variables)
  const redact = (text: string): string => redactLog(text, secrets)
  const { node } = order
  const { classPath, planJar } = plan.compiled
  const folder = dirname(order.planFile)
  const hub = packageFile('dist/tools/selenium-hub.mjs')
  const reported = new Reported()
  const log = (line: string): void => ports.log(`${order.nodeName}: ${redact(line)}`)
  const output = new NodeOutput({
    word: order.mark,
    take: (fact) => reported.take(fact),
    log: limitLines(SHOWN_LINES, log, 'the plan prints a lot; the rest is in the log of the tool')
  })
  const properties = await javaProperties(order, Object.fromEntries(planParameters(order)))
  const running = node.run(
    {
      file: plan.node,
      args: [node.pathOf(hub)],
      starts: [plan.java, plan.browser.program.file, plan.browser.driver.file],
      brings: [folder, ...properties.files, hub, planJar, ...classPath, ...hostAgent(order).brings],
      follows: [order.samplesFile],
      collects: [order.logFile],
      cwd: node.pathOf(folder),
      env: {
        ...node.env,
        [ORDER_VARIABLE]: JSON.stringify(
          toolOrder(plan, order, { env: ports.env, properties: properties.args })
        )
      },
      onLine: (line) => output.push(line)
    },
    signal
  )
  const exit = await running.finally(properties.remove)
  // The caller has stopped it, knows that load is missing, and is waiting.
  if (signal.aborted) return { problem: null }
  const problem = explainEnd(reported, { exit, output, users: order.threads ?? 1 })
  const losses = problem === null ? await findLosses(order, reported, signal) : []
  return { problem: problem === null ? null : redact(problem), losses: losses.map(redact) }
}

function toolOrder(
  plan: SeleniumPlan,
  order: NodeOrder,
  { env, properties }: { env: NodeJS.ProcessEnv; properties: readonly string[] }
): SeleniumOrder {
  const pathOf = (file: string): string => order.node.pathOf(file)
  const { kind: browser, program, driver } = plan.browser
  return {
    word: order.mark,
    ...{ browser, browserFile: program.file, driverFile: driver.file, java: plan.java },
    javaArgs: [
      ...JVM_OPTIONS,
      // For the plan's own requests, beside those of the browser.
      ...hostAgent(order).options,
      // Each user has a folder of its own for temporary files.
      ...jvmOptions(plan.jvm ?? env, { heap: DEFAULT_HEAP, env: { HOME: order.node.env.HOME } }),
      ...properties
    ],
    classPath: plan.compiled.classPath.map(pathOf),
    planJar: pathOf(plan.compiled.planJar),
    plan: plan.compiled.choice,
    planDir: pathOf(dirname(order.planFile)),
    samplesFile: pathOf(order.samplesFile),
    logFile: pathOf(order.logFile),
    nodeNumber: order.place.ordinal + 1,
    users: order.threads ?? 1,
    rampupMs: (order.rampupSec ?? 0) * 1000,
    durationMs: order.durationSec === null ? null : order.durationSec * 1000,
    hosts: withFinalDots(order.hosts),
    variables: { ...plan.variables, ...placeVariables(order.place) }
  }
}

/** The node could not run the plan: its program failed, or every user did. */
function explainEnd(
  { failures, facts }: Reported,
  { exit, output, users }: { exit: NodeExit; output: NodeOutput; users: number }
): string | null {
  const [first] = failures
  if (first !== undefined && failures.length >= users) {
    const all = `All ${users} users ended with an error; user ${first.user}`
    return `${users === 1 ? 'The plan ended with an error' : all}: ${first.words}${adviceFor(first.words)}`
  }
  if (exit.code === 0 && facts !== undefined && !output.isBroken) return null
  return `The users' process ended too early (${describeExit(exit)}): ${output.lastLines.join('\n').slice(0, 2000)}`
}

function adviceFor(words: string): string {
  return words.includes('OutOfMemoryError')
    ? `\nGive every user more memory with the environment variable HEAP, such as -Xmx512m (now ${DEFAULT_HEAP})`
    : ''
}

async function findLosses(order: NodeOrder, reported: Reported, signal: AbortSignal): Promise<string[]> {
  const users = order.threads ?? 1
  const { failures, facts } = reported
  const [first] = failures
  const losses: string[] = []
  const lose = (words: string): void => void losses.push(`Selenium: ${words}`)
  const seen = new Set<string>()
  await readThreadNames(order.samplesFile, (thread) => seen.add(thread).size < users, signal)
  const all = Array.from({ length: users }, (_, index) => index + 1)
  const silent = all.filter((user) => !seen.has(`user ${order.place.ordinal + 1}-${user}`))
  const withoutBrowser = facts?.withoutBrowser ?? []
  const past = withoutBrowser.filter((user) => all.includes(user) && !silent.includes(user))
  const stuckMs = Math.max(STUCK_MS, STUCK_SHARE * 1000 * (order.durationSec ?? 0))
  if (first !== undefined)
    lose(`${failures.length} of ${users} users ended with an error; user ${first.user}: ${first.words}`)
  if (seen.size === 0) losses.push(`${order.nodeName} recorded no samples; ${explainSilence(facts)}`)
  else if (silent.length > 0)
    lose(
      `${silent.length} of ${users} users recorded no samples (${listUsers(silent)}); is there a step that does not end, or were the users started too late for the duration?`
    )
  if (past.length > 0)
    lose(
      `${past.length} of ${users} users recorded samples without a browser of the run (${listUsers(past)}): the plan opened none, or it used a browser of its own, past the hub; use new ChromeDriver() or new FirefoxDriver() as the tool says, without a path to a driver, or a RemoteWebDriver at WEBDRIVER_HOST and WEBDRIVER_PORT`
    )
  for (const { user, silentMs } of facts?.stopped ?? [])
    if (silentMs >= stuckMs && !silent.includes(user))
      lose(
        `user ${user} reported nothing in the last ${Math.round(silentMs / 1000)} s; a page did not load, or a step did not end`
      )
  return losses
}

function explainSilence(facts: RunFacts | undefined): string {
  if (facts?.sessions === 0) return 'the plan opened no browser'
  return facts?.stopped.length
    ? 'the plan was still busy with its first transaction when the time was up: a page that does not load, or a step that does not end'
    : 'the plan reported no transaction: report each with FloodSump (passed_transaction, failed_transaction), or write JUnit 5 tests'
}

function listUsers(users: readonly number[]): string {
  return joinWords(
    users.map((user) => `user ${user}`),
    SHOWN_USERS
  )
}

/** What the node's process reported. */
class Reported {
  readonly failures: UserFailure[] = []
  facts: RunFacts | undefined

  take(fact: string): void {
    if (fact.startsWith(FAILURE_LINE))
      this.failures.push(JSON.parse(fact.slice(FAILURE_LINE.length)) as UserFailure)
    else this.facts = JSON.parse(fact.slice(FACTS_LINE.length)) as RunFacts
  }
}
