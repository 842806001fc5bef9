import { readFile } from 'node:fs/promises'
import { readAsideGroups } from '../../analysis/plans/check/aside-groups.js'
import { isJmx } from '../../analysis/plans/jmx/plan-tree.js'
import { decodeProperties, USER_PROPERTIES } from '../../analysis/plans/jmx/user-properties.js'
import type { RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'

/** The setUp and tearDown groups of a run's plan, by name: their rows count for their labels only. */
export async function asideGroupsOf(
  { id, files: [plan, ...others], request }: RunRecord,
  store: Store
): Promise<readonly string[]> {
  if (request.tool !== 'jmeter' || plan === undefined) return []
  const decode = (name: string, bytes: Buffer): string =>
    name === USER_PROPERTIES ? decodeProperties(bytes) : bytes.toString()
  const read = async (name: string): Promise<string> =>
    readFile(store.folder.uploadedFile(id, name)).then(
      (bytes) => decode(name, bytes),
      () => ''
    )
  const used = others.filter(({ name }) => isJmx(name) || name === USER_PROPERTIES)
  return readAsideGroups(await read(plan.name), {
    others: await Promise.all(used.map(async ({ name }) => ({ name, text: await read(name) }))),
    parameters: request.properties,
    threads: request.threads ?? undefined,
    rampupSeconds: request.rampupSec ?? undefined,
    durationSeconds: request.durationSec ?? undefined
  })
}
