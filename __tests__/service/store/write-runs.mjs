// Writes runs until it is killed: each line names what the store has taken.
import { createId } from '../../../src/service/store/data-folder.ts'
import { openStore } from '../../../src/service/serve.ts'
import { makeGrid, makeRun } from './records.ts'
import { writeSync } from 'node:fs'

const store = openStore(process.argv[2], { log: (line) => process.stderr.write(`${line}\n`) })
for (;;) {
  const batchId = createId()
  const grid = makeGrid({ batchId, status: 'stopped' })
  const run = makeRun({ batchId, sequence: store.nextSequence(), gridIds: [grid.id] })
  store.create({ run, grids: [grid] })
  writeSync(1, `${run.id} queued\n`)
  run.status = 'finished'
  store.saveRun(run)
  store.flush()
  writeSync(1, `${run.id} finished\n`)
}
