import { expect, test } from '@jest/globals'
import { describeUnused, listUnused } from '../../../src/gate/settings/unused-inputs.js'
import { makeSettings } from '../../support/gate/gate-ports.js'

const FILES = makeSettings().origin
const EXISTING = { kind: 'existing', runId: 'r1' } as const
const REPEAT = { kind: 'repeat', runId: 'r1' } as const
const REMOVE = 'Remove them from this step.'

test.each([
  {
    name: 'run-id',
    situation: { origin: EXISTING, wait: true },
    unused: ['threads', 'stop-on-cancel'],
    words: `Ignored inputs: threads, stop-on-cancel (run-id judges an existing run as it is). ${REMOVE}`
  },
  {
    name: 'repeat',
    situation: { origin: REPEAT, wait: true },
    unused: ['grids'],
    words: `Ignored inputs: grids (repeat starts a run again unchanged). ${REMOVE}`
  },
  {
    name: 'wait: false',
    situation: { origin: FILES, wait: false },
    unused: ['thresholds', 'fail-on'],
    words: `Ignored inputs: thresholds, fail-on (wait: false does not wait for the run). ${REMOVE}`
  },
  {
    name: 'two reasons',
    situation: { origin: REPEAT, wait: false },
    unused: ['tool', 'thresholds'],
    words: `Ignored inputs: tool (repeat starts a run again unchanged); thresholds (wait: false does not wait for the run). ${REMOVE}`
  },
  { name: 'nothing', situation: { origin: FILES, wait: true }, unused: [], words: undefined }
])('$name: the inputs and the reason are named', ({ situation, unused, words }) => {
  expect(describeUnused({ ...situation, unused })).toBe(words)
})

test.each([
  { name: 'a repeated run is stopped with the job', situation: { origin: REPEAT, wait: true }, has: false },
  { name: 'an existing one is not', situation: { origin: EXISTING, wait: true }, has: true },
  { name: 'nor one that is left', situation: { origin: FILES, wait: false }, has: true }
])('stop-on-cancel: $name', ({ situation, has }) => {
  expect(listUnused(() => true, situation).includes('stop-on-cancel')).toBe(has)
})
