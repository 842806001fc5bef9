import { createWriteStream } from 'node:fs'
import { standInForDriver } from './driver-stand-in.js'
import { ORDER_VARIABLE, type SeleniumOrder } from './order.js'
import { killRestOfGroup } from './process-table.js'
import { runUsers } from './run.js'

const [mode, ...args] = process.argv.slice(2)
if (mode === 'driver') standInForDriver(args, Number(process.env.WEBDRIVER_PORT))
else await main()

async function main(): Promise<void> {
  const order = JSON.parse(process.env[ORDER_VARIABLE] ?? '') as SeleniumOrder
  // The plan has its own part of it.
  Reflect.deleteProperty(process.env, ORDER_VARIABLE)
  const ending = new AbortController()
  for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => ending.abort())
  const logFile = createWriteStream(order.logFile, { flags: 'a' })
  // The disk may be full; the samples say so too.
  logFile.on('error', () => undefined)
  const tell = (line: string): void => void process.stdout.write(`${line}\n`)
  const log = (line: string): void => {
    logFile.write(`${new Date().toISOString()} ${line}\n`)
    tell(line)
  }
  try {
    await runUsers(order, { signal: ending.signal, log, tell })
  } finally {
    killRestOfGroup()
    logFile.end()
  }
}
