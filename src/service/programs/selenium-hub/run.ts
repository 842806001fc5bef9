import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startDriver } from './driver.js'
import { startHub } from './hub.js'
import { onOneLine, RunState, writeStandIns } from './run-state.js'
import { FACTS_LINE, FAILURE_LINE, type RunFacts, type SeleniumOrder, type UserFailure } from './order.js'
import { STEPS_HEADER } from '../../../contract/sample-row.js'
import { runUser, type UserEnd } from './users.js'

/** Of users in one line. */
const MAX_LISTED = 100

/** Runs all users of a node to the end of the test, or until the signal. */
export async function runUsers(
  order: SeleniumOrder,
  {
    signal,
    tempDir,
    ...out
  }: {
    signal: AbortSignal
    /** Empty, and removed by the caller. */
    tempDir: string
    log: (line: string) => void
    tell: (line: string) => void
  }
): Promise<void> {
  const state = new RunState(join(tempDir, 'state'), order.durationMs)
  // One header, whichever user is first.
  writeFileSync(order.samplesFile, STEPS_HEADER)
  const say = (user: number, line: string): void => out.log(`user ${user}: ${line}`)
  const tell = (line: string): void => out.tell(`${order.word} ${line}`)
  const ports = {
    ...{ order, state, tempDir, say, signal },
    standIns: writeStandIns(tempDir, order.browser),
    startHub: (user: number, events: { onSession: () => void; onPassEnd: () => void }) =>
      startHub({
        choice: order,
        startDriver: () => startDriver({ browser: order.browser, file: order.driverFile, tempDir }),
        ...events,
        log: (line) => say(user, line),
        isEnding: () => signal.aborted
      })
  }
  const users = Array.from({ length: order.users }, (_, index) => index + 1)
  const ends = await Promise.all(
    users.map(async (user) => {
      const end = await runUser(user, ports)
      if (end.failure) tell(`${FAILURE_LINE}${describeFailure(end.failure)}`)
      return end
    })
  )
  tell(`${FACTS_LINE}${JSON.stringify(factsOf(ends))}`)
}

/** Escapes would make it longer than a line may be. */
function describeFailure({ user, words }: UserFailure): string {
  return JSON.stringify({ user, words: words.split('\n').map(onOneLine).join('\n') })
}

function factsOf(ends: readonly UserEnd[]): RunFacts {
  const stopped = ends.flatMap((end) => end.stopped ?? []).sort((a, b) => b.silentMs - a.silentMs)
  return {
    sessions: ends.reduce((sum, end) => sum + end.sessions, 0),
    stopped: stopped.slice(0, MAX_LISTED),
    withoutBrowser: ends.flatMap((end, index) => (end.sessions === 0 ? [index + 1] : [])).slice(0, MAX_LISTED)
  }
}
