import { afterEach, expect, test } from '@jest/globals'
import { once } from 'node:events'
import { truncateSync } from 'node:fs'
import { rename } from 'node:fs/promises'
import { get as httpGet, type IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pruneBeside } from '../../../src/service/retention/prune.js'
import { createServices, finishRun, get, readRun } from '../support.js'

const services = createServices()
afterEach(() => services.closeAll())

const PRUNE_ALL = { retention: { days: 1 }, isDry: false, nowMs: Date.now() + 10 * 24 * 3_600_000 }

test('what is asked of a run whose files have just gone says so', async () => {
  const service = await services.start()
  const { json: run } = await finishRun(service)
  const path = `/runs/${run.uuid}`
  const file = `${path}/files/${readRun(service.dataDir, run.uuid).files[0]!.uuid}`
  expect((await get(service, file)).status).toBe(200)
  // As pruning does it: the files first, the record last.
  const { folder } = service.store
  await rename(folder.runDir(run.uuid), join(folder.trashDir(), run.uuid))
  const replies = await Promise.all(
    [`${path}/repeat`, file, `${path}/result.csv`].map((each) => get(service, each))
  )
  expect(replies.map(({ status, json }) => [status, json.error])).toEqual([
    [410, `run ${run.uuid} cannot be repeated: its files have been deleted`],
    [410, 'this run has been deleted with its files'],
    [404, 'there are no results for this run and grid']
  ])
  await pruneBeside(service.dataDir, PRUNE_ALL)
  const gone = await Promise.all(['', '/repeat', '/report'].map((each) => get(service, `${path}${each}`)))
  expect(gone.map(({ status }) => status)).toEqual([404, 404, 404])
})

test('a download goes on to its end while the run is deleted', async () => {
  const service = await services.start()
  const { json: run } = await finishRun(service)
  const grid = run._embedded.grids[0]!.uuid
  const bytes = 30_000_000
  truncateSync(service.store.folder.resultFile(run.uuid, grid), bytes)
  const authorization = `Basic ${Buffer.from(`${service.token}:`).toString('base64')}`
  const request = httpGet(`${service.url}/runs/${run.uuid}/result.csv`, { headers: { authorization } })
  const [reply] = (await once(request, 'response')) as [IncomingMessage]
  await pruneBeside(service.dataDir, PRUNE_ALL)
  expect((await get(service, `/runs/${run.uuid}`)).status).toBe(404)
  let received = 0
  for await (const chunk of reply) received += (chunk as Buffer).length
  expect(received).toBe(bytes)
})
