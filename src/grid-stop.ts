import { listenForSignals } from './gate/cancellation.js'
import { messageOf } from './gate/errors.js'
import { readGridStopSettings } from './gate/grids/grid-settings.js'
import { stopGrids } from './gate/grids/stop-grids.js'
import { maskToken } from './gate/settings/mask-token.js'
import { catchStrayErrors } from './gate/stray-errors.js'
import { createLog } from './github/log.js'
import { takeOverOutput } from './github/runner-output.js'
import * as step from './github/step.js'
import { systemClock } from './service/clock.js'

// The action grid-stop.
const log = createLog()
// The reader may have gone; the grids are still terminated.
for (const stream of [process.stdout, process.stderr]) stream.on('error', () => undefined)
takeOverOutput(log)
catchStrayErrors((thrown) => {
  step.failStep(
    `grid-stop failed: ${messageOf(thrown)}. The grids may still be running; terminate them on the service.`
  )
  process.exit(1)
})

try {
  maskToken(step, step.readInput('token'))
  const cancelled = listenForSignals(() => process.exit(130))
  await stopGrids({ log, clock: systemClock, cancelled }, readGridStopSettings(step.readInput))
} catch (thrown) {
  step.failStep(messageOf(thrown))
}
process.exit()
