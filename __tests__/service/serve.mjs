// A service in its own process, to be killed: options come as JSON, the address and the token go out as JSON.
import { startService } from '../../src/service/server.ts'
import { openStore } from '../../src/service/serve.ts'
import { Queue } from '../../src/service/queue/queue.ts'
import { systemClock } from '../../src/contract/clock.ts'
import { reading } from '../../src/service/plans/ask.ts'
import { createSurvivingPlaces } from '../support/surviving-place.ts'

// As in the bundles, plans are read in a thread.
reading.url = new URL('../../src/service/plans/plan-worker.ts', import.meta.url)
const { surviving, maxNodes, ...options } = JSON.parse(process.argv[2])
const log = (line) => process.stdout.write(`${JSON.stringify({ line })}\n`)
const service = await startService({
  ...options,
  store: openStore(options.dataDir, { log }),
  ...(surviving && { places: createSurvivingPlaces(surviving) }),
  ...(maxNodes && {
    queue: (placeOf) => new Queue({ maxNodes, placeOf, cores: 1, clock: systemClock, log })
  }),
  log,
  onProcess: (group) => process.stdout.write(`${JSON.stringify({ group })}\n`)
})
process.stdout.write(`${JSON.stringify({ url: service.url, token: service.token })}\n`)
process.once('SIGTERM', () => void service.close())
