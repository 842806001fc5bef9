import { describe, expect, test } from '@jest/globals'
import { isGridRecord, isProcessGroup, isRunRecord } from '../../src/contract/records.js'
import { makeGrid, makeRun } from '../service/store/records.js'

const grid = makeGrid({ status: 'stopped' })
const run = makeRun({ status: 'finished', sequence: 5, gridIds: [grid.id], request: { tags: ['a', 'b'] } })

test('records of this version are accepted, and those of one that knew nothing of nodes', () => {
  expect(isGridRecord(grid)).toBe(true)
  expect(isRunRecord(run)).toBe(true)
  expect(isRunRecord({ ...run, mark: 'm', goMs: 1, nodes: [] })).toBe(true)
  expect(isRunRecord({ ...run, ofALaterVersion: 1 })).toBe(true)
})

describe('records that the service did not write are refused', () => {
  test.each<[string, unknown]>([
    ['a list', []],
    ['an empty object', {}],
    ['null', null],
    ['a number', 7],
    ['no request', { ...run, request: undefined }],
    ['a request of null', { ...run, request: null }],
    ['tags of another type', { ...run, request: { ...run.request, tags: 'a' } }],
    ['grid ids of another type', { ...run, gridIds: 'g' }],
    ['a grid id that leads elsewhere', { ...run, gridIds: ['../../x'] }],
    ['a file name that leads elsewhere', { ...run, files: [{ uuid: 'u', name: '../x' }] }],
    ['an unknown status', { ...run, status: 'odd' }],
    ['a sequence of another type', { ...run, sequence: '1' }],
    ['a time that is none', { ...run, startedMs: 1e300 }],
    ['nodes of another type', { ...run, nodes: [{ grid: 'g' }] }],
    ['a mark of another type', { ...run, mark: '../x' }],
    ['a report of another shape', { ...run, report: { summary: 1 } }]
  ])('a run: %s', (_, record) => {
    expect(isRunRecord(record)).toBe(false)
  })

  test.each<[string, unknown]>([
    ['a list', []],
    ['an empty object', {}],
    ['null', null],
    ['no spec', { ...grid, spec: undefined }],
    ['no nodes', { ...grid, spec: { ...grid.spec, instanceQuantity: 0 } }],
    ['an unknown status', { ...grid, status: 7 }]
  ])('a grid: %s', (_, record) => {
    expect(isGridRecord(record)).toBe(false)
  })

  test.each([[[]], [{}], [null], [{ pid: 1, startTime: 'x' }], [{ pid: '2', startTime: 'x' }]])(
    'a process: %j',
    (record) => {
      expect(isProcessGroup(record)).toBe(false)
    }
  )
})
