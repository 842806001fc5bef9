import { expect, test } from '@jest/globals'
import { decodeState, encodeState } from '../../src/gate/saved-state.js'
import { makeState } from '../support/gate/gate-ports.js'

test('what was saved comes back', () => {
  const state = makeState({
    serviceName: 'acme',
    marker: 'loadgate-1',
    runId: 'r1',
    madeGrids: ['g1', 'g2'],
    processGroups: [{ pid: 7, startTime: '123' }],
    cleanupDue: true
  })
  expect(decodeState(encodeState(state))).toEqual(state)
})

test('what is not set stays so', () => {
  expect(decodeState(encodeState(makeState()))).toMatchObject({ madeGrids: [], cleanupDue: false })
  expect(decodeState(encodeState(makeState()))?.runId).toBeUndefined()
})

test('a state is one line, whatever is in it', () => {
  expect(encodeState(makeState({ runId: 'a\nb<<EOF' }))).not.toContain('\n')
})

test.each(['', '{', 'null', '[]', '7', '{}', '{"address":1,"token":"t"}', '{"address":"a"}'])(
  '"%s" is no state',
  (text) => {
    expect(decodeState(text)).toBeUndefined()
  }
)

test('a state of an earlier version, which knew of one run only, is read', () => {
  const text =
    '{"address":"https://service.example/api","token":"t","marker":"loadgate-1","askedMs":7,"runId":"r1","madeGrids":["g1"],"processGroups":[],"cleanupDue":true,"leaveIfKilled":false}'
  expect(decodeState(text)).toMatchObject({ marker: 'loadgate-1', runId: 'r1', madeGrids: ['g1'] })
  expect(decodeState(text)?.earlier).toBeUndefined()
})
