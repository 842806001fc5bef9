import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, rmSync, statSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Hub } from './hub.js'
import { splitLines } from '../../lines.js'
import type { RunState, StandIns } from './run-state.js'
import type { SeleniumOrder, StoppedUser, UserFailure } from './order.js'

export interface UserPorts {
  readonly order: SeleniumOrder
  readonly state: RunState
  readonly tempDir: string
  readonly standIns: StandIns
  readonly startHub: (user: number, events: { onSession: () => void; onPassEnd: () => void }) => Promise<Hub>
  readonly say: (user: number, line: string) => void
  readonly signal: AbortSignal
}

/** How one user's work ended. */
export interface UserEnd {
  readonly failure: UserFailure | undefined
  /** Set if it was still running when the time was up. */
  readonly stopped: StoppedUser | undefined
  /** How many browsers it got from the hub. */
  readonly sessions: number
}

/** A transaction that has started may finish, as a request of JMeter may. */
const LAST_TRANSACTION_MS = 3000
const TERM_GRACE_MS = 2000
/** Without a browser or a row the duration would never begin. */
const FIRST_BROWSER_MS = 60_000
const LOOK_EVERY_MS = 100
/** A plan that ends its process is started again, but not in a hot loop. */
const RESTART_AFTER_MS = 500

const NOTHING_DONE =
  'the plan ended without opening a browser and without reporting a transaction, so that repeating it makes no load'

/** Runs one user, from its place in the ramp-up to the end of the test. */
export async function runUser(user: number, ports: UserPorts): Promise<UserEnd> {
  const { order, state, signal } = ports
  const delayMs = ((user - 1) * order.rampupMs) / order.users
  if (!(await waits(delayMs, signal))) return { failure: undefined, stopped: undefined, sessions: 0 }
  const work = new UserWork(user, ports)
  const hub = await ports.startHub(user, work)
  state.enter(user)
  try {
    for (;;) {
      const end = await runOnce(work, hub, ports)
      const { untilMs } = state
      const isOver = order.durationMs === null || (untilMs !== undefined && Date.now() >= untilMs)
      if (isOver || end.stopped !== undefined || end.failure !== undefined) return end
      if (work.isIdle()) return { ...end, failure: { user, words: NOTHING_DONE } }
      hub.endSessions()
      if (!(await waits(RESTART_AFTER_MS, signal))) return end
    }
  } finally {
    state.leave(user)
    await hub.close()
  }
}

/** What a user has done so far, over all its processes. */
class UserWork {
  readonly startMs = Date.now()
  readonly files: UserFiles
  sessions = 0
  #idlePasses = 0

  constructor(
    readonly user: number,
    private readonly ports: UserPorts
  ) {
    const { tempDir } = ports
    this.files = {
      thrown: join(tempDir, `thrown-${user}`),
      reported: join(tempDir, `reported-${user}`),
      temp: join(tempDir, `temp-${user}`)
    }
  }

  readonly onSession = (): void => {
    this.sessions += 1
    this.ports.state.startClock(Date.now())
  }

  readonly onPassEnd = (): void => {
    if (this.isIdle()) this.#idlePasses += 1
  }

  /** Comes to its end again and again without having done anything. The first time, it may have thrown something. */
  isUseless(): boolean {
    return this.#idlePasses > 1 && this.isIdle()
  }

  hasReported(): boolean {
    return existsSync(this.files.reported)
  }

  isIdle(): boolean {
    return this.sessions === 0 && !this.hasReported()
  }

  /** For how long it has reported nothing, whether or not it was started again meanwhile. */
  silentMs(): number {
    const lastMs = this.hasReported() ? statSync(this.files.reported).mtimeMs : this.startMs
    return Math.max(0, Math.round(Date.now() - lastMs))
  }
}

async function runOnce(work: UserWork, hub: Hub, ports: UserPorts): Promise<UserEnd> {
  const { order, signal } = ports
  const { user, files } = work
  mkdirSync(files.temp, { recursive: true })
  const lastLines: string[] = []
  const args = [
    // Before the plan's own, which may say otherwise.
    `-Djava.io.tmpdir=${files.temp}`,
    ...order.javaArgs,
    ...(order.durationMs === null ? [] : ['-Dloadgate.repeat=1']),
    ...ports.standIns.properties,
    ...['-cp', order.classPath.join(delimiter), 'loadgate.selenium.RunPlan', ...order.plan]
  ]
  const env = userEnvironment(user, { port: hub.port, files }, ports)
  const child = spawn(order.java, args, { cwd: order.planDir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    splitLines(stream, (line) => {
      lastLines.push(line)
      if (lastLines.length > SHOWN_LINES) lastLines.shift()
      ports.say(user, line)
    })
  const exit = awaitExit(child)
  const watch = watchTime(child, work, ports)
  const end = { failure: undefined, stopped: undefined }
  try {
    const { code, signal: killedBy } = await exit
    const { sessions } = work
    if (work.isUseless()) return { ...end, failure: { user, words: NOTHING_DONE }, sessions }
    if (watch.isStopped()) return { ...end, stopped: { user, silentMs: work.silentMs() }, sessions }
    if (code === 0 || signal.aborted) return { ...end, sessions }
    const words = explainExit({ code, signal: killedBy }, { thrownFile: files.thrown, lastLines })
    return { ...end, failure: { user, words }, sessions }
  } finally {
    watch.end()
    rmSync(files.thrown, { force: true })
    removeFolder(files.temp)
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A browser of the plan's own still writes there; it all goes at the end of the test.
  }
}

interface UserFiles {
  /** Small files by which a user's process tells what happened. */
  readonly thrown: string
  readonly reported: string
  /** A folder for temporary files, such as the profile of a browser of its own. */
  readonly temp: string
}

/** Stops a process that is still running when the time is up or the test is ended: TERM, then KILL. */
function watchTime(
  child: ChildProcess,
  work: UserWork,
  { state, signal }: UserPorts
): { isStopped(): boolean; end(): void } {
  let termMs: number | undefined
  let isStopped = false
  const timer = setInterval(() => {
    const nowMs = Date.now()
    if (nowMs - work.startMs > FIRST_BROWSER_MS || work.hasReported()) state.startClock(nowMs)
    const isLate = state.untilMs !== undefined && nowMs > state.untilMs + LAST_TRANSACTION_MS
    if (!isLate && !signal.aborted && !work.isUseless()) return
    isStopped ||= isLate && !signal.aborted
    if (termMs === undefined) child.kill('SIGTERM')
    else if (nowMs - termMs > TERM_GRACE_MS) child.kill('SIGKILL')
    termMs ??= nowMs
  }, LOOK_EVERY_MS)
  return { isStopped: () => isStopped, end: () => clearInterval(timer) }
}

function userEnvironment(
  user: number,
  { port, files }: { port: number; files: UserFiles },
  { order, tempDir, standIns }: UserPorts
): NodeJS.ProcessEnv {
  const path = order.variables.PATH ?? process.env.PATH ?? ''
  return {
    ...process.env,
    TMPDIR: files.temp,
    ...order.variables,
    PATH: [standIns.folder, path].filter((part) => part !== '').join(delimiter),
    WEBDRIVER_HOST: '127.0.0.1',
    WEBDRIVER_PORT: String(port),
    THREAD_ID: String(user),
    ACTIVE_THREADS: String(order.users),
    // Selenium must not download browsers or drivers, nor report its use.
    ...{ SE_OFFLINE: 'true', SE_AVOID_STATS: 'true' },
    LOADGATE_USER: `user ${order.nodeNumber}-${user}`,
    LOADGATE_SAMPLES: order.samplesFile,
    LOADGATE_CLASSES: order.classesDir,
    LOADGATE_STATE: join(tempDir, 'state'),
    LOADGATE_THROWN: files.thrown,
    LOADGATE_REPORTED: files.reported
  }
}

function awaitExit(child: ChildProcess): Promise<{ code: number | null; signal: string | null }> {
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code, signal) => resolve({ code, signal }))
  })
}

/** False if the test ended meanwhile. */
async function waits(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}

const SHOWN_LINES = 12
const MAX_LENGTH = 3000

/** Why a user ended: what the plan threw if it threw something, else how its process ended and what it said last. */
function explainExit(
  exit: { code: number | null; signal: string | null },
  { thrownFile, lastLines }: { thrownFile: string; lastLines: readonly string[] }
): string {
  const thrown = readText(thrownFile).trim()
  if (thrown !== '') return thrown.slice(0, MAX_LENGTH)
  const how = exit.signal === null ? `exit code ${exit.code ?? '?'}` : `killed by ${exit.signal}`
  const said = lastLines.join('\n')
  return `its process ended with ${how}${said === '' ? '' : `:\n${said}`}`.slice(0, MAX_LENGTH)
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
