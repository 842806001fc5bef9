import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { describeExit } from '../../lines.js'
import { readAllProcStats, withDescendants } from '../../proc-stat.js'
import type { BrowserKind } from './order.js'

export interface Driver {
  readonly port: number
  readonly agent: Agent
  /** Notes the browser's processes: those of a start script can outlive it and the driver. */
  noteBrowser(): void
  /** How it ended, in its own words; undefined while it runs. */
  lastWords(): string | undefined
  stop(): void
}

const START_TIMEOUT_MS = 30_000
const KEPT_CHARACTERS = 4000

const KINDS: Readonly<Record<BrowserKind, { args: readonly string[]; ready: RegExp }>> = {
  chrome: { args: ['--port=0'], ready: /started successfully on port (\d+)/ },
  // Port 0 twice: two drivers with the same one for websockets do not start.
  firefox: { args: ['--port', '0', '--websocket-port', '0'], ready: /Listening on [^\s:]+:(\d+)/ }
}

interface DriverOptions {
  readonly browser: BrowserKind
  readonly file: string
  readonly tempDir: string
}

/** ChromeDriver wants the same port for both versions of IP, and the one that it got may be taken for the other. */
const PORT_TAKEN = /port not available|bind\(\) failed/i
const ATTEMPTS = 3

/** Starts a driver with a home folder of its own, in this process's group, so that nothing can outlive that. */
export async function startDriver(options: DriverOptions): Promise<Driver> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await tryToStart(options)
    } catch (thrown) {
      if (attempt === ATTEMPTS || !(thrown instanceof Error) || !PORT_TAKEN.test(thrown.message)) throw thrown
    }
  }
}

async function tryToStart(options: DriverOptions): Promise<Driver> {
  const { args, ready } = KINDS[options.browser]
  const home = mkdtempSync(join(options.tempDir, 'home-'))
  const child = spawn(options.file, args, { env: driverEnvironment(home), stdio: ['ignore', 'pipe', 'pipe'] })
  let output = ''
  let known: readonly ProcessEntry[] = []
  const note = (): void => {
    known = [...known, ...readTree(child.pid ?? -1)]
  }
  const stop = (): void => {
    note()
    killTrees(known)
    rmSync(home, { recursive: true, force: true, maxRetries: 3 })
  }
  try {
    const port = await awaitPort(child, (chunk) => {
      output = (output + chunk).slice(-KEPT_CHARACTERS)
      return ready.exec(output)?.[1]
    })
    const lastWords = (): string | undefined => {
      const isRunning = child.exitCode === null && child.signalCode === null
      return isRunning ? undefined : `${describeEnd(child)}: ${output.trim().slice(-500)}`
    }
    return { port, agent: new Agent({ keepAlive: true }), noteBrowser: note, lastWords, stop }
  } catch (thrown) {
    stop()
    throw thrown
  }
}

function driverEnvironment(home: string): NodeJS.ProcessEnv {
  return {
    ...process.env,
    // A browser refuses a home folder of another user, and leaves its files there.
    ...{ HOME: home, TMPDIR: home, XDG_CONFIG_HOME: home, XDG_CACHE_HOME: home, XDG_RUNTIME_DIR: home },
    ...{ MOZ_HEADLESS: '1', MOZ_CRASHREPORTER_DISABLE: '1', DBUS_SESSION_BUS_ADDRESS: 'disabled:' }
  }
}

function awaitPort(child: ChildProcess, find: (chunk: string) => string | undefined): Promise<number> {
  return new Promise((resolve, reject) => {
    let said = ''
    const fail = (what: string): void => {
      clearTimeout(timer)
      reject(new Error(`${child.spawnfile} ${what}${said && `: ${said.trim()}`}`))
    }
    const timer = setTimeout(
      () => fail(`did not start within ${START_TIMEOUT_MS / 1000} s`),
      START_TIMEOUT_MS
    )
    const look = (chunk: Buffer): void => {
      said = (said + chunk.toString()).slice(-500)
      const port = find(chunk.toString())
      if (port === undefined) return
      clearTimeout(timer)
      resolve(Number(port))
    }
    child.stdout?.on('data', look)
    child.stderr?.on('data', look)
    child.once('error', (thrown) => fail(`cannot be started (${thrown.message})`))
    child.once('close', () => fail(`did not start, ${describeEnd(child)}`))
  })
}

function describeEnd({ exitCode, signalCode }: ChildProcess): string {
  return describeExit({ code: exitCode, signal: signalCode })
}

/** A process, distinguishable from a later one with the same id. */
interface ProcessEntry {
  readonly pid: number
  readonly parent: number
  readonly group: number
  readonly start: string
}

/** A process and everything below it, at this moment. */
function readTree(root: number): ProcessEntry[] {
  const table = readProcessTable()
  const own = table.filter(({ pid }) => pid === root)
  return withDescendants(own, table)
}

/** Ends processes of this process's own group, as far as they still run, and everything below them, at once. */
function killTrees(known: readonly ProcessEntry[]): void {
  const table = readProcessTable()
  const group = table.find(({ pid }) => pid === process.pid)?.group
  const alive = table.filter((entry) =>
    known.some(({ pid, start }) => pid === entry.pid && start === entry.start)
  )
  for (const entry of withDescendants(alive, table)) if (entry.group === group) kill(entry.pid)
}

/** Ends every other process of the group that this process leads; a shell's group is not ours to end. */
export function killRestOfGroup(): void {
  for (const { pid, group } of readProcessTable()) if (group === process.pid && pid !== process.pid) kill(pid)
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // It has ended.
  }
}

function readProcessTable(): ProcessEntry[] {
  // Small containers have no ps, macOS has no /proc.
  if (process.platform !== 'linux') return readPs()
  return readAllProcStats()
    .filter(({ state }) => state !== 'Z')
    .map(({ pid, parent, groupId: group, startTicks }) => ({ pid, parent, group, start: `${startTicks}` }))
}

function readPs(): ProcessEntry[] {
  const text = execFileSync('ps', ['-A', '-o', 'pid=,ppid=,pgid=,lstart='], { encoding: 'utf8' })
  return text
    .trim()
    .split('\n')
    .map((line) => line.trim().split(/\s+/))
    .map(([pid, parent, group, ...start]) => ({
      ...{ pid: Number(pid), parent: Number(parent), group: Number(group), start: start.join(' ') }
    }))
}
