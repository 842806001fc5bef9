import { afterAll, expect, test } from '@jest/globals'
import { SampleCount } from '../../../src/service/metrics/samples.js'
import { watchRuns } from '../../../src/service/metrics/metrics.js'
import { openStore } from '../../../src/service/serve.js'
import { systemClock } from '../../../src/contract/clock.js'
import { createFolders, createServices, finishRun, until } from '../support.js'

const services = createServices()
const folders = createFolders()
afterAll(async () => {
  await services.closeAll()
  folders.remove()
})

test('the samples of all runs are counted, each once, and no run is remembered for ever', async () => {
  const dataDir = folders.create()
  const store = openStore(dataDir, { log: () => undefined, clock: systemClock })
  const samples = new SampleCount(store)
  const ended: string[] = []
  watchRuns(store, {
    onSave: (run) => samples.note(run),
    onEnd: ({ id }) => void ended.push(id),
    onSettled: (run) => samples.forget(run)
  })
  const service = await services.start({ dataDir, store })
  let expected = 0
  for (let count = 1; count <= 3; count++) {
    const { json } = await finishRun(service)
    await until(() => store.run(json.uuid)?.samples != null)
    const run = store.run(json.uuid)!
    expected += run.samples!
    expect([await samples.total(), samples.size, ended.length]).toEqual([expected, 0, count])
    // Something of it is changed later, such as its thresholds.
    store.saveRun({ ...run, thresholds: { text: 'p95 < 1s' } })
    expect([await samples.total(), samples.size, ended.length]).toEqual([expected, 0, count])
  }
  expect(expected).toBeGreaterThan(0)
})
