import { spawn, type ChildProcess } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { delimiter, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { STEPS_HEADER } from '../../../contract/sample-row.js'
import { attempt } from '../../errors.js'
import { describeExit, splitLines } from '../../lines.js'
import { readRegularSync } from '../../regular-file.js'
import { type StandIns, writeStandIns } from './driver-stand-in.js'
import { startDriver } from './driver.js'
import { type Hub, startHub } from './hub.js'
import { FACTS_LINE, FAILURE_LINE, type RunFacts, type SeleniumOrder, type UserFailure } from './order.js'

interface NodePorts {
  readonly signal: AbortSignal
  /** Empty, and removed by the caller. */
  readonly tempDir: string
  readonly log: (line: string) => void
  readonly tell: (line: string) => void
}

const MOST_THROWN_BYTES = 64 * 1024
/** How many users a line lists. */
const MAX_LISTED = 100

/** Runs all users of a node to the end of the test, or until the signal. */
export async function runUsers(order: SeleniumOrder, ports: NodePorts): Promise<void> {
  const { tempDir } = ports
  const state = new RunState(join(tempDir, 'state'), order.durationMs)
  // One header, whichever user is first.
  writeFileSync(order.samplesFile, STEPS_HEADER)
  const tell = (line: string): void => ports.tell(`${order.word} ${line}`)
  const shared = { ...ports, order, state, standIns: writeStandIns(tempDir, order.browser) }
  const runUser = async (_: unknown, index: number): Promise<UserEnd> => {
    const isInTime = await waits((index * order.rampupMs) / order.users, ports.signal)
    const end = isInTime ? await new User(index + 1, shared).run() : { sessions: 0 }
    if (end.failure) tell(`${FAILURE_LINE}${describeFailure(end.failure)}`)
    return end
  }
  const ends = await Promise.all(Array.from({ length: order.users }, runUser))
  tell(`${FACTS_LINE}${JSON.stringify(factsOf(ends))}`)
}

/** Escapes would make it longer than a line may be. */
function describeFailure({ user, words }: UserFailure): string {
  return JSON.stringify({ user, words: words.split('\n').map(onOneLine).join('\n') })
}

/** One line for a log, whatever a plan has put into it. */
export function onOneLine(text: string): string {
  return text.replace(/(?!\t)[\p{Cc}\p{Cf}\p{Cs}\u2028\u2029]/gu, ' ')
}

function factsOf(ends: readonly UserEnd[]): RunFacts {
  const stopped = ends.flatMap((end) => end.stopped ?? []).sort((a, b) => b.silentMs - a.silentMs)
  return {
    sessions: ends.reduce((sum, end) => sum + end.sessions, 0),
    stopped: stopped.slice(0, MAX_LISTED),
    withoutBrowser: ends.flatMap((end, index) => (end.sessions === 0 ? [index + 1] : [])).slice(0, MAX_LISTED)
  }
}

/** What the users read from time to time: how many are active, and when the test ends. */
class RunState {
  untilMs: number | undefined
  #active = 0

  constructor(
    readonly file: string,
    private readonly durationMs: number | null
  ) {
    this.#write()
  }

  /** A user begins (1) or ends (-1). */
  count(change: 1 | -1): void {
    this.#active += change
    this.#write()
  }

  /** The duration counts from the first browser: starting one takes seconds, during which there is no load. */
  startClock(nowMs: number): void {
    if (this.durationMs === null || this.untilMs !== undefined) return
    this.untilMs = nowMs + this.durationMs
    this.#write()
  }

  #write(): void {
    // A reader sees the whole line, the old one or the new one.
    writeFileSync(`${this.file}.new`, `${[this.#active, this.untilMs ?? []].flat().join(' ')}\n`)
    renameSync(`${this.file}.new`, this.file)
  }
}

interface UserPorts extends NodePorts {
  readonly order: SeleniumOrder
  readonly state: RunState
  readonly standIns: StandIns
}

interface UserEnd {
  readonly failure?: UserFailure
  /** Set if it was still running when the time was up. */
  readonly stopped?: RunFacts['stopped'][number]
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
const SHOWN_LINES = 12
const MAX_LENGTH = 3000

const NOTHING_DONE =
  'the plan ended without opening a browser and without reporting a transaction, so repeating it makes no load'

class User {
  readonly #startMs = Date.now()
  /** Small files by which a user's process tells what happened. */
  readonly #thrownFile: string
  readonly #reportedFile: string
  /** A folder for temporary files, such as the profile of a browser of its own. */
  readonly #temp: string
  #sessions = 0
  #idlePasses = 0

  constructor(
    private readonly user: number,
    private readonly ports: UserPorts
  ) {
    const fileOf = (name: string): string => join(ports.tempDir, `${name}-${user}`)
    this.#thrownFile = fileOf('thrown')
    this.#reportedFile = fileOf('reported')
    this.#temp = fileOf('temp')
  }

  async run(): Promise<UserEnd> {
    const { order, state, signal } = this.ports
    const hub = await this.#startHub()
    state.count(1)
    try {
      for (;;) {
        const end = await this.#runOnce(hub)
        const { untilMs } = state
        const isOver = order.durationMs === null || (untilMs !== undefined && Date.now() >= untilMs)
        if (isOver || end.stopped !== undefined || end.failure !== undefined) return end
        if (this.#isIdle()) return this.#failed(NOTHING_DONE)
        hub.endSessions()
        if (!(await waits(RESTART_AFTER_MS, signal))) return end
      }
    } finally {
      state.count(-1)
      await hub.close()
    }
  }

  #startHub(): Promise<Hub> {
    const { order, state, signal, tempDir } = this.ports
    return startHub({
      choice: order,
      startDriver: () => startDriver({ browser: order.browser, file: order.driverFile, tempDir }),
      onSession: () => {
        this.#sessions += 1
        state.startClock(Date.now())
      },
      onPassEnd: () => (this.#idlePasses += this.#isIdle() ? 1 : 0),
      log: (line) => this.#say(line),
      isEnding: () => signal.aborted
    })
  }

  #say(line: string): void {
    this.ports.log(`user ${this.user}: ${line}`)
  }

  async #runOnce(hub: Hub): Promise<UserEnd> {
    const { order, signal, standIns } = this.ports
    mkdirSync(this.#temp, { recursive: true })
    const lastLines: string[] = []
    const args = [
      // Before the plan's own, which may say otherwise.
      `-Djava.io.tmpdir=${this.#temp}`,
      ...order.javaArgs,
      ...(order.durationMs === null ? [] : ['-Dloadgate.repeat=1']),
      ...standIns.properties,
      ...['-cp', order.classPath.join(delimiter), 'loadgate.selenium.RunPlan', ...order.plan]
    ]
    const env = this.#environment(hub.port)
    const child = spawn(order.java, args, { cwd: order.planDir, env, stdio: ['ignore', 'pipe', 'pipe'] })
    for (const stream of [child.stdout, child.stderr])
      splitLines(stream, (line) => {
        lastLines.push(line)
        if (lastLines.length > SHOWN_LINES) lastLines.shift()
        this.#say(line)
      })
    const watch = this.#watchTime(child)
    try {
      const [code, killedBy] = (await once(child, 'close')) as [number | null, string | null]
      if (this.#isUseless()) return this.#failed(NOTHING_DONE)
      const sessions = this.#sessions
      if (watch.isStopped()) return { sessions, stopped: { user: this.user, silentMs: this.#silentMs() } }
      if (code === 0 || signal.aborted) return { sessions }
      const said = lastLines.length === 0 ? '' : `:\n${lastLines.join('\n')}`
      const thrown = this.#readThrown()
      return this.#failed(
        thrown || `its process ended with ${describeExit({ code, signal: killedBy })}${said}`
      )
    } finally {
      watch.end()
      rmSync(this.#thrownFile, { force: true })
      removeFolder(this.#temp)
    }
  }

  /** The plan may have put anything there. */
  #readThrown(): string {
    return attempt(() => readRegularSync(this.#thrownFile, MOST_THROWN_BYTES).trim()) ?? ''
  }

  #failed(words: string): UserEnd {
    return { sessions: this.#sessions, failure: { user: this.user, words: words.slice(0, MAX_LENGTH) } }
  }

  /** Stops a process that is still running when the time is up or the test is ended: TERM, then KILL. */
  #watchTime(child: ChildProcess): { isStopped(): boolean; end(): void } {
    const { state, signal } = this.ports
    let termMs: number | undefined
    let isStopped = false
    const timer = setInterval(() => {
      const nowMs = Date.now()
      if (nowMs - this.#startMs > FIRST_BROWSER_MS || this.#hasReported()) state.startClock(nowMs)
      const isLate = state.untilMs !== undefined && nowMs > state.untilMs + LAST_TRANSACTION_MS
      if (!isLate && !signal.aborted && !this.#isUseless()) return
      isStopped ||= isLate && !signal.aborted
      if (termMs === undefined) child.kill('SIGTERM')
      else if (nowMs - termMs > TERM_GRACE_MS) child.kill('SIGKILL')
      termMs ??= nowMs
    }, LOOK_EVERY_MS)
    return { isStopped: () => isStopped, end: () => clearInterval(timer) }
  }

  #environment(port: number): NodeJS.ProcessEnv {
    const { order, state, standIns } = this.ports
    const path = order.variables.PATH ?? process.env.PATH ?? ''
    return {
      ...process.env,
      TMPDIR: this.#temp,
      ...order.variables,
      PATH: [standIns.folder, path].filter((part) => part !== '').join(delimiter),
      ...{ WEBDRIVER_HOST: '127.0.0.1', WEBDRIVER_PORT: String(port) },
      ...{ THREAD_ID: String(this.user), ACTIVE_THREADS: String(order.users) },
      // Selenium must not download browsers or drivers, nor report its use.
      ...{ SE_OFFLINE: 'true', SE_AVOID_STATS: 'true' },
      LOADGATE_USER: `user ${order.nodeNumber}-${this.user}`,
      ...{ LOADGATE_SAMPLES: order.samplesFile, LOADGATE_CLASSES: order.planJar },
      ...{ LOADGATE_STATE: state.file, LOADGATE_THROWN: this.#thrownFile },
      LOADGATE_REPORTED: this.#reportedFile
    }
  }

  /** Ends again and again without having done anything. The first time, it may have thrown something. */
  #isUseless(): boolean {
    return this.#idlePasses > 1 && this.#isIdle()
  }

  #hasReported(): boolean {
    return existsSync(this.#reportedFile)
  }

  #isIdle(): boolean {
    return this.#sessions === 0 && !this.#hasReported()
  }

  /** For how long it has reported nothing, whether or not it was started again meanwhile. */
  #silentMs(): number {
    const lastMs = this.#hasReported() ? statSync(this.#reportedFile).mtimeMs : this.#startMs
    return Math.max(0, Math.round(Date.now() - lastMs))
  }
}

function removeFolder(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true })
  } catch {
    // A browser that the plan started itself still writes there; all of it is removed at the end of the test.
  }
}

/** False if the test ended meanwhile. */
async function waits(ms: number, signal: AbortSignal): Promise<boolean> {
  if (ms > 0) await sleep(ms, undefined, { signal }).catch(() => undefined)
  return !signal.aborted
}
