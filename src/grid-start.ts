import { listenForSignals } from './gate/cancellation.js'
import { messageOf } from './gate/errors.js'
import { readGridStartSettings } from './gate/grids/grid-settings.js'
import { startGrids } from './gate/grids/start-grids.js'
import { maskToken } from './gate/settings/mask-token.js'
import { catchStrayErrors } from './gate/stray-errors.js'
import { createLog } from './github/log.js'
import { takeOverOutput } from './github/runner-output.js'
import * as step from './github/step.js'
import { systemClock } from './service/clock.js'

// The action grid-start. Its post step is that of the gate: the saved state says which grids to terminate.
const log = createLog()
// The reader may have gone; the grids are still terminated.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
takeOverOutput(log)
catchStrayErrors((thrown) => {
  step.failStep(`grid-start failed: ${messageOf(thrown)}. The post step terminates what was created.`)
  process.exit(1)
})

try {
  maskToken(step, step.readInput('token'))
  const cancelled = listenForSignals(() => process.exit(130))
  await startGrids({ ...step, log, clock: systemClock, cancelled }, readGridStartSettings(step.readInput))
} catch (thrown) {
  step.failStep(messageOf(thrown))
}
process.exit()
