import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { standInForDriver } from './driver-stand-in.js'
import { type BrowserKind, ORDER_VARIABLE, type SeleniumOrder } from './order.js'
import { killRestOfGroup } from './driver.js'
import { onOneLine, runUsers } from './users.js'

const [mode, ...args] = process.argv.slice(2)
if (mode === 'driver') {
  const [browser = '', wanted = '', ...others] = args
  const kinds = { browser: browser as BrowserKind, wanted }
  standInForDriver(others, { hubPort: Number(process.env.WEBDRIVER_PORT), ...kinds })
} else await main()

async function main(): Promise<void> {
  const order = JSON.parse(process.env[ORDER_VARIABLE] ?? '') as SeleniumOrder
  // The plan has its own part of it.
  Reflect.deleteProperty(process.env, ORDER_VARIABLE)
  const ending = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => ending.abort())
  const tempDir = mkdtempSync(join(tmpdir(), 'loadgate-'))
  const leaveNothing = (): void => {
    killRestOfGroup()
    rmSync(tempDir, { recursive: true, force: true, maxRetries: 5 })
  }
  process.on('uncaughtException', (thrown) => {
    leaveNothing()
    process.stderr.write(`${thrown.stack ?? String(thrown)}\n`, () => process.exit(1))
  })
  const logFile = createWriteStream(order.logFile, { flags: 'a' })
  // The disk may be full; the samples say so too.
  logFile.on('error', () => undefined)
  const tell = (line: string): void => void process.stdout.write(`${line}\n`)
  const log = (text: string): void => {
    const line = onOneLine(text)
    logFile.write(`${new Date().toISOString()} ${line}\n`)
    tell(line)
  }
  try {
    await runUsers(order, { signal: ending.signal, tempDir, log, tell })
  } finally {
    leaveNothing()
    logFile.end()
  }
}
