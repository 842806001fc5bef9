import { rename, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import { messageOf } from '../errors.js'
import { redactSamples } from '../samples/redact-samples.js'
import { findRowSecrets } from './row-secrets.js'
import type { GridRecord } from '../store/records.js'
import type { Store } from '../store/store.js'

/**
 * Moves the results of all runs into a folder, or the samples of their nodes where no results were made of them.
 * Moving takes no room and hardly any time, whatever their size; the folder has to be on the same disk. Only where the run was given
 * secrets, samples that nobody has read yet have to be read first.
 */
export async function keepSamples(store: Store, folder: string): Promise<string[]> {
  const kept: string[] = []
  for (const run of store.allRuns()) {
    const secrets = await findRowSecrets(run, store)
    for (const grid of store.gridsOf(run)) {
      const result = { from: store.resultFile(run.id, grid.id), name: nameOf(grid) }
      const nodes = Array.from({ length: grid.spec.instanceQuantity }, (_, index) => ({
        from: store.nodeFiles({ runId: run.id, gridId: grid.id, index }).samplesFile,
        name: `${nameOf(grid)}-node-${index + 1}`
      }))
      // Nodes' files that are still there have not become a result.
      for (const { from, name } of [...nodes, result]) {
        const to = join(folder, `${name}.csv`)
        if (await move(from, to, from === result.from ? [] : secrets)) kept.push(to)
      }
    }
  }
  return kept
}

function nameOf({ id, spec }: GridRecord): string {
  const region = spec.region.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, 60) || 'unknown'
  return `${region}-${id}`
}

/** An empty file is nothing that was measured. */
async function move(from: string, to: string, secrets: readonly string[]): Promise<boolean> {
  const size = await stat(from).then(
    (found) => found.size,
    () => 0
  )
  if (size === 0) return false
  try {
    // A row that was cut may hold half a secret.
    if (secrets.length > 0) await truncate(from, await redactSamples(from, secrets))
    makeFolder(dirname(to))
    await rename(from, to)
  } catch (thrown) {
    throw new Error(`${from} could not be moved to ${to} and stays where it is: ${messageOf(thrown)}`, {
      cause: thrown
    })
  }
  return true
}
