import { rename, stat, truncate } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeFolder } from '../../files/make-folder.js'
import { regionName } from '../../files/region-name.js'
import { messageOf } from '../errors.js'
import { redactSamples } from '../samples/redact-samples.js'
import { findRowSecrets } from './row-secrets.js'
import type { GridRecord } from '../store/records.js'
import type { Store } from '../store/store.js'

/**
 * Moves the results of all runs into a folder, or their nodes' samples if there are no results yet. Moving needs no
 * space and hardly any time, whatever the size; the folder must be on the same disk. Only if the run has secrets must
 * samples that were not read yet be read and redacted first.
 */
export async function keepSamples(store: Store, folder: string): Promise<string[]> {
  const kept: string[] = []
  for (const run of store.listRuns({ offset: 0, limit: Infinity }).runs) {
    const secrets = await findRowSecrets(run, store)
    for (const grid of store.gridsOf(run)) {
      const result = { from: store.folder.resultFile(run.id, grid.id), name: nameOf(grid) }
      const nodes = Array.from({ length: grid.spec.instanceQuantity }, (_, index) => ({
        from: store.folder.nodeFiles({ runId: run.id, gridId: grid.id, index }).samplesFile,
        name: `${nameOf(grid)}-node-${index + 1}`
      }))
      // Node files that still exist were not merged into a result.
      for (const { from, name } of [...nodes, result]) {
        const to = join(folder, `${name}.csv`)
        if (await move(from, to, from === result.from ? [] : secrets)) kept.push(to)
      }
    }
  }
  return kept
}

function nameOf({ id, spec }: GridRecord): string {
  const region = regionName(spec.region)
  return `${region}-${id}`
}

/** An empty file has no samples. */
async function move(from: string, to: string, secrets: readonly string[]): Promise<boolean> {
  const size = await stat(from).then(
    (found) => found.size,
    () => 0
  )
  if (size === 0) return false
  try {
    // A truncated row may contain half a secret.
    if (secrets.length > 0) await truncate(from, await redactSamples(from, secrets))
    makeFolder(dirname(to))
    await rename(from, to)
  } catch (thrown) {
    throw new Error(`could not move ${from} to ${to}, so it stays where it is: ${messageOf(thrown)}`, {
      cause: thrown
    })
  }
  return true
}
