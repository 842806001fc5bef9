import { describe, expect, test } from '@jest/globals'
import { readLoad } from '../../../../src/service/nodes/machine/load-sample.js'
import { writeSystem } from './system-files.js'

/** A line of `/proc/<pid>/stat`; the CPU times are those of the process and of its ended children. */
function stat(
  pid: number,
  facts: { parent: number; group: number; session?: number; ticks: number[] }
): string {
  const { parent, group, session = group, ticks } = facts
  const others = Array(7).fill('0').join(' ')
  return `${pid} (a (b) c) S ${parent} ${group} ${session} ${others} ${ticks.join(' ')} 20 0 1 0 99 0`
}

const MACHINE = {
  'proc/meminfo': 'MemTotal: 1000 kB\nMemAvailable: 400 kB\n',
  'proc/stat': 'cpu  100 10 50 1000 20 5 5 30 7 7\ncpu0 1 1 1 1 1 1 1 1 0 0\n',
  'proc/vmstat': 'nr_free_pages 1\npswpin 3\npswpout 4\n'
}

describe('a look at the machine', () => {
  test('its CPU and memory', () => {
    expect(readLoad([], writeSystem(MACHINE))).toMatchObject({
      machine: { totalTicks: 1220, busyTicks: 200, stolenTicks: 30 },
      memory: { totalBytes: 1_024_000, availableBytes: 409_600 },
      swappedPages: 7,
      oomKills: 0,
      throttling: undefined
    })
  })

  test('nothing where there is no such file, as on macOS', () => {
    expect(readLoad([1], writeSystem({}))).toBeUndefined()
  })

  test('a tool’s processes, those that left its group, and those that have ended', () => {
    const root = writeSystem({
      ...MACHINE,
      'proc/10/stat': stat(10, { parent: 1, group: 10, ticks: [5, 1, 100, 10] }),
      'proc/10/statm': '1000 300 100 0 0 0 0',
      'proc/11/stat': stat(11, { parent: 1, group: 99, session: 10, ticks: [1000, 0, 0, 0] }),
      'proc/10/task/10/schedstat': '5000000 2500000 7\n',
      'proc/12/task/12/schedstat': '1 1000000 2\n',
      'proc/12/task/15/schedstat': '1 4000000 8\n',
      'proc/30/task/30/schedstat': '1 9000000 9\n',
      'proc/12/stat': stat(12, { parent: 10, group: 12, session: 12, ticks: [10_000, 0, 0, 0] }),
      'proc/12/statm': '1000 50 50 0 0 0 0',
      'proc/13/stat': stat(13, { parent: 12, group: 13, session: 13, ticks: [0, 100_000, 0, 0] }),
      'proc/20/stat': stat(20, { parent: 1, group: 20, ticks: [7, 0, 0, 0] }),
      'proc/30/stat': stat(30, { parent: 1, group: 30, ticks: [1_000_000, 0, 0, 0] })
    })
    expect(readLoad([10, 20, 40], root)?.groups).toEqual(
      new Map([
        [
          10,
          {
            cpuTicks: 111_116,
            memoryBytes: 200 * 4096,
            threads: new Map([
              [10, { waitedMs: 2.5, runs: 7 }],
              [12, { waitedMs: 1, runs: 2 }],
              [15, { waitedMs: 4, runs: 8 }]
            ])
          }
        ],
        [20, { cpuTicks: 7, memoryBytes: 0, threads: new Map() }],
        [40, { cpuTicks: 0, memoryBytes: 0, threads: new Map() }]
      ])
    )
  })
})
