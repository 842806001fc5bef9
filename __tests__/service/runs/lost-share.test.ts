import { describe, expect, test } from '@jest/globals'
import { describeLostShare } from '../../../src/service/runs/run-on-grids.js'

const NODES = { nodeCount: 4, elapsedMs: 32_000 }

describe('what is lost with a node', () => {
  test.each([
    [{ threads: 5, allThreads: 20 }, '5 of 20 threads, 25% of the load, were lost after 32 s'],
    [{ threads: 1, allThreads: 3 }, '1 of 3 threads, 33% of the load, was lost after 32 s'],
    [{ threads: 7, allThreads: 20 }, '7 of 20 threads, 35% of the load, were lost after 32 s'],
    [{ threads: 1, allThreads: 1000 }, '1 of 1000 threads, less than 1% of the load, was lost after 32 s'],
    [{ threads: 999, allThreads: 1000 }, '999 of 1000 threads, 99% of the load, were lost after 32 s'],
    [{ threads: 9, allThreads: 9 }, '9 of 9 threads, all of the load, were lost after 32 s'],
    [{ threads: null, allThreads: null }, '1 of 4 nodes, 25% of the load, was lost after 32 s'],
    [
      { threads: null, allThreads: null, nodeCount: 1, elapsedMs: undefined },
      '1 of 1 node, all of the load, was lost before the start'
    ]
  ])('%j', (loss, words) => {
    expect(describeLostShare({ ...NODES, ...loss })).toBe(words)
  })
})
