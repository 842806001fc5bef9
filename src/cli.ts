#!/usr/bin/env node
// First: the others read variables.
import './cli/clean-start.js'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { listenForSignals, CancelledError, catchStrayErrors } from './gate/errors.js'
import type { ProcessGroup } from './contract/records.js'
import { messageOf } from './contract/text.js'
import { createFindFiles } from './gate/github/runner-files.js'
import { defuse } from './gate/github/log.js'
import { readStartTime } from './service/nodes/machine/processes.js'
import { ToolRegistry } from './service/nodes/machine/tool-registry.js'
import type { EmbeddedService, ServiceOptions } from './service/server.js'
import { runCommandLine } from './cli/commands.js'
import { IdTokenFile } from './cli/id-token-file.js'
import type { CommandPorts } from './cli/ports.js'
import { asksForJson, describeError, describeLeftPods, watchOutput } from './cli/terminal-log.js'
import { openPrompt } from './cli/init/asker.js'
import { plain, secretsOf, strikeOut, type Stream } from './cli/screen.js'

// This file runs as dist/cli/index.js. The path that was typed may be a link: npm puts one into node_modules/.bin.
const root = join(dirname(fileURLToPath(import.meta.url)), '../..')
/** Most commands need no service. */
const loadService = () => import('./service/embedded-service.js')
const token = process.env.LOADGATE_TOKEN ?? ''
const { LOADGATE_ID_TOKEN_FILE: idTokenFile = '' } = process.env
const idTokens = idTokenFile === '' ? undefined : new IdTokenFile(idTokenFile)
const baseUrl = (process.env.LOADGATE_BASE_URL ?? '').trim()
const { JAVA_HOME } = process.env
const java = JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java'

// The toolkit, which finds files, talks to a runner on standard output, but here people and scripts read it. Other
// libraries, and Node with its warnings, print what they like: only this command's own output is shown.
const writeOut = process.stdout.write.bind(process.stdout)
const writeErr = process.stderr.write.bind(process.stderr)
for (const stream of [process.stdout, process.stderr]) stream.write = () => true
process.removeAllListeners('warning')
// Nobody is left to tell of an error of standard error.
process.stderr.on('error', () => undefined)
const output = watchOutput(process.stdout, (words) => tellError(new Error(words)))

/** In a workflow step the runner reads both streams for commands, as it does for the action. */
function guard(text: string): string {
  if (process.env.GITHUB_ACTIONS !== 'true') return text
  // No line of JSON starts a command; inside JSON the old command syntax is escaped and means the same.
  return /^\s*[[{]/.test(text) ? text.replace(/##(?=\[)/g, '#\\u0023') : defuse(text)
}

/** With --json, standard output has the result or an error, as one document. */
const isJson = asksForJson(process.argv.slice(2))
let hasPrinted = false

/** Set while tools of the embedded service may be running: the second signal leaves no time for a regular end. */
let killTools = (): void => undefined
/** What to say about them if the process ends before they are deleted. */
let leftPods: string | undefined

/** The verdict does not wait for a service that is slow to close; this process does, for a while: no post step deletes its pods. */
let closing: Promise<void> = Promise.resolve()
const LONGEST_CLOSE_MS = 60_000

/** Set when its orphans have been looked for, so that a service does not look again. */
let registry: ServiceOptions['registry']

/** There is no post step here: the command stops what it started, as after a signal, and then exits. */
const strayError = new AbortController()
const LONGEST_STRAY_END_MS = 30_000
catchStrayErrors((thrown) => {
  tellError(thrown)
  if (strayError.signal.aborted) endNow(thrown, 2)
  strayError.abort(thrown instanceof Error ? thrown : new Error(messageOf(thrown)))
  setTimeout(() => endNow(thrown, 2), LONGEST_STRAY_END_MS).unref()
})

const ports: CommandPorts = {
  screen: {
    out: streamOf(process.stdout, (text) => {
      hasPrinted = true
      return writeOut(guard(text))
    }),
    err: streamOf(process.stderr, (text) => writeErr(guard(text)))
  },
  cancelled: AbortSignal.any([
    listenForSignals(() => endNow(new CancelledError('a second signal'), 130)),
    strayError.signal
  ]),
  workspace: process.cwd(),
  variables: process.env,
  isUnicode: showsUnicode(process.env),
  token,
  idTokens,
  baseUrl,
  platform: process.platform,
  get version() {
    return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
  },
  examplesDir: join(root, 'examples'),
  openPrompt: () => (process.stdin.isTTY && process.stdout.isTTY ? openPrompt(process.stdin) : undefined),
  findFiles: createFindFiles,
  hasJava: () => new Promise((done) => execFile(java, ['-version'], (error) => done(error === null))),
  hasK6: () =>
    new Promise((done) =>
      execFile(process.env.K6 ? resolve(process.env.K6) : 'k6', ['version'], (error) => done(error === null))
    ),
  startShop: async (options) => (await loadService()).startShop(options),
  startLocalService: async ({ dataDir, rehearse, serviceName, onProcessGroup, log, progress, regions }) => {
    const { places, ...clusters } = regions ?? {}
    const service = await startService({
      dataDir,
      engine: rehearse ? 'rehearsal' : 'real',
      log,
      progress,
      onProcess: onProcessGroup,
      ...(serviceName !== undefined && { serviceName }),
      regions: places,
      ...clusters
    })
    return (await loadService()).discardOnClose(service, dataDir)
  },
  prune: async ({ dataDir, ...request }) =>
    (await loadService()).pruneBeside(dataDir, { ...request, nowMs: Date.now() }),
  openQueue: async (dataDir) =>
    (await loadService()).openQueue(dataDir, (line) => writeErr(guard(`${plain(line)}\n`))),
  openUsers: async (dataDir) =>
    (await loadService()).openUsers(dataDir, (line) => writeErr(guard(`${plain(line)}\n`))),
  serve: async (request) =>
    (await loadService()).serve(request, {
      start: startService,
      pages: async () => (await loadService()).servedPages
    })
}

function streamOf(stream: NodeJS.WriteStream, write: Stream['write']): Stream {
  return {
    write,
    isTTY: stream.isTTY,
    get columns() {
      return stream.columns
    }
  }
}

/** As the locale says; Windows has none, and its newer terminal shows everything. */
function showsUnicode({ LC_ALL, LC_CTYPE, LANG, WT_SESSION }: NodeJS.ProcessEnv): boolean {
  return WT_SESSION !== undefined || /utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find((value) => value) ?? '')
}

async function startService(options: ServiceOptions): Promise<EmbeddedService> {
  const { startService } = await loadService()
  const groups: ProcessGroup[] = []
  killTools = () => {
    for (const { pid, startTime } of groups) {
      // The first signal may have ended only the group's leader; another process may have its id by now.
      if ((readStartTime(pid) ?? startTime) === startTime) killGroup(pid)
    }
  }
  const service = await startService({
    ...options,
    ...(registry && { registry }),
    onProcess: (group) => {
      groups.push(group)
      options.onProcess?.(group)
    },
    onClusters: (addresses) => {
      leftPods = describeLeftPods(addresses, options.marker)
      options.onClusters?.(addresses)
    }
  })
  return {
    ...service,
    close: (end) => {
      const closed = service.close(end).then(() => {
        leftPods = undefined
      })
      closing = closed.catch(() => undefined)
      return closed
    }
  }
}

/** Leaves no time for a regular end. */
function endNow(thrown: unknown, code: number): never {
  killTools()
  tellLeftPods()
  printError(thrown)
  process.exit(code)
}

function tellLeftPods(): void {
  if (leftPods !== undefined) tellError(new Error(leftPods))
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It has exited already.
  }
}

function tellError(thrown: unknown): void {
  writeErr(guard(`loadgate: ${strikeOut(plain(messageOf(thrown)), secretsOf({ token, idTokens }))}\n`))
}

/** For a script that reads standard output; people read the same on standard error. */
function printError(thrown: unknown): void {
  if (!isJson || hasPrinted) return
  hasPrinted = true
  writeOut(guard(describeError(thrown, secretsOf({ token, idTokens }))))
}

/** Before any command: ends what a killed command left running against a target. */
async function endOrphans(): Promise<void> {
  const opened = ToolRegistry.open(process.env, (line) => writeErr(guard(`${plain(line)}\n`)))
  await opened.endOrphans()
  registry = opened
}

try {
  await endOrphans()
  const code = await runCommandLine(process.argv.slice(2), ports)
  process.exitCode = strayError.signal.aborted ? 2 : code
  if (code !== 0)
    printError(
      code === 130
        ? new CancelledError('a signal')
        : new Error('the command ended without a result; see standard error')
    )
  await Promise.race([closing, new Promise((resolve) => setTimeout(resolve, LONGEST_CLOSE_MS))])
  tellLeftPods()
} catch (thrown) {
  tellError(thrown)
  printError(thrown)
  process.exitCode = 2
}
// Sockets of libraries may still be open; everything is said.
writeOut('', () =>
  // The error of a write comes just behind it.
  setImmediate(() => {
    if (output.isLost() && process.exitCode === 0) process.exitCode = 2
    process.exit()
  })
)
