// Gates one after the other through the code of the command line, in one process and without its pauses between two looks at a run.
// Options come as JSON; one line of JSON goes out for each gate.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { createFindFiles } from '../../../src/gate/github/runner-files.ts'
import { runCommandLine } from '../../../src/cli/commands.ts'

/** Pauses between two looks are cut short, but no deadline is. */
const SHORT_PAUSE_MS = 20
const LONGEST_POLL_MS = 15_000
const hurry = (ms) => (ms > LONGEST_POLL_MS ? ms : Math.min(ms, SHORT_PAUSE_MS))
const { url, token, folder, gates } = JSON.parse(process.argv[2])
const writeOut = process.stdout.write.bind(process.stdout)
process.stdout.write = () => true

for (const { name, flags } of gates) {
  const workspace = join(folder, `gate-${name}`)
  mkdirSync(workspace, { recursive: true })
  writeFileSync(join(workspace, 'plan.jmx'), '<HTTPSamplerProxy testname="home" enabled="true"/>')
  let text = ''
  const stream = { write: (words) => (text += words), isTTY: false, columns: 80 }
  const ports = {
    screen: { out: stream, err: stream },
    cancelled: new AbortController().signal,
    workspace,
    isUnicode: true,
    token,
    baseUrl: url,
    platform: process.platform,
    version: '0.0.0',
    findFiles: createFindFiles,
    clock: {
      now: () => Date.now(),
      sleep: (ms, signal) => pause(hurry(ms), undefined, { signal })
    }
  }
  const args = [
    'run',
    '--files',
    'plan.jmx',
    '--name',
    name,
    '--tags',
    `gate-${name}`,
    '--output',
    'out',
    ...flags
  ]
  const code = await runCommandLine(args, ports).catch((thrown) => {
    text += String(thrown?.stack ?? thrown)
    return 2
  })
  writeOut(`${JSON.stringify({ name, code, text })}\n`)
}
