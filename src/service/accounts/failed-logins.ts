import { isIPv6 } from 'node:net'
import type { Clock } from '../../contract/clock.js'

/** Typing errors are not punished. */
const FREE_FAILURES = 3
const FIRST_DELAY_MS = 100
const LONGEST_DELAY_MS = 5000
/** An address without failures for so long starts anew. */
const FORGET_AFTER_MS = 15 * 60_000
const MOST_ADDRESSES = 10_000
const MOST_WAITING_PER_ADDRESS = 8
const MOST_WAITING = 200

interface Failures {
  count: number
  lastMs: number
  waiting: number
}

/** Slows down whoever guesses tokens. Only replies to wrong tokens wait: many runners with right ones share an address. */
export class FailedLogins {
  /** The address that failed last is the last one. */
  readonly #byAddress = new Map<string, Failures>()
  readonly #waits = new Set<() => void>()

  constructor(private readonly clock: Clock) {}

  /** How many addresses are remembered. */
  get size(): number {
    return this.#byAddress.size
  }

  /** Waits as long as this failure costs. False, at once, if too many wait already. */
  async slowDown(address: string): Promise<boolean> {
    const failures = this.#count(networkOf(address))
    const delayMs = delayOf(failures.count)
    if (delayMs === 0) return true
    if (failures.waiting >= MOST_WAITING_PER_ADDRESS || this.#waits.size >= MOST_WAITING) return false
    failures.waiting++
    await this.#wait(delayMs)
    failures.waiting--
    return true
  }

  /** Nobody waits any longer. */
  close(): void {
    for (const end of [...this.#waits]) end()
  }

  #count(network: string): Failures {
    const nowMs = this.clock.now()
    const known = this.#byAddress.get(network)
    const failures =
      known && (known.waiting > 0 || nowMs - known.lastMs < FORGET_AFTER_MS)
        ? known
        : { count: 0, lastMs: nowMs, waiting: 0 }
    failures.count++
    failures.lastMs = nowMs
    this.#byAddress.delete(network)
    this.#byAddress.set(network, failures)
    this.#forget(nowMs)
    return failures
  }

  #forget(nowMs: number): void {
    for (const [network, { lastMs }] of this.#byAddress) {
      if (nowMs - lastMs < FORGET_AFTER_MS && this.#byAddress.size <= MOST_ADDRESSES) return
      this.#byAddress.delete(network)
    }
  }

  #wait(delayMs: number): Promise<void> {
    return new Promise((resolve) => {
      const end = (): void => {
        cancel()
        this.#waits.delete(end)
        resolve()
      }
      const cancel = this.clock.after(delayMs, end)
      this.#waits.add(end)
    })
  }
}

/** For whoever is turned away: when the longest wait of others is over. */
export const RETRY_AFTER_SEC = LONGEST_DELAY_MS / 1000

function delayOf(count: number): number {
  if (count <= FREE_FAILURES) return 0
  return Math.min(LONGEST_DELAY_MS, FIRST_DELAY_MS * 2 ** Math.min(count - FREE_FAILURES - 1, 16))
}

/** One subscriber has a whole /64 of IPv6. */
export function networkOf(address: string): string {
  const plain = address.replace(/%.*$/, '').toLowerCase()
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/.exec(plain)?.[1]
  if (mapped !== undefined) return mapped
  if (!isIPv6(plain)) return plain
  const [head = '', tail] = plain.split('::')
  const groupsOf = (part: string): string[] => (part === '' ? [] : part.split(':'))
  const first = groupsOf(head)
  // A dotted end stands for two groups.
  const last = groupsOf(tail ?? '').flatMap((group) => (group.includes('.') ? ['0', '0'] : [group]))
  const zeros = tail === undefined ? [] : Array<string>(8 - first.length - last.length).fill('0')
  const groups = [...first, ...zeros, ...last].slice(0, 4)
  return `${groups.map((group) => parseInt(group, 16).toString(16)).join(':')}::/64`
}
