import { cleanUpStep } from './gate/clean-up-step.js'
import { maskToken } from './gate/mask-token.js'
import { messageOf } from './gate/trouble.js'
import { createLog } from './github/log.js'
import * as step from './github/step.js'
import { systemClock } from './service/clock.js'

const log = createLog()
// Whoever read this may have gone; what is left is cleaned up all the same.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)

try {
  // From the saved state alone: the inputs of a post step are not to be relied on.
  const state = step.loadState()
  if (state !== undefined) {
    maskToken(step, state.token)
    await cleanUpStep(state, {
      log,
      clock: systemClock,
      endProcessGroup: async (group) => (await import('./local/processes.js')).endLeftoverGroup(group)
    })
  }
} catch (thrown) {
  log.warning(`The clean-up did not come to its end: ${messageOf(thrown)}`)
}
process.exit(0)
