import { MAX_MS } from '../api/settings.js'
import { UnsupportedError, watchMissing } from '../api/constants.js'
import type { Tell } from '../messages.js'
import { close, stackOf, within } from './failures.js'
import { overrideLookups } from './host-lookups.js'
import { hostRules, type RunOrder, type RunPorts, type Schedule } from './run-order.js'
import { launch, loadLibrary } from './launch.js'
import { Rows } from './rows.js'
import { loadScript, type Script } from './script.js'
import { runUser, type UserPorts } from './user-run.js'

const LOAD_MS = 60_000
const NO_STEPS =
  'no step was run: are all of them skipped, do their conditions never hold, or was the time too short?'
/** The service adds to the limit, and no timer is longer than MAX_MS. */
const MAX_LIMIT_MS = MAX_MS - 3_600_000
/** The browser library needs these itself. */
const FORBIDDEN_ARGS = /^--(remote-debugging|user-data-dir|host-resolver-rules)/

export async function run(order: RunOrder, ports: RunPorts): Promise<void> {
  const { schedule } = ports
  const rows = new Rows(order.samplesFile)
  overrideLookups(order.hosts)
  watchMissing((text) => ports.tell({ kind: 'note', text }))
  // Before any load: whatever is wrong with the script is wrong for all users.
  const first = await within(
    loadScript(order, 1),
    LOAD_MS,
    `${order.scriptName} has not declared its steps after ${LOAD_MS / 1000} s; does its default export ever end?`
  )
  for (const warning of first.settings.warnings) ports.tell({ kind: 'note', text: warning })
  // As long as a step may wait.
  const graceMs = Math.max(order.graceMs, first.settings.waitTimeoutMs)
  const library = loadLibrary(order.modules)
  const browser = await launch(library, order, browserArguments(order, first))
  limitTime({ ...order, graceMs }, first, ports)
  try {
    await runUsers({ ...order, graceMs }, { ...ports, rows, library, browser, first })
  } finally {
    schedule.stop()
    await close(browser)
  }
}

function browserArguments(order: RunOrder, { settings }: Script): string[] {
  const refused = settings.launchArgs.find((argument) => FORBIDDEN_ARGS.test(argument))
  if (refused !== undefined) throw new Error(`the setting launchArgs has ${refused}, which is not supported`)
  return [...settings.launchArgs, ...hostRules(order.hosts, settings.blockedDomains)]
}

/** What the script sets itself wins. */
function limitTime(order: RunOrder, { settings }: Script, { schedule, tell }: RunPorts): void {
  const { durationMs } = settings
  const limitMs = durationMs ?? order.durationMs
  if (limitMs !== null) {
    schedule.limit(limitMs)
    tell({ kind: 'limit', ms: Math.min(limitMs + order.graceMs, MAX_LIMIT_MS) })
  }
  if (durationMs !== undefined && order.durationMs !== null && durationMs !== order.durationMs)
    tell({
      kind: 'note',
      text: `the script sets a duration of ${durationMs / 1000} s, which is used instead of the ${order.durationMs / 1000} s of the run`
    })
}

type UsersPorts = RunPorts & Pick<UserPorts, 'rows' | 'library' | 'browser'> & { readonly first: Script }

/** Steps that had not ended when the run did, by their labels: in how many users, and how long the longest had taken. */
type Cuts = Map<string, { count: number; longestMs: number }>

async function runUsers(order: RunOrder, ports: UsersPorts): Promise<void> {
  const { schedule, browser, first, tell } = ports
  const cuts: Cuts = new Map()
  const failures: unknown[] = []
  browser.on('disconnected', () => {
    if (schedule.isStopped) return
    failures.push(new Error('the browser ended while the plan was running'))
    schedule.stop()
  })
  // It would fail for every user, in every loop.
  const refuse = (thrown: unknown): void => {
    if (!(thrown instanceof UnsupportedError)) throw thrown
    if (!schedule.isStopped) failures.push(thrown)
    schedule.stop()
  }
  const warned = new Set<string>()
  const shared = {
    ...ports,
    folder: order.folder,
    cut: waitForCut(order, schedule),
    onCut: (label: string, ms: number) => {
      const { count, longestMs } = cuts.get(label) ?? { count: 0, longestMs: 0 }
      cuts.set(label, { count: count + 1, longestMs: Math.max(longestMs, ms) })
    },
    warn: (text: string) => {
      if (!warned.has(text)) tell({ kind: 'note', text })
      warned.add(text)
    }
  }
  const startUser = async (index: number): Promise<void> => {
    await schedule.rest((order.rampupMs * index) / order.users)
    if (schedule.isOver) return
    const script = index === 0 ? first : await loadScript(order, index + 1)
    await runUser(script, { ...shared, user: index + 1 })
  }
  const users = Array.from({ length: order.users }, (_, index) => startUser(index).catch(refuse))
  const ends = await Promise.allSettled(users)
  // The end of a stopped run is not a failure.
  if (!schedule.isStopped)
    failures.push(...ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : [])))
  for (const failure of failures) ports.log(stackOf(failure))
  if (failures.length > 0) throw failures[0]
  if (!schedule.isStopped) reportCuts(cuts, order, tell)
  if (!schedule.isStopped && cuts.size === 0 && ports.rows.steps === 0) throw new Error(NO_STEPS)
}

/** When the time is over, what has been started may still finish: otherwise slow steps would never be seen. */
async function waitForCut(order: RunOrder, schedule: Schedule): Promise<'cut'> {
  await schedule.untilEnd()
  if (!schedule.isStopped) await schedule.untilStop(order.graceMs)
  return 'cut'
}

/** They have no rows, so they are not in the figures. */
function reportCuts(cuts: Cuts, { users, graceMs }: RunOrder, tell: Tell): void {
  const all = [...cuts.values()].reduce((sum, { count }) => sum + count, 0)
  for (const [label, { count, longestMs }] of cuts) {
    const who = `${count} of ${users} ${users === 1 ? 'user' : 'users'}`
    const text = `the step "${label}" did not end: ${who} had been in it for up to ${Math.round(longestMs / 1000)} s, the last ${graceMs / 1000} s of them after the end of the run; it has no row. Does the page never load, or does the step loop? waitTimeout limits how long it waits`
    tell({ kind: all === users ? 'problem' : 'loss', text })
  }
}
