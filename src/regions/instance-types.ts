import { parsePattern } from '../values/setting-values.js'
import { readKeys, readMap } from './read-parts.js'
import type { Note } from './read-parts.js'
import { take } from './read-values.js'
import type { KubernetesPlace } from './regions.js'

/** Above zero: cores, or thousandths of one. */
const CPU = /^(?=.*[1-9])(\d{1,6}(\.\d{1,3})?|\d{1,9}m)$/
/** With a unit: a bare number is bytes, which nobody means. */
const MEMORY = /^(?=.*[1-9])\d{1,12}(\.\d{1,3})?([KMGTPE]i|[kMGTPE])$/

/** What the nodes of each instance type get. */
export function readInstanceTypes(value: unknown, note: Note): KubernetesPlace['instanceTypes'] {
  const types = new Map<string, { cpu: string; memory: string }>()
  for (const [name, given] of readMap(value, note) ?? []) {
    const inner: Note = (problem) => note(`${name}: ${problem}`)
    const keys = readKeys(given, ['cpu', 'memory'], inner)
    const cpu = take(
      keys.get('cpu'),
      (text) => parsePattern(text, CPU, 'cores, such as 4, 0.5 or 500m'),
      (problem) => inner(`cpu: ${problem}`)
    )
    const memory = take(
      keys.get('memory'),
      (text) => parsePattern(text, MEMORY, 'an amount of memory with its unit, such as 8Gi or 512Mi'),
      (problem) => inner(`memory: ${problem}`)
    )
    if (cpu !== undefined && memory !== undefined) types.set(name, { cpu, memory })
  }
  return types
}
