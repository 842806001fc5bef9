import { afterAll, expect, test } from '@jest/globals'
import type { PageDocument } from '../../../src/report/page/build-document.js'
import * as pages from '../../../src/report/page/served/served-pages.js'
import { ProjectAccess } from '../../../src/service/accounts/project-access.js'
import { RunPages } from '../../../src/service/pages/run-pages.js'
import type { EventStream } from '../../../src/service/pages/send-page.js'
import { SeenRuns } from '../../../src/service/store/seen-runs.js'
import { Store } from '../../../src/service/store/store.js'
import { vocabularyOf } from '../../../src/contract/vocabulary.js'
import { ManualClock } from '../../support/manual-clock.js'
import { makeRun } from '../store/records.js'
import { createFolders } from '../support.js'

const folders = createFolders()
afterAll(() => folders.remove())

test('a run that ends while its page is rendered is shown once more, as one that has ended', async () => {
  const store = new Store(folders.create())
  const run = makeRun({ status: 'running', startedMs: 1 })
  store.create({ run, grids: [] })
  const describeRun: typeof pages.describeRun = (state) => {
    const document = pages.describeRun(state)
    run.status = 'finished'
    return document
  }
  const facts = {
    ...{ store, seenBy: () => new SeenRuns(store, 'all'), access: new ProjectAccess(undefined) },
    ...{ clock: new ManualClock(), words: vocabularyOf(undefined), places: {}, log: () => undefined },
    ...{
      accounts: { isRemoved: () => false },
      queue: { positionOf: () => null, reasonFor: () => undefined }
    },
    loadPages: async () => ({ ...pages, describeRun })
  }
  const watched = new RunPages({ facts, synthetic: false } as unknown as ConstructorParameters<
    typeof RunPages
  >[0])
  const first = await new Promise<string>((resolve) =>
    watched.watchRun(run, { id: 1, name: 'ann', role: 'member' }, {
      send: resolve,
      end: resolve,
      onClose: () => undefined
    } as unknown as EventStream)
  )
  const { headline, live, links } = JSON.parse(first) as PageDocument
  expect([headline, live, links?.filesToCome]).toEqual(['finished', undefined, null])
})
