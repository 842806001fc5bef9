import { afterAll, expect, test } from '@jest/globals'
import { renameSync } from 'node:fs'
import { Verdicts } from '../../../src/service/judging/verdicts.js'
import { Store } from '../../../src/service/store/store.js'
import { ManualClock } from '../../support/manual-clock.js'
import { createServices, finishRun, runForm } from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

test('a list that stays open looks rarely for results that are not there, and finds them when they are back', async () => {
  const dataDir = services.folder()
  const store = new Store(dataDir)
  const service = await services.start({ dataDir, store })
  const run = store.run((await finishRun(service, runForm({ duration: '5' }))).json.uuid)!
  const path = store.folder.resultFile(run.id, run.gridIds[0]!)
  const clock = new ManualClock()
  const lines: string[] = []
  const verdicts = new Verdicts({
    ...{ store, clock, log: (line) => lines.push(line) },
    settle: () => Promise.resolve()
  })
  verdicts.replace(run, { text: 'samples > 1' })
  /** Looks once per second. */
  const watch = async (seconds: number): Promise<void> => {
    for (let second = 0; second < seconds; second++) {
      verdicts.glance(run)
      await clock.run(new Promise((resolve) => clock.after(1000, () => resolve(undefined))))
    }
  }

  renameSync(path, `${path}.away`)
  await watch(3600)
  // After half a minute, and then twice as long each time.
  expect(lines).toHaveLength(7)
  expect(lines[0]).toContain(path)
  expect(verdicts.glance(run)).toMatchObject({ verdict: 'inconclusive' })
  expect(run.thresholds?.verdict).toBeUndefined()

  renameSync(`${path}.away`, path)
  await watch(3600)
  expect(lines).toHaveLength(7)
  expect(run.thresholds?.verdict).toMatchObject({ verdict: 'passed' })
})
