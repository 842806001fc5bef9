import { describe, expect, test } from '@jest/globals'
import { findGroupMembers } from '../../src/service/proc-stat.js'
import { writeSystem } from './nodes/machine/system-files.js'

/** A line as Linux writes it; the program's name has what could be taken for the end of it. */
function stat(pid: number, { group = 1, state = 'S', threads = 1 } = {}): string {
  return `${pid} (a) b) ${state} 1 ${group} ${group} 0 -1 0 0 0 0 0 0 0 0 0 20 0 ${threads} 0 77 0\n`
}

const writeProcesses = (stats: readonly (readonly [pid: number, stat: string])[]): string =>
  writeSystem(Object.fromEntries(stats.map(([pid, text]) => [`proc/${pid}/stat`, text])))

describe('the members of a group', () => {
  test.each([
    { name: 'one that sleeps', found: true, text: stat(9, { group: 7 }) },
    { name: 'one of another group', found: false, text: stat(9, { group: 8 }) },
    { name: 'a zombie', found: false, text: stat(9, { group: 7, state: 'Z' }) },
    {
      name: 'one whose first thread alone has ended',
      found: true,
      text: stat(9, { group: 7, state: 'Z', threads: 2 })
    }
  ])('$name: $found', async ({ found, text }) => {
    const members = await findGroupMembers(7, writeProcesses([[9, text]]))
    expect(members.map(({ pid }) => pid)).toEqual(found ? [9] : [])
  })

  test('others have their turn while thousands of processes are read', async () => {
    const pids = Array.from({ length: 2000 }, (_, i) => i + 2)
    const root = writeProcesses(pids.map((pid) => [pid, stat(pid, { group: pid % 2 })]))
    let [turns, isReading] = [0, true]
    const count = (): void => {
      turns++
      if (isReading) setImmediate(count)
    }
    setImmediate(count)
    const members = await findGroupMembers(1, root)
    isReading = false
    expect(members).toHaveLength(1000)
    expect(turns).toBeGreaterThanOrEqual(10)
  })
})
