import { cleanUpStep } from './gate/cleanup/post-step.js'
import { maskToken } from './gate/settings/mask-token.js'
import { catchStrayErrors } from './gate/stray-errors.js'
import { messageOf } from './gate/errors.js'
import { createLog } from './github/log.js'
import { takeOverOutput } from './github/runner-output.js'
import * as step from './github/step.js'
import { systemClock } from './service/clock.js'

const log = createLog()
// The reader may have gone; the clean-up still happens.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
takeOverOutput(log)
catchStrayErrors((thrown) => {
  giveUp(thrown)
  process.exit(0)
})

try {
  // From the saved state alone: the inputs of a post step are unreliable.
  const state = step.loadState()
  if (state !== undefined) {
    maskToken(step, state.token)
    await cleanUpStep(state, {
      log,
      clock: systemClock,
      endProcessGroup: async (group) =>
        (await import('./server/nodes/machine/processes.js')).endLeftoverGroup(group),
      deletePods: async (address, marker, options) => {
        const { reopenCluster } = await import('./server/nodes/kubernetes/open-cluster.js')
        const { deleteMarked } = await import('./server/nodes/pods/start/remove-jobs.js')
        const { systemClock: clock } = await import('./server/clock.js')
        return deleteMarked(marker, { ...options, clock, cluster: await reopenCluster(address, process.env) })
      }
    })
  }
} catch (thrown) {
  giveUp(thrown)
}
process.exit(0)

function giveUp(thrown: unknown): void {
  log.warning(`The clean-up did not finish: ${messageOf(thrown)}`)
}
