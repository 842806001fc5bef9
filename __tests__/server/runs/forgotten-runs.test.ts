import { afterAll, expect, test } from '@jest/globals'
import { queryObjects } from 'node:v8'
import { createRun, createServices, runForm, waitForStatus } from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

test('what has ended is forgotten: its grids leave nothing in memory', async () => {
  const service = await services.start()
  for (let count = 0; count < 20; count++) {
    const id = await createRun(service, runForm({ duration: '1' }))
    await waitForStatus(service, `/runs/${id}`, ['finished'])
  }
  // Each of them could be ended by one of its own. This collects the garbage first.
  expect(queryObjects(AbortController, { format: 'count' })).toBeLessThan(10)
})
