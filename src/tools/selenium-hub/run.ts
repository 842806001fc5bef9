import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startDriver } from './driver.js'
import { startHub } from './hub.js'
import { FACTS_LINE, FAILURE_LINE, type RunFacts, type SeleniumOrder } from './order.js'
import { RunState } from './run-state.js'
import { runUser, type UserEnd } from './users.js'

/** The last one: the step whose page a row describes; such a row counts for its own label only. */
const HEADER =
  'timeStamp,elapsed,label,responseCode,responseMessage,threadName,dataType,success,failureMessage,bytes,sentBytes,grpThreads,allThreads,URL,Latency,IdleTime,Connect,partOf\n'

/** Runs all users of a node to the end of the test, or until the signal. */
export async function runUsers(
  order: SeleniumOrder,
  { signal, log, tell }: { signal: AbortSignal; log: (line: string) => void; tell: (line: string) => void }
): Promise<void> {
  const tempDir = mkdtempSync(join(tmpdir(), 'loadgate-'))
  const state = new RunState(join(tempDir, 'state'), order.durationMs)
  let sessions = 0
  // One header, whichever user is first.
  writeFileSync(order.samplesFile, HEADER)
  const say = (user: number, line: string): void => log(`user ${user}: ${line}`)
  const ports = {
    ...{ order, state, tempDir, say, signal },
    driverStandIn: writeStandIn(tempDir),
    startHub: (user: number) =>
      startHub({
        choice: order,
        startDriver: () => startDriver({ browser: order.browser, file: order.driverFile, tempDir }),
        onSession: () => {
          sessions += 1
          state.startClock(Date.now())
        },
        log: (line) => say(user, line),
        isEnding: () => signal.aborted
      })
  }
  try {
    const users = Array.from({ length: order.users }, (_, index) => index + 1)
    const ends = await Promise.all(
      users.map(async (user) => {
        const end = await runUser(user, ports)
        if (end.failure) tell(`${FAILURE_LINE}${JSON.stringify(end.failure)}`)
        return end
      })
    )
    tell(`${FACTS_LINE}${JSON.stringify(factsOf(ends, sessions))}`)
  } finally {
    rmSync(tempDir, { recursive: true, force: true, maxRetries: 5 })
  }
}

function factsOf(ends: readonly UserEnd[], sessions: number): RunFacts {
  return { sessions, stopped: ends.flatMap(({ stopped }) => stopped ?? []) }
}

/** Selenium wants one executable file. The hub's port is in the environment of the script that starts it. */
function writeStandIn(tempDir: string): string {
  const file = join(tempDir, 'driver')
  const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`
  writeFileSync(
    file,
    `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(process.argv[1] ?? '')} driver "$@"\n`
  )
  chmodSync(file, 0o700)
  return file
}
