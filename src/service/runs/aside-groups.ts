import { readFile, stat } from 'node:fs/promises'
import { readAsideGroups } from '../../analysis/plans/check/aside-groups.js'
import { LARGEST_OTHER_BYTES, LARGEST_PLAN_BYTES } from '../../analysis/plans/check/request.js'
import { isJmx } from '../../analysis/plans/jmx/plan-tree.js'
import { decodeProperties, USER_PROPERTIES } from '../../analysis/plans/jmx/user-properties.js'
import type { RunRecord } from '../../contract/records.js'
import type { RunData } from '../store/store.js'
import { readRunSecrets } from './row-secrets.js'

/** The setUp and tearDown groups of a run's plan, by name: their rows count for their labels only. None if the plan is too large to be looked at. */
export async function asideGroupsOf(
  run: Pick<RunRecord, 'id' | 'files' | 'request'>,
  store: RunData
): Promise<readonly string[]> {
  const { id, request } = run
  const [plan, ...others] = run.files
  if (request.tool !== 'jmeter' || plan === undefined) return []
  const read = async (name: string, mostBytes: number): Promise<string> => {
    const path = store.folder.uploadedFile(id, name)
    const size = await stat(path).then(
      (file) => file.size,
      () => Infinity
    )
    if (size > mostBytes) return ''
    const bytes = await readFile(path)
    return name === USER_PROPERTIES ? decodeProperties(bytes) : bytes.toString()
  }
  const text = await read(plan.name, LARGEST_PLAN_BYTES)
  const used = others.filter(({ name }) => isJmx(name) || name === USER_PROPERTIES)
  const groups = readAsideGroups(text, {
    others: await Promise.all(
      used.map(async ({ name }) => ({ name, text: await read(name, LARGEST_OTHER_BYTES) }))
    ),
    parameters: request.properties,
    threads: request.threads ?? undefined,
    rampupSeconds: request.rampupSec ?? undefined,
    durationSeconds: request.durationSec ?? undefined
  })
  // It is masked in the rows, and must not be shown in the run.
  const secrets = groups.length === 0 ? [] : await readRunSecrets(run, store)
  return groups.filter((name) => !secrets.some((secret) => name.includes(secret)))
}
