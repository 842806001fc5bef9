// A process beside the service: `service` has the folder as a service has it, `lock` the right to write for a second, `hold` until its
// input ends.
import { writeSync } from 'node:fs'
import { setInterval, setTimeout } from 'node:timers'
import { openDatabase } from '../../../src/service/store/database.ts'
import { openStore } from '../../../src/service/serve.ts'

const [, , what, dataDir] = process.argv
if (what === 'service') {
  const store = openStore(dataDir, { log: () => undefined })
  store.claim()
  writeSync(1, `${process.pid}\n`)
  // A store that nothing refers to is collected, and its lock with it.
  setInterval(() => store, 1000)
} else {
  const database = openDatabase(dataDir)
  database.exec('BEGIN IMMEDIATE')
  writeSync(1, 'locked\n')
  const release = () => {
    database.exec('COMMIT')
    database.close()
  }
  if (what === 'lock') setTimeout(release, 1000)
  else process.stdin.on('end', release).resume()
}
