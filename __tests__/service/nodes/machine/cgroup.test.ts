import { describe, expect, test } from '@jest/globals'
import { readCgroup, readMemory } from '../../../../src/service/nodes/machine/load-sample.js'
import { writeSystem } from './system-files.js'

const GB = 1024 ** 3
const MEMINFO = 'MemTotal:       16777216 kB\nMemFree:         1000 kB\nMemAvailable:    8388608 kB\n'

describe('the limits around a process', () => {
  test('the tightest of its own group and those around it', () => {
    const root = writeSystem({
      'proc/self/cgroup': '0::/system.slice/job\n',
      'sys/fs/cgroup/cgroup.procs': '',
      'sys/fs/cgroup/system.slice/cgroup.procs': '',
      'sys/fs/cgroup/system.slice/cpu.max': '150000 100000\n',
      'sys/fs/cgroup/system.slice/cpu.stat':
        'usage_usec 5\nnr_periods 100\nnr_throttled 40\nthrottled_usec 7\n',
      'sys/fs/cgroup/system.slice/memory.max': 'max\n',
      'sys/fs/cgroup/system.slice/job/cgroup.procs': '1\n',
      'sys/fs/cgroup/system.slice/job/cpu.max': 'max 100000\n',
      'sys/fs/cgroup/system.slice/job/memory.max': `${2 * GB}\n`,
      'sys/fs/cgroup/system.slice/job/memory.current': `${1.5 * GB}\n`,
      'sys/fs/cgroup/system.slice/job/memory.stat': `anon 1\ninactive_file ${GB}\n`,
      'sys/fs/cgroup/system.slice/job/memory.events': 'low 0\noom 3\noom_kill 2\n'
    })
    expect(readCgroup(root)).toEqual({
      cpu: { cores: 1.5, periods: 100, throttledPeriods: 40 },
      memory: { totalBytes: 2 * GB, availableBytes: 1.5 * GB },
      oomKills: 2
    })
  })

  test('the path is the host’s and only the container’s root exists', () => {
    const root = writeSystem({
      'proc/self/cgroup': '0::/docker/abc\n',
      'sys/fs/cgroup/cgroup.procs': '1\n',
      'sys/fs/cgroup/cpu.max': '50000 100000\n',
      'sys/fs/cgroup/cpu.stat': 'nr_periods 10\nnr_throttled 5\n'
    })
    expect(readCgroup(root)).toEqual({ cpu: { cores: 0.5, periods: 10, throttledPeriods: 5 } })
  })

  test('a path out of the mount is not followed', () => {
    const root = writeSystem({ 'proc/self/cgroup': '0::/../../other\n', 'sys/fs/cgroup/cgroup.procs': '' })
    expect(readCgroup(root)).toEqual({})
  })

  test('none, as on macOS', () => {
    expect(readCgroup(writeSystem({}))).toEqual({})
    expect(readMemory(writeSystem({}))).toBeUndefined()
  })
})

describe('the memory that can be used', () => {
  const around = (totalBytes: number, availableBytes: number): ReturnType<typeof readMemory> =>
    readMemory(writeSystem({ 'proc/meminfo': MEMINFO }), { memory: { totalBytes, availableBytes } })

  test('is the machine’s', () => {
    const memory = readMemory(writeSystem({ 'proc/meminfo': MEMINFO }))
    expect(memory).toEqual({ totalBytes: 16 * GB, availableBytes: 8 * GB })
    expect(around(32 * GB, 1 * GB)).toEqual(memory)
  })

  test('or the container’s, if that has less', () => {
    expect(around(4 * GB, 1 * GB)).toEqual({ totalBytes: 4 * GB, availableBytes: 1 * GB })
    expect(around(12 * GB, 10 * GB)).toEqual({ totalBytes: 12 * GB, availableBytes: 8 * GB })
  })
})
