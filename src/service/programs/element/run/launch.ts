import childProcess from 'node:child_process'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { BrowserType, devices } from 'playwright-core'
import { messageOf } from '../../../../contract/text.js'
import { oneLine } from './rows.js'
import type { RunOrder } from './run-order.js'

export interface Library {
  readonly chromium: BrowserType
  readonly devices: typeof devices
}

const LAUNCH_MS = 30_000
const FLAGS = [
  // Containers and hosted runners lack what the sandbox and the GPU need, and often have a small /dev/shm.
  ...['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'],
  // Nothing but the plan's own traffic.
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--no-first-run']
]

/** `LOADGATE_NODE` marks every process of the node. */
const BROWSER_VARIABLES =
  /^(?:PATH|USER|LOGNAME|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|SSL_CERT_(?:FILE|DIR)|(?:https?|no)_proxy|(?:HTTPS?|NO)_PROXY|LOADGATE_NODE)$/

export function loadLibrary(modules: string): Library {
  keepInGroup()
  return createRequire(join(modules, 'index.js'))('playwright-core') as Library
}

export async function launch({ chromium }: Library, { browser, workDir }: RunOrder, more: readonly string[]) {
  try {
    return await chromium.launch({
      executablePath: browser,
      headless: true,
      timeout: LAUNCH_MS,
      args: [...FLAGS, ...more],
      // A kill of this process group ends the browser too, see below.
      ...{ handleSIGINT: false, handleSIGTERM: false, handleSIGHUP: false },
      env: browserEnvironment(process.env, workDir)
    })
  } catch (thrown) {
    throw new Error(`the browser ${browser} does not start: ${explain(thrown)}`, { cause: thrown })
  }
}

/** The script's variables, which may be secret or change a browser, are not for the browser. */
export function browserEnvironment(env: NodeJS.ProcessEnv, workDir: string): Record<string, string> {
  const allowed = Object.entries(env).filter(([name]) => BROWSER_VARIABLES.test(name))
  return {
    ...(Object.fromEntries(allowed) as Record<string, string>),
    ...{ HOME: workDir, XDG_CONFIG_HOME: workDir, XDG_CACHE_HOME: workDir },
    DBUS_SESSION_BUS_ADDRESS: 'disabled:'
  }
}

/** The library says what it tried, followed by the browser's own output. */
function explain(thrown: unknown): string {
  const text = messageOf(thrown)
  const own = [...text.matchAll(/\[(?:err|pid=\d+\]\[err)\] (.+)/g)].map(([, words = '']) => oneLine(words))
  return [oneLine(text), ...new Set(own.slice(0, 5))].join(' · ')
}

/** The library starts browsers in process groups of their own, where a kill of this one's group would not reach them. */
function keepInGroup(): void {
  const { spawn } = childProcess
  const inGroup = (file: string, args: readonly string[], options: childProcess.SpawnOptions) =>
    spawn(file, args, { ...options, detached: false })
  childProcess.spawn = inGroup as typeof spawn
}
