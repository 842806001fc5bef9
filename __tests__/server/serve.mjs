// A service in its own process, to be killed: options come as JSON, the address and the token go out as JSON.
import { startService } from '../../src/server/server.ts'
import { openStore } from '../../src/server/store/open-store.ts'
import { createSurvivingPlaces } from '../support/surviving-place.ts'

const { surviving, ...options } = JSON.parse(process.argv[2])
const log = (line) => process.stdout.write(`${JSON.stringify({ line })}\n`)
const service = await startService({
  ...options,
  store: openStore(options.dataDir, { log }),
  ...(surviving && { places: createSurvivingPlaces(surviving) }),
  log,
  onProcess: (group) => process.stdout.write(`${JSON.stringify({ group })}\n`)
})
process.stdout.write(`${JSON.stringify({ url: service.url, token: service.token })}\n`)
process.once('SIGTERM', () => void service.close())
