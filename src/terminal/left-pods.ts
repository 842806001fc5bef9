import { kubectlDelete } from '../regions/kubectl-delete.js'
import type { ClusterAddress } from '../gate/step-state.js'

/** The clusters on which an embedded service may run pods: there is no post step here that could delete them. */
export class LeftPods {
  #started: { addresses: readonly ClusterAddress[]; marker: string | undefined } | undefined

  /** Without a marker, it is kept in the service's data folder. */
  note(addresses: readonly ClusterAddress[], marker: string | undefined): void {
    this.#started = { addresses, marker }
  }

  /** The service was closed, and has deleted them. */
  forget(): void {
    this.#started = undefined
  }

  /** What to say if the process ends before that; undefined if there is nothing to say. */
  describe(): string | undefined {
    if (this.#started === undefined || this.#started.addresses.length === 0) return undefined
    const { addresses, marker } = this.#started
    const ends = 'pods may still be running; they end by their own deadline.'
    if (marker === undefined)
      return `${ends} The next \`loadgate serve\` with the same --data continues with them or deletes them.`
    const commands = addresses.map(
      (address) => `  ${kubectlDelete(address, `loadgate.dev/marker=${marker}`)}`
    )
    return [`${ends} Delete them with:`, ...commands].join('\n')
  }
}
