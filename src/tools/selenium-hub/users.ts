import { spawn, type ChildProcess } from 'node:child_process'
import { rmSync, statSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { explainExit, LastLines } from './failure-words.js'
import type { Hub } from './hub.js'
import type { SeleniumOrder, StoppedUser, UserFailure } from './order.js'
import type { RunState } from './run-state.js'

export interface UserPorts {
  readonly order: SeleniumOrder
  readonly state: RunState
  readonly tempDir: string
  /** A program that a script may start as its own driver; it leads to the user's hub. */
  readonly driverStandIn: string
  readonly startHub: (user: number) => Promise<Hub>
  readonly say: (user: number, line: string) => void
  readonly signal: AbortSignal
}

/** How one user's work ended. */
export interface UserEnd {
  readonly failure: UserFailure | undefined
  /** Set if it was still running when the time was up. */
  readonly stopped: StoppedUser | undefined
}

/** A transaction that has started may finish, as a request of JMeter may. */
const LAST_TRANSACTION_MS = 3000
const TERM_GRACE_MS = 2000
/** Without a browser the duration would never begin. */
const FIRST_BROWSER_MS = 60_000
const LOOK_EVERY_MS = 100
/** A plan that ends its process is started again, but not in a hot loop. */
const RESTART_AFTER_MS = 500

/** Runs one user, from its place in the ramp-up to the end of the test. */
export async function runUser(user: number, ports: UserPorts): Promise<UserEnd> {
  const { order, state, signal } = ports
  const delayMs = ((user - 1) * order.rampupMs) / order.users
  if (!(await waits(delayMs, signal))) return { failure: undefined, stopped: undefined }
  const hub = await ports.startHub(user)
  state.enter(user)
  try {
    for (;;) {
      const end = await runOnce(user, hub, ports)
      const { untilMs } = state
      const isOver = order.durationMs === null || (untilMs !== undefined && Date.now() >= untilMs)
      if (isOver || end.stopped !== undefined || end.failure !== undefined) return end
      if (!(await waits(RESTART_AFTER_MS, signal))) return end
    }
  } finally {
    state.leave(user)
    await hub.close()
  }
}

async function runOnce(user: number, hub: Hub, ports: UserPorts): Promise<UserEnd> {
  const { order, tempDir, signal } = ports
  const files = { thrown: join(tempDir, `thrown-${user}`), reported: join(tempDir, `reported-${user}`) }
  writeFileSync(files.reported, '')
  const lastLines = new LastLines()
  const args = [
    ...order.javaArgs,
    ...(order.durationMs === null ? [] : ['-Dloadgate.repeat=1']),
    `-Dwebdriver.${order.browser === 'chrome' ? 'chrome' : 'gecko'}.driver=${ports.driverStandIn}`,
    ...['-cp', order.classPath.join(delimiter), 'loadgate.selenium.RunPlan', ...order.plan]
  ]
  const env = userEnvironment(user, { port: hub.port, files }, ports)
  const child = spawn(order.java, args, { cwd: order.planDir, env, stdio: ['ignore', 'pipe', 'pipe'] })
  for (const stream of [child.stdout, child.stderr])
    eachLine(stream, (line) => {
      lastLines.add(line)
      ports.say(user, line)
    })
  const exit = awaitExit(child)
  const watch = watchTime(child, ports)
  try {
    const { code, signal: killedBy } = await exit
    if (watch.isStopped()) return { failure: undefined, stopped: { user, silentMs: ageOf(files.reported) } }
    if (code === 0 || signal.aborted) return { failure: undefined, stopped: undefined }
    const words = explainExit({ code, signal: killedBy }, { thrownFile: files.thrown, lastLines })
    return { failure: { user, words }, stopped: undefined }
  } finally {
    watch.end()
    for (const file of Object.values(files)) rmSync(file, { force: true })
  }
}

/** Small files by which a user's process tells what happened. */
interface UserFiles {
  readonly thrown: string
  readonly reported: string
}

function ageOf(file: string): number {
  return Math.max(0, Math.round(Date.now() - statSync(file).mtimeMs))
}

/** Stops a process that is still running when the time is up or the test is ended: TERM, then KILL. */
function watchTime(child: ChildProcess, { state, signal }: UserPorts): { isStopped(): boolean; end(): void } {
  const startMs = Date.now()
  let termMs: number | undefined
  let isStopped = false
  const timer = setInterval(() => {
    const nowMs = Date.now()
    if (nowMs - startMs > FIRST_BROWSER_MS) state.startClock(nowMs)
    const isLate = state.untilMs !== undefined && nowMs > state.untilMs + LAST_TRANSACTION_MS
    if (!isLate && !signal.aborted) return
    isStopped ||= !signal.aborted
    if (termMs === undefined) child.kill('SIGTERM')
    else if (nowMs - termMs > TERM_GRACE_MS) child.kill('SIGKILL')
    termMs ??= nowMs
  }, LOOK_EVERY_MS)
  return { isStopped: () => isStopped, end: () => clearInterval(timer) }
}

function userEnvironment(
  user: number,
  { port, files }: { port: number; files: UserFiles },
  { order, tempDir }: UserPorts
): NodeJS.ProcessEnv {
  return {
    ...process.env,
    ...order.variables,
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

function eachLine(stream: Readable, take: (line: string) => void): void {
  createInterface({ input: stream }).on('line', take)
}

/** False if the test ended meanwhile. */
async function waits(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}
