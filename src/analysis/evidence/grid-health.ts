interface LookedGrid {
  readonly id: string
  readonly status: string
  /** As many as it should have. */
  readonly nodeCount: number | undefined
  readonly nodes: readonly { readonly address: string | undefined; readonly state: string | undefined }[]
}

const BAD: ReadonlySet<string> = new Set(['failed', 'failure', 'problem', 'error', 'lost', 'crashed'])
/** `unknown` stands for a status that is missing. */
const GOOD: ReadonlySet<string> = new Set([
  ...['unknown', 'queued', 'pending', 'provisioning', 'starting', 'started', 'ready', 'idle', 'running'],
  ...['stopping', 'stopped', 'terminating', 'terminated', 'shutting-down', 'invoiced'],
  ...['finished', 'complete', 'completed']
])

class Health {
  /** What went wrong, in clauses. */
  readonly bad = new Set<string>()
  /** Words that nobody knows. */
  readonly unknown = new Set<string>()
  nodeCount: number | undefined
  mostNodes = 0
  /** Whether nodes were listed before the run had ended: afterwards they go, one by one. */
  wasListed = false
}

/** What all looks at a run together say about its grids: machines that are gone after its end were there. */
export class GridHealth {
  readonly #grids = new Map<string, Health>()

  note(grids: readonly LookedGrid[], { hasEnded }: { readonly hasEnded: boolean }): void {
    for (const { id, status, nodeCount, nodes } of grids) {
      const health = this.#of(id)
      health.nodeCount = nodeCount ?? health.nodeCount
      health.mostNodes = Math.max(health.mostNodes, nodes.length)
      health.wasListed ||= nodes.length > 0 && !hasEnded
      weigh(health, `grid ${id}`, status)
      for (const [index, { address, state = '' }] of nodes.entries())
        if (state !== '') weigh(health, `node ${address ?? index + 1} of grid ${id}`, state)
    }
  }

  get gaps(): string[] {
    return [...this.#grids].flatMap(([id, { bad, nodeCount = 0, mostNodes, wasListed }]) => {
      const isShort = wasListed && mostNodes < nodeCount
      const few = `The service lists ${mostNodes} of the ${nodeCount} nodes of grid ${id}: the others did not take part.`
      return [...[...bad].map((clause) => `The service says that ${clause}.`), ...(isShort ? [few] : [])]
    })
  }

  get doubts(): string[] {
    return [...this.#grids.values()].flatMap(({ unknown }) =>
      [...unknown].map((clause) => `The service says that ${clause}, which may mean that load is missing.`)
    )
  }

  #of(id: string): Health {
    const known = this.#grids.get(id) ?? new Health()
    this.#grids.set(id, known)
    return known
  }
}

function weigh({ bad, unknown }: Health, subject: string, word: string): void {
  const plain = word.trim().toLowerCase()
  if (BAD.has(plain)) bad.add(`${subject} is "${word}"`)
  else if (!GOOD.has(plain)) unknown.add(`${subject} is "${word}"`)
}
