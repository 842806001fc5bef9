import { afterAll, expect, test } from '@jest/globals'
import { queryObjects } from 'node:v8'
import { createRun, createServices, runForm, send, waitForStatus } from '../support.js'

const services = createServices()
afterAll(() => services.closeAll())

/** Collects the garbage first. Files that ran before in this process may have left some. */
const countControllers = (): number => queryObjects(AbortController, { format: 'count' })

test('what has ended is forgotten: its grids leave nothing in memory', async () => {
  const service = await services.start()
  const before = countControllers()
  for (let count = 0; count < 20; count++) {
    const id = await createRun(service, runForm({ duration: '1' }))
    const [grid] = (await waitForStatus(service, `/runs/${id}`, ['finished'])).json._embedded.grids
    const again = await createRun(service, runForm({ duration: '1' }, [['run[grids][]', grid!.uuid]]))
    await waitForStatus(service, `/runs/${again}`, ['finished'])
    await send(service, 'DELETE', `/grids/${grid!.uuid}`)
  }
  // Each of them could be ended by one of its own.
  expect(countControllers() - before).toBeLessThan(10)
})
