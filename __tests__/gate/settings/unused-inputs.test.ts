import { expect, test } from '@jest/globals'
import { describeUnused, listUnused } from '../../../src/gate/settings/unused-inputs.js'
import { makeSettings } from '../../support/gate/gate-ports.js'

const FILES = makeSettings().origin
const EXISTING = { kind: 'existing', runId: 'r1' } as const
const REPEAT = { kind: 'repeat', runId: 'r1' } as const
const REMOVE = 'Remove what is not meant for this step.'

test.each([
  {
    name: 'run-id',
    situation: { origin: EXISTING, wait: true },
    unused: ['threads', 'stop-on-cancel'],
    words: `run-id judges a run that exists and is left as it is, so these inputs do not change it: threads, stop-on-cancel. ${REMOVE}`
  },
  {
    name: 'repeat',
    situation: { origin: REPEAT, wait: true },
    unused: ['grids'],
    words: `repeat starts a run again as it was, so these inputs do not change it: grids. ${REMOVE}`
  },
  {
    name: 'wait: false',
    situation: { origin: FILES, wait: false },
    unused: ['thresholds', 'fail-on'],
    words: `wait: false leaves the run once it is started, so these inputs have no effect then: thresholds, fail-on. ${REMOVE}`
  },
  {
    name: 'two reasons',
    situation: { origin: REPEAT, wait: false },
    unused: ['tool', 'thresholds'],
    words: `repeat starts a run again as it was, so these inputs do not change it: tool. wait: false leaves the run once it is started, so these inputs have no effect then: thresholds. ${REMOVE}`
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
