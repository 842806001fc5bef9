import { execFile } from 'node:child_process'
import { dirname, resolve } from 'node:path'
import { listenForSignals } from './gate/cancellation.js'
import { messageOf } from './gate/trouble.js'
import { createFindFiles } from './github/find-files.js'
import { runCommandLine } from './terminal/commands.js'
import type { World } from './terminal/commands.js'
import { plain } from './terminal/screen.js'

const world: World = {
  screen: { out: process.stdout, err: process.stderr },
  cancelled: listenForSignals(() => process.exit(130)),
  workspace: process.cwd(),
  token: process.env.LOADGATE_TOKEN ?? '',
  platform: process.platform,
  version: '0.1.0',
  // This file runs as dist/cli/index.js.
  exampleDir: resolve(dirname(process.argv[1] ?? ''), '../../examples/shop'),
  findFiles: createFindFiles,
  hasJava: () => new Promise((done) => execFile('java', ['-version'], (error) => done(error === null))),
  startShop: async (slow) => (await import('./local/demo-shop.js')).startShop({ slow }),
  startLocalService: async ({ dataDir, rehearse, serviceName, onProcessGroup, log }) => {
    const { startService } = await import('./local/server.js')
    return startService({
      dataDir,
      engine: rehearse ? 'rehearsal' : 'jmeter',
      log,
      onProcess: onProcessGroup,
      ...(serviceName !== undefined && { serviceName })
    })
  },
  serve: async ({ dataDir, port, token, rehearse, serviceName, log }) => {
    const { startService } = await import('./local/server.js')
    return startService({
      dataDir,
      port,
      engine: rehearse ? 'rehearsal' : 'jmeter',
      log,
      ...(token !== undefined && { token }),
      ...(serviceName !== undefined && { serviceName })
    })
  }
}

try {
  process.exitCode = await runCommandLine(process.argv.slice(2), world)
} catch (thrown) {
  process.stderr.write(`loadgate: ${plain(messageOf(thrown))}\n`)
  process.exitCode = 2
}
// Sockets of libraries may still be open; everything is said.
process.stdout.write('', () => process.exit())
