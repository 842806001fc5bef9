import { expect, test } from '@jest/globals'
import { describeUnused, listUnused } from '../../../src/gate/settings/unused-inputs.js'
import { makeSettings } from '../../support/gate/gate-ports.js'

/** Recorded runs, a line that compares with them and one that does not. */
const { thresholds } = makeSettings({ thresholdLines: 'p95 <= baseline + 10%\np95 < 1s' })
const AUTO = { ...makeSettings().baseline, source: { kind: 'auto' } } as const
const OFF = { ...AUTO, source: { kind: 'off' } } as const
const SIDE_BY_SIDE = {
  ...AUTO,
  source: { kind: 'side-by-side', parameters: '-Jport=8081', rounds: 10 }
} as const
const FILES = makeSettings().origin
const USUAL = { origin: FILES, wait: true, baseline: AUTO, thresholds, stopEarly: false }
const EXISTING = { kind: 'existing', runId: 'r1' } as const
const REPEAT = { kind: 'repeat', runId: 'r1' } as const
const REMOVE = 'Remove them from this step.'

test.each([
  {
    name: 'run-id',
    situation: { ...USUAL, origin: EXISTING },
    unused: ['threads', 'stop-on-cancel'],
    words: `Ignored inputs: threads, stop-on-cancel (run-id judges an existing run as it is). ${REMOVE}`
  },
  {
    name: 'repeat',
    situation: { ...USUAL, origin: REPEAT },
    unused: ['grids'],
    words: `Ignored inputs: grids (repeat starts a run again unchanged). ${REMOVE}`
  },
  {
    name: 'wait: false',
    situation: { ...USUAL, wait: false },
    unused: ['thresholds', 'fail-on'],
    words: `Ignored inputs: thresholds, fail-on (wait: false does not wait for the run). ${REMOVE}`
  },
  {
    name: 'two reasons',
    situation: { ...USUAL, origin: REPEAT, wait: false },
    unused: ['tool', 'thresholds'],
    words: `Ignored inputs: tool (repeat starts a run again unchanged); thresholds (wait: false does not wait for the run). ${REMOVE}`
  },
  { name: 'nothing', situation: USUAL, unused: [], words: undefined },
  {
    name: 'without side-by-side',
    situation: USUAL,
    unused: ['baseline-parameters', 'baseline-rounds'],
    words: `Ignored inputs: baseline-parameters, baseline-rounds (they are for baseline: side-by-side). ${REMOVE}`
  },
  {
    name: 'side-by-side',
    situation: { ...USUAL, baseline: SIDE_BY_SIDE },
    unused: ['noise'],
    words: `Ignored inputs: noise (baseline: side-by-side compares with no recorded runs). ${REMOVE}`
  },
  {
    name: 'baseline: off',
    situation: { ...USUAL, baseline: OFF, thresholds: [] },
    unused: ['baseline-branch', 'on-unsure'],
    words: `Ignored inputs: baseline-branch, on-unsure (baseline: off compares nothing). ${REMOVE}`
  },
  {
    name: 'no line that names baseline',
    situation: { ...USUAL, thresholds: [] },
    unused: ['confirm'],
    words: `Ignored inputs: confirm (no line of thresholds names baseline). ${REMOVE}`
  },
  {
    name: 'nothing that could stop a run early',
    situation: { ...USUAL, thresholds: [], stopEarly: true },
    unused: ['stop-early'],
    words: `Ignored inputs: stop-early (no line of thresholds that can fail the gate has an absolute limit). ${REMOVE}`
  }
])('$name: the inputs and the reason are named', ({ situation, unused, words }) => {
  expect(describeUnused({ ...situation, unused })).toBe(words)
})

test.each([
  { name: 'a repeated run is stopped with the job', situation: { ...USUAL, origin: REPEAT }, has: false },
  { name: 'an existing one is not', situation: { ...USUAL, origin: EXISTING }, has: true },
  { name: 'nor one that is left', situation: { ...USUAL, wait: false }, has: true }
])('stop-on-cancel: $name', ({ situation, has }) => {
  expect(listUnused(() => true, situation).includes('stop-on-cancel')).toBe(has)
})

test('an input with several reasons is listed once', () => {
  const names = listUnused(() => true, { ...USUAL, wait: false, baseline: OFF, thresholds: [] })
  expect(names).toEqual([...new Set(names)])
  expect(names).toContain('on-unsure')
})

test.each([
  { name: 'recorded runs', situation: USUAL, unused: ['baseline-parameters', 'baseline-rounds'] },
  {
    name: 'side by side',
    situation: { ...USUAL, baseline: SIDE_BY_SIDE },
    unused: ['baseline-branch', 'noise', 'ignore-parameters']
  },
  {
    name: 'an early stop',
    situation: { ...USUAL, stopEarly: true },
    unused: ['baseline-parameters', 'baseline-rounds']
  }
])('$name: nothing else is unused', ({ situation, unused }) => {
  // Which is about results alone.
  expect(listUnused((input) => input !== 'tool-exit-code', situation)).toEqual(unused)
})
