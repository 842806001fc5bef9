import { Dispatcher } from 'undici'
import type { ManualClock } from '../manual-clock.js'
import { Caller } from './one-run-caller.js'
import type { Handler, Life } from './one-run-caller.js'
import { FAULTS, MOST_FAULTS } from './one-run-faults.js'
import type { Fault, Operation } from './one-run-faults.js'
import type { Answered, Asked, ModelService } from './one-run-service.js'
import type { Choice } from '../data/seeded-choice.js'

/** What lies between the step and the service, with the faults of a seed: each operation has a few, and then works. */
export class ModelNetwork {
  /** Where the API is; links contain `/api` in any case. */
  readonly #prefix: string
  readonly #faults = new Map<Operation, (string | undefined)[]>()
  /** Creations that had an effect; one that the network sent twice counts once. */
  creations = 0
  /** A creation had its effect long after it had failed for who asked for it. */
  hasLateCreation = false
  readonly log: string[] = []

  constructor(
    readonly service: ModelService,
    readonly clock: ManualClock,
    readonly choice: Choice,
    isCalm: boolean,
    /** How many requests of an operation may work before the next one that does not. */
    mostGood = 0
  ) {
    this.#prefix = choice.of(['', '/api'])
    for (const operation of Object.keys(FAULTS) as Operation[]) {
      const count = isCalm || choice.chance(0.3) ? 0 : choice.between(0, MOST_FAULTS[operation])
      const names = Object.keys(FAULTS[operation])
      this.#faults.set(
        operation,
        Array.from({ length: count }, () => [
          ...Array.from({ length: mostGood === 0 ? 0 : choice.between(0, mostGood) }, () => undefined),
          choice.of(names)
        ]).flat()
      )
    }
  }

  dispatcherFor(life: Life): Dispatcher {
    const exchange = this.#exchange.bind(this)
    return new (class extends Dispatcher {
      override dispatch(options: Dispatcher.DispatchOptions, handler: unknown): boolean {
        void exchange(options, new Caller(handler as Handler, life))
        return true
      }
    })()
  }

  async #exchange(options: Dispatcher.DispatchOptions, caller: Caller): Promise<void> {
    if (!caller.connect()) return
    const path = `/api${options.path.slice(this.#prefix.length)}`
    const asked = { method: options.method, path, body: await readBody(options.body) }
    if (options.path.startsWith('/api/') !== (this.#prefix === '/api')) {
      this.log.push(`${Math.round(this.clock.elapsedMs)} nothing is at ${options.path}`)
      caller.answer({ status: 404, body: '<html><title>Not found</title></html>' })
      return
    }
    const operation = operationOf(asked)
    const fault = this.#faults.get(operation)?.shift()
    this.log.push(
      `${Math.round(this.clock.elapsedMs)} ${operation} ${asked.path}${fault === undefined ? '' : `: ${fault}`}`
    )
    const plain: Fault = ({ effect }) => caller.answer(effect())
    await (FAULTS[operation][fault ?? ''] ?? plain)({
      caller,
      choice: this.choice,
      patienceMs: options.headersTimeout ?? 0,
      effect: (how) => this.#effect(asked, how),
      sleep: (ms) => this.clock.sleep(ms)
    })
  }

  #effect(asked: Asked, { isLate = false, isTwice = false } = {}): Answered {
    const isCreation = ['create', 'repeat'].includes(operationOf(asked))
    if (isCreation && !isTwice) this.creations++
    this.hasLateCreation ||= isCreation && isLate
    return this.service.answer(asked)
  }
}

function operationOf({ method, path }: Asked): Operation {
  if (path === '/api/account') return 'account'
  if (path.startsWith('/api/grids')) return method === 'DELETE' ? 'terminate' : 'other'
  const [, id, action] = /^\/api\/runs(?:\/([^/?]+))?(?:\/([^?]+))?/.exec(path) ?? []
  if (id === undefined) return method === 'POST' ? 'create' : 'list'
  if (action === undefined) return 'show'
  return action === 'stop' || action === 'repeat' ? action : 'other'
}

async function readBody(body: unknown): Promise<string> {
  if (body === null || body === undefined) return ''
  const chunks: Buffer[] = []
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) chunks.push(chunk)
  } catch {
    // Whoever sent it has hung up.
  }
  return Buffer.concat(chunks).toString('latin1')
}
