import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { dirname, join, resolve } from 'node:path'
import { listenForSignals } from './gate/cancellation.js'
import type { ProcessGroup } from './gate/step-state.js'
import { messageOf } from './gate/trouble.js'
import type { LocalService } from './gate/workbench.js'
import { createFindFiles } from './github/find-files.js'
import type { ServiceOptions } from './local/server.js'
import { runCommandLine } from './terminal/commands.js'
import type { World } from './terminal/commands.js'
import { plain, strikeOut } from './terminal/screen.js'

// This file runs as dist/cli/index.js.
const root = resolve(dirname(process.argv[1] ?? ''), '../..')
const token = process.env.LOADGATE_TOKEN ?? ''
const { JAVA_HOME } = process.env
const java = JAVA_HOME ? join(JAVA_HOME, 'bin', 'java') : 'java'

// The toolkit, which finds the files, speaks to a runner on standard output. Here people and scripts read it.
const writeOut = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true
// Whoever read this may have gone (`| head`); the work, and the end of its processes, go on.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

/** Set while there may be tools of the embedded service: the second signal leaves no time for a regular end. */
let killTools = (): void => undefined

const world: World = {
  screen: {
    out: {
      write: (text) => writeOut(text),
      isTTY: process.stdout.isTTY,
      get columns() {
        return process.stdout.columns
      }
    },
    err: process.stderr
  },
  cancelled: listenForSignals(() => {
    killTools()
    process.exit(130)
  }),
  workspace: process.cwd(),
  token,
  platform: process.platform,
  get version() {
    return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version
  },
  exampleDir: join(root, 'examples/shop'),
  findFiles: createFindFiles,
  hasJava: () => new Promise((done) => execFile(java, ['-version'], (error) => done(error === null))),
  startShop: async (slow) => (await import('./local/demo-shop.js')).startShop({ slow }),
  startLocalService: async ({ dataDir, rehearse, serviceName, onProcessGroup, log }) => {
    const service = await startService({
      dataDir,
      engine: rehearse ? 'rehearsal' : 'jmeter',
      log,
      onProcess: onProcessGroup,
      ...(serviceName !== undefined && { serviceName })
    })
    return {
      ...service,
      // What is worth keeping was collected; the service's own copy would be a second one.
      close: async () => {
        await service.close()
        await rm(dataDir, { recursive: true, force: true })
      }
    }
  },
  serve: ({ dataDir, port, token, rehearse, serviceName, log }) =>
    startService({
      dataDir,
      port,
      engine: rehearse ? 'rehearsal' : 'jmeter',
      log,
      pages: () => import('./report/served-pages.js'),
      ...(token !== undefined && { token }),
      ...(serviceName !== undefined && { serviceName })
    })
}

async function startService(options: ServiceOptions): Promise<LocalService> {
  const { startService } = await import('./local/server.js')
  const { readStartTime } = await import('./local/processes.js')
  const groups: ProcessGroup[] = []
  killTools = () => {
    for (const { pid, startTime } of groups) {
      // The first signal may have ended the group's leader alone; another process may have its number by now.
      if ((readStartTime(pid) ?? startTime) === startTime) killGroup(pid)
    }
  }
  return startService({
    ...options,
    onProcess: (group) => {
      groups.push(group)
      options.onProcess?.(group)
    }
  })
}

function killGroup(pid: number): void {
  try {
    process.kill(-pid, 'SIGKILL')
  } catch {
    // It ended by itself.
  }
}

try {
  process.exitCode = await runCommandLine(process.argv.slice(2), world)
} catch (thrown) {
  process.stderr.write(`loadgate: ${strikeOut(plain(messageOf(thrown)), [token])}\n`)
  process.exitCode = 2
}
// Sockets of libraries may still be open; everything is said.
writeOut('', () => process.exit())
