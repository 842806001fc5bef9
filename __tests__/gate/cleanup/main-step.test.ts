import { expect, test } from '@jest/globals'
import { cleanUpRun } from '../../../src/gate/cleanup/main-step.js'
import type { Gate } from '../../../src/gate/gate.js'
import { SavedState } from '../../../src/gate/saved-state.js'
import { makeState } from '../../support/gate/gate-ports.js'

test('a run that the embedded service may have begun is not looked for: it ends with the service', async () => {
  const saved = new SavedState(
    makeState({ marker: 'loadgate-x', cleanupDue: true }),
    () => undefined,
    () => undefined
  )
  const local = { url: '', token: '', close: () => Promise.resolve() }
  // Any look at the service would throw: there is no client.
  await cleanUpRun({ saved, local } as unknown as Gate, { failure: { kind: 'cancelled', message: 'SIGINT' } })
  expect(saved.state.cleanupDue).toBe(false)
})
