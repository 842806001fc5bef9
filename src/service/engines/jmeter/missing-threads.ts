import { OPEN_GROUP } from '../../../analysis/plans/jmx/open-model.js'
import { type ThreadGroup, UNKNOWN } from '../../plans/thread-groups.js'

/** JMeter's own kinds, which number their groups from 1. Plugins differ. */
const NUMBERED = /^(?:Setup|Post)?ThreadGroup$/
/** Below this share of the users who should arrive, the load is not the one that was asked for. */
const LEAST_SHARE = 0.95

/** Compares thread groups with samples, for what JMeter does not log: unset variables as 0, conditions never true, users not arriving. */
export class MissingThreads {
  /** The numbers of the threads that have rows, by the name and the number of their group. */
  readonly #seen = new Map<string, Map<string, NumberSet>>()

  /** Undefined if the plan cannot be read. */
  readonly #groups: readonly ThreadGroup[] | undefined

  constructor(groups: readonly ThreadGroup[] | undefined) {
    this.#groups = groups
  }

  get hasNoGroup(): boolean {
    return this.#groups?.length === 0
  }

  /** Takes the thread name of a row, `users 1-3`; returns whether more of them may change what is found. */
  push(thread: string): boolean {
    const [, name = thread, group = '', number = '0'] = /^(.*) (\d+)-(\d+)$/s.exec(thread) ?? []
    const groups = this.#seen.get(name) ?? new Map<string, NumberSet>()
    const numbers = groups.get(group) ?? new NumberSet()
    const isNew = numbers.size === 0
    numbers.add(Number(number))
    this.#seen.set(name, groups.set(group, numbers))
    return !isNew || this.mayMiss()
  }

  mayMiss(): boolean {
    const isOpen = this.#groups?.some(({ kind }) => kind === OPEN_GROUP) ?? false
    return isOpen || this.#missing().length > 0
  }

  /** Load that had no chance of being generated, or was not, in sentences. */
  lost(): string[] {
    const undefinedOnes = this.#missing().filter(({ undefinedVariables }) => undefinedVariables.length > 0)
    const told = undefinedOnes.map(
      ({ name, of, undefinedVariables: { length, 0: variable = '' } }) =>
        `${describe(name, length, of)} recorded no samples: the number of threads or loops is \${${variable}}, which nothing in the plan defines, so it counts as 0`
    )
    return [...told, ...this.#lostArrivals()]
  }

  /** The other groups without a row, in sentences. */
  idle(): string[] {
    return this.#missing().flatMap(({ name, of, count, undefinedVariables }) => {
      const missing = count - undefinedVariables.length
      if (missing <= 0) return []
      return [
        `${describe(name, missing, of)} recorded no samples; does the number of threads evaluate to 0, or does a condition prevent its requests?`
      ]
    })
  }

  /** Groups that should have rows and have none, by their name. */
  #missing(): { name: string; of: number; count: number; undefinedVariables: string[] }[] {
    const groups = this.#groups ?? []
    // The thread name of any row starts with one of these, or threads are not named after their groups here.
    const known = groups.map(({ name }) => name.split(UNKNOWN)[0] ?? '')
    if ([...this.#seen.keys()].some((name) => !known.some((start) => name.startsWith(start)))) return []
    return [...groupBy(groups.filter(({ isExpected }) => isExpected))].flatMap(([name, alike]) => {
      const count = alike.length - this.#countSeen(name, alike)
      if (count <= 0) return []
      const undefinedVariables = alike.flatMap(({ undefinedVariable }) => undefinedVariable ?? [])
      return [{ name, of: alike.length, count, undefinedVariables: undefinedVariables.slice(0, count) }]
    })
  }

  #countSeen(name: string, alike: readonly ThreadGroup[]): number {
    const [kind = ''] = alike.map((group) => group.kind)
    const isNumbered = NUMBERED.test(kind) && alike.every((other) => other.kind === kind)
    if (isNumbered) return this.#seen.get(name)?.size ?? 0
    // The group of such a thread is ambiguous.
    return [...this.#seen.keys()].some((seen) => seen.startsWith(name)) ? alike.length : 0
  }

  /** A group without any row is an idle one, or its threads have other names. */
  #lostArrivals(): string[] {
    const open = this.#groups?.filter(({ kind }) => kind === OPEN_GROUP) ?? []
    return [...groupBy(open)].flatMap(([name, alike]) => {
      const planned = alike.reduce((sum, { arrivals }) => sum + arrivals, 0)
      const seen = [...(this.#seen.get(name)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0)
      if (seen === 0 || !(seen < planned * LEAST_SHARE)) return []
      const share = Math.floor((seen / planned) * 100)
      return [
        `the thread group ${name} recorded samples of ${seen} of the ${planned} users who should have arrived (${share} %); does a data file end, or was the machine too busy to start them?`
      ]
    })
  }
}

function describe(name: string, count: number, of: number): string {
  return of === 1 ? `the thread group ${name}` : `${count} of ${of} thread groups called ${name}`
}

function groupBy(groups: readonly ThreadGroup[]): Map<string, ThreadGroup[]> {
  const byName = new Map<string, ThreadGroup[]>()
  for (const group of groups) {
    const alike = byName.get(group.name)
    if (alike === undefined) byName.set(group.name, [group])
    else alike.push(group)
  }
  return byName
}

/** A script may give its thread any number; those beyond count as one. */
const HIGHEST = 1 << 24

/** One bit each: there may be millions of users. */
class NumberSet {
  #bits = new Uint8Array(128)
  size = 0

  add(given: number): void {
    const number = Math.min(given, HIGHEST)
    const at = number >> 3
    if (at >= this.#bits.length) {
      const grown = new Uint8Array(Math.max(at + 1, this.#bits.length * 2))
      grown.set(this.#bits)
      this.#bits = grown
    }
    const bit = 1 << (number & 7)
    const byte = this.#bits[at] ?? 0
    if ((byte & bit) !== 0) return
    this.#bits[at] = byte | bit
    this.size++
  }
}
