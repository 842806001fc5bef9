import { createWriteStream, mkdtempSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { ORDER_VARIABLE, writeFacts, type K6Order } from './order.js'
import { runK6 } from './run-k6.js'

const order = JSON.parse(process.env[ORDER_VARIABLE] ?? '') as K6Order
// The script has its own variables.
Reflect.deleteProperty(process.env, ORDER_VARIABLE)
const ending = new AbortController()
// A stop is for the whole process group. k6 ends its iterations and writes what it has; this process reads that, and ends after it.
for (const name of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(name, () => ending.abort())
// In the node's own folder, which is removed with the run, even if this process is killed.
const tempDir = mkdtempSync(join(dirname(order.script), '.loadgate-'))
const logFile = createWriteStream(order.logFile, { flags: 'a' })
// The disk may be full; the samples say so too.
logFile.on('error', () => undefined)
const log = (line: string): void => {
  logFile.write(`${new Date().toISOString()} ${line}\n`)
  process.stdout.write(`${line.replace(/[\r\n]+/g, ' ')}\n`)
}
try {
  const facts = await runK6(order, { env: process.env, signal: ending.signal, tempDir, log })
  for (const fact of writeFacts(facts)) process.stdout.write(`${order.word} ${fact}\n`)
} finally {
  rmSync(tempDir, { recursive: true, force: true, maxRetries: 5 })
  logFile.end()
}
