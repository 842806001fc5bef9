import { expect, test } from '@jest/globals'
import { cleanUpRun } from '../../../src/gate/cleanup/main-step.js'
import type { Gate } from '../../../src/gate/gate.js'
import { Ledger } from '../../../src/gate/saved-state.js'
import { makeState } from '../../support/gate/gate-bench.js'

test('a run that the embedded service may have begun is not looked for: it ends with the service', async () => {
  const ledger = new Ledger(
    makeState({ marker: 'loadgate-x', cleanupDue: true }),
    () => undefined,
    () => undefined
  )
  const local = { url: '', token: '', close: () => Promise.resolve() }
  // Any look at the service would throw: there is no client.
  await cleanUpRun({ ledger, local } as unknown as Gate, { trouble: { kind: 'cancelled', message: 'SIGINT' } })
  expect(ledger.state.cleanupDue).toBe(false)
})
