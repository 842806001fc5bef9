import { messageOf } from '../../contract/text.js'
import { NodeError, type NodePlace, type NodeSet, type NodeSetRequest } from '../nodes/load-node.js'
import type { GridRecord } from '../../contract/records.js'

type Wish = Pick<NodeSetRequest, 'runId' | 'tool' | 'isTakenUp'>

interface Opened {
  readonly set: Promise<NodeSet>
  readonly controller: AbortController
}

/** The nodes of the grids that have any, from their start until they are given back. */
export class GridNodes {
  readonly #placeOf: (region: string) => NodePlace | undefined
  readonly #opened = new Map<string, Opened>()

  constructor(placeOf: (region: string) => NodePlace | undefined) {
    this.#placeOf = placeOf
  }

  /** Whether they outlive this process. */
  outlive({ spec }: GridRecord): boolean {
    return this.#placeOf(spec.region)?.outlivesService ?? false
  }

  /** Starts them; they are closed by `close` alone, even if the signal aborts. */
  open(grid: GridRecord, wish: Wish, signal: AbortSignal): Promise<NodeSet> {
    const controller = new AbortController()
    const set = this.#start(grid, wish, AbortSignal.any([signal, controller.signal]))
    this.#opened.set(grid.id, { set, controller })
    set.catch(() => undefined)
    return set
  }

  /** Undefined if they were never started, or have been given back. */
  of(grid: GridRecord): Promise<NodeSet> | undefined {
    return this.#opened.get(grid.id)?.set
  }

  /** Gives them back, also if they are only just starting. */
  async close(grid: GridRecord): Promise<void> {
    const opened = this.#opened.get(grid.id)
    if (opened === undefined) return
    this.#opened.delete(grid.id)
    opened.controller.abort(new NodeError(`the nodes in ${grid.spec.region} are not needed any more`))
    const set = await opened.set.catch(() => undefined)
    await set?.close()
  }

  async #start({ id, spec, startedMs }: GridRecord, wish: Wish, signal: AbortSignal): Promise<NodeSet> {
    const place = this.#placeOf(spec.region)
    if (place === undefined) throw new NodeError(`there is no region ${spec.region} any more`)
    const { region, instanceQuantity: quantity, instanceType, stopAfterMin } = spec
    const request = { gridId: id, region, quantity, instanceType, stopAfterMin, ...wish }
    try {
      if (!wish.isTakenUp || startedMs !== null) return await place.open(request, signal)
      // It is not known how far the start was: nothing ran on them yet, so new ones do as well.
      return await place
        .open({ ...request, isStarting: true }, signal)
        .catch(() => place.open({ ...request, isTakenUp: false }, signal))
    } catch (thrown) {
      if (signal.aborted) throw signal.reason
      if (thrown instanceof NodeError) throw thrown
      throw new NodeError(
        `the nodes in ${region} (${place.name}) could not be started: ${messageOf(thrown)}`,
        { cause: thrown }
      )
    }
  }
}
