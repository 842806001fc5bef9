/** Something of which only so much is used at a time: the nodes of a place, or the nodes of all places. */
export interface Resource {
  /** Undefined if there is no limit. */
  readonly most: number | undefined
  /** Whether one job has it for itself. */
  readonly isExclusive: boolean
  /** At a place nobody overtakes another; the total of all places holds nobody up while there is enough of it. */
  readonly isPlace: boolean
  /** Of one user or project: whoever waits for it holds up nobody else. */
  readonly isQuota?: boolean
}

/** What waits for resources, and then uses them until it leaves. */
export interface Job {
  readonly id: string
  readonly user: string
  /** How much of each resource; all of it is more than 0. */
  readonly needs: ReadonlyMap<Resource, number>
}

interface Order<J> {
  readonly line: readonly J[]
  /** From 1, by their ids. */
  readonly positions: ReadonlyMap<string, number>
}

/**
 * Who waits and who is at work. Users take turns: the first jobs of all of them come before the second ones, and among equals the user
 * whose last turn is the longest ago is first, and then whoever came first.
 */
export class WaitingLine<J extends Job = Job> {
  /** In the order in which they came. */
  readonly #waiting = new Map<string, J>()
  readonly #atWork = new Map<string, Job>()
  /** When each user had a turn last, as a number that grows; those of an idle time before do not count. */
  readonly #turns = new Map<string, number>()
  #turnCount = 0
  /** Undefined if something has changed since it was made. */
  #order: Order<J> | undefined

  get length(): number {
    return this.#waiting.size
  }

  join(job: J): void {
    this.#waiting.set(job.id, job)
    this.#order = undefined
  }

  /** It is at work already, whatever the limits say. */
  hold(job: Job): void {
    this.#atWork.set(job.id, job)
    if (job.needs.size > 0) this.#turns.set(job.user, ++this.#turnCount)
    this.#order = undefined
  }

  /** Users who had turns before this line began, the longest ago first. */
  recall(users: Iterable<string>): void {
    for (const user of users) this.#turns.set(user, ++this.#turnCount)
    this.#order = undefined
  }

  /** It does not wait, or does not work, any more. */
  remove(id: string): void {
    this.#waiting.delete(id)
    this.#atWork.delete(id)
    if (this.#waiting.size === 0 && this.#atWork.size === 0) this.#turns.clear()
    this.#order = undefined
  }

  /** The jobs whose turn has come; from now on they are at work. */
  admit(): J[] {
    const admitted: J[] = []
    for (let job = this.#next(); job !== undefined; job = this.#next()) {
      this.#waiting.delete(job.id)
      this.hold(job)
      admitted.push(job)
    }
    return admitted
  }

  /** First come, first served, but users take turns. */
  order(): readonly J[] {
    return this.#inOrder().line
  }

  isWaiting(id: string): boolean {
    return this.#waiting.has(id)
  }

  /** Whether there is enough for it, whoever else waits. */
  hasEnoughFor({ needs }: Job): boolean {
    return [...needs].every(([resource, amount]) => this.#has(resource, amount))
  }

  /** What there is not enough of for a waiting one, whoever else waits. */
  lackingOf(id: string): Resource[] {
    const needs = [...(this.#waiting.get(id)?.needs ?? [])]
    return needs.flatMap(([resource, amount]) => (this.#has(resource, amount) ? [] : resource))
  }

  /** From 1; null if it is not waiting. */
  positionOf(id: string): number | null {
    return this.#waiting.has(id) ? (this.#inOrder().positions.get(id) ?? null) : null
  }

  useOf(resource: Resource): number {
    return [...this.#atWork.values()].reduce((sum, { needs }) => sum + (needs.get(resource) ?? 0), 0)
  }

  #next(): J | undefined {
    const taken = new Set<Resource>()
    return this.order().find((job) => {
      const needs = [...job.needs]
      const lacking = needs.filter(
        ([resource, amount]) => taken.has(resource) || !this.#has(resource, amount)
      )
      if (lacking.length === 0) return true
      const quotas = lacking.filter(([resource]) => resource.isQuota)
      for (const [resource] of quotas.length > 0 ? quotas : lacking) taken.add(resource)
      if (quotas.length > 0) return false
      for (const [resource] of needs) if (resource.isPlace && isLimited(resource)) taken.add(resource)
      return false
    })
  }

  #has(resource: Resource, amount: number): boolean {
    const used = this.useOf(resource)
    if (resource.isExclusive && used > 0) return false
    return resource.most === undefined || used + amount <= resource.most
  }

  /** The order in which runs will start if none is added or removed: a user who had a turn goes behind their equals. */
  #inOrder(): Order<J> {
    if (this.#order) return this.#order
    const counts = new Map<string, number>()
    const ranks: J[][] = []
    for (const job of this.#waiting.values()) {
      const rank = counts.get(job.user) ?? 0
      counts.set(job.user, rank + 1)
      ;(ranks[rank] ??= []).push(job)
    }
    const turns = new Map(this.#turns)
    const turnOf = ({ user }: Job): number => turns.get(user) ?? 0
    const line: J[] = []
    for (const equals of ranks)
      // Sorting keeps the order in which they came.
      for (const job of equals.sort((one, other) => turnOf(one) - turnOf(other)))
        turns.set(job.user, this.#turnCount + line.push(job))
    return (this.#order = { line, positions: new Map(line.map(({ id }, index) => [id, index + 1])) })
  }
}

function isLimited({ most, isExclusive }: Resource): boolean {
  return most !== undefined || isExclusive
}
