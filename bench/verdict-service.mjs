// The service of bench/verdict.mjs, in a process of its own: every run has finished at its second poll, with one grid, whose CSV is the
// file given as the first argument, with as many rows as the second one says. It reports its port, and then what it answered and when.
import { createReadStream, statSync } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { START_MS } from './generate.mjs'
import { ACCOUNT, NOT_FOUND, listDocument, runDocument } from '../__tests__/support/fake-documents.ts'
import { FakeServiceCore, routeOf } from '../__tests__/support/fake-service-core.ts'

const CSV = process.argv[2]
const ROWS_PER_SECOND = 5000
const DURATION_S = Math.ceil(Number(process.argv[3]) / ROWS_PER_SECOND)
const BLOCK_BYTES = 256 * 1024
const RUN = 'run00000001'
const GRID = { id: 'grid0000001', region: 'us-east-1', nodeCount: 2 }
/** The rows would be those of an earlier run if the clock of the service were later. */
const HEADERS = { 'content-type': 'application/json', date: new Date(START_MS).toUTCString() }

class OneFileService extends FakeServiceCore {
  #polls = 0

  async receive({ method, url }, _body, response) {
    const { operation, id } = routeOf(method, url)
    const answer = (status, document) => response.writeHead(status, HEADERS).end(JSON.stringify(document))
    if (operation === 'account') answer(200, ACCOUNT)
    else if (operation === 'report') answer(200, { summary: 'one grid', mean_response_time: 100 })
    else if (operation === 'createRun') {
      this.#polls = 0
      answer(201, this.#run(RUN, 'queued'))
    } else if (operation === 'showRun') {
      const status = this.#polls++ === 0 ? 'running' : 'finished'
      if (this.#polls === 2) note('finished')
      answer(200, this.#run(id, status))
    } else if (operation === 'listRuns') {
      const show = (each) => this.#run(each, 'finished')
      answer(200, listDocument([RUN], { page: 1, pageSize: 50 }, show))
    } else if (operation === 'result' || operation === 'resultSize') await this.#sendCsv(operation, response)
    else answer(404, NOT_FOUND)
  }

  async #sendCsv(operation, response) {
    response.writeHead(200, {
      ...HEADERS,
      'content-type': 'text/csv',
      'content-length': statSync(CSV).size
    })
    note(operation === 'result' ? 'requested' : 'compared')
    if (operation === 'resultSize') response.end()
    else
      await pipeline(createReadStream(CSV, { highWaterMark: BLOCK_BYTES }), response).catch(() =>
        response.destroy()
      )
    if (operation === 'result') note('sent')
  }

  #run(id, status) {
    return runDocument({
      ...{ id, status, serviceUrl: `${this.url}/api`, grids: [GRID], tags: [], apdex: '0.95 [900]' },
      ...{ permalink: `${this.url}/runs/${id}`, duration: DURATION_S },
      started: new Date(START_MS).toISOString(),
      stopped: new Date(START_MS + DURATION_S * 1000).toISOString()
    })
  }
}

function note(what) {
  process.send({ what, atMs: Date.now() })
}

const service = await new OneFileService().start()
process.send({ url: service.url })
process.once('disconnect', () => process.exit())
