import {
  expandFunctions,
  OPEN_GROUP,
  SCHEDULE,
  countArrivals
} from '../../../analysis/plans/jmx/open-model.js'
import type { PlanElement } from '../../../analysis/plans/jmx/plan-tree.js'
import { listGroups, makesRows, type Properties } from './idle-groups.js'

/** Below this share, the load is not the one that was asked for. */
const LEAST_SHARE = 0.95
/** What is in these is done by every user who arrives. */
const ALWAYS = /^(?:GenericController|TransactionController)$/

/** Compares the users who should have arrived, by the schedules of open-model thread groups, with those who have rows. */
export class LostArrivals {
  /** By the name of their group. */
  readonly #planned = new Map<string, number>()
  /** The numbers of the threads that have rows, by group: each user who arrives has a thread of his own. */
  readonly #seen = new Map<string, Map<string, NumberSet>>()

  constructor(plan: string, properties: Properties) {
    const open = listGroups(plan).filter(({ kind, name }) => kind === OPEN_GROUP && !name.includes('${'))
    for (const group of open) {
      const schedule = expandFunctions(
        group.properties.get(SCHEDULE) ?? '',
        (name, fallback) => properties.get(name) ?? fallback.trim()
      )
      const arrivals = schedule === undefined ? undefined : countArrivals(schedule)
      const isKnown = arrivals !== undefined && hasRowForEach(group)
      this.#planned.set(group.name, (this.#planned.get(group.name) ?? 0) + (isKnown ? arrivals : NaN))
    }
  }

  get isOpen(): boolean {
    return this.#planned.size > 0
  }

  /** Takes the thread name of a row, `users 1-3`. */
  push(thread: string): void {
    const [, name = '', group = '', number = ''] = /^(.*) (\d+)-(\d+)$/s.exec(thread) ?? []
    if (!this.#planned.has(name)) return
    const groups = this.#seen.get(name) ?? new Map<string, NumberSet>()
    const numbers = groups.get(group) ?? new NumberSet()
    numbers.add(Number(number))
    this.#seen.set(name, groups.set(group, numbers))
  }

  /** In sentences. A group without any row is an idle one, or its threads have other names. */
  lost(): string[] {
    return [...this.#planned].flatMap(([name, planned]) => {
      const seen = [...(this.#seen.get(name)?.values() ?? [])].reduce((sum, { size }) => sum + size, 0)
      if (seen === 0 || !(seen < planned * LEAST_SHARE)) return []
      const share = Math.floor((seen / planned) * 100)
      return [
        `the thread group ${name} recorded samples of ${seen} of the ${planned} users who should have arrived (${share} %); does a data file end, or was the machine too busy to start them?`
      ]
    })
  }
}

/** Whether every user who arrives must have a row: something is requested under no condition. */
function hasRowForEach({ children }: PlanElement): boolean {
  return children.some(
    (child) => child.isEnabled && (makesRows(child) || (ALWAYS.test(child.kind) && hasRowForEach(child)))
  )
}

/** A bit each: there may be millions of users. */
class NumberSet {
  #bits = new Uint8Array(128)
  size = 0

  add(number: number): void {
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
