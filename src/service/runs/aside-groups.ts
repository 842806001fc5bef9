import type { RunRecord } from '../../contract/records.js'
import { RequestError } from '../errors.js'
import { askAboutPlan, refusePlan } from '../plans/ask.js'
import type { RunData } from '../store/store.js'
import { readRunSecrets } from './row-secrets.js'

/** They are kept and shown with the run. */
const MOST_GROUPS = 100
const LONGEST_NAMES = 10_000

/** The setUp and tearDown groups of a run's plan, by name: their rows count for their labels only. None if the plan is too large to be looked at. */
export async function asideGroupsOf(
  run: Pick<RunRecord, 'id' | 'files' | 'request'>,
  store: RunData
): Promise<readonly string[]> {
  const { id, request } = run
  const [plan, ...others] = run.files
  if (request.tool !== 'jmeter' || plan === undefined) return []
  const groups = await askAboutPlan('asideGroups', {
    folder: store.folder.uploadDir(id),
    plan: plan.name,
    others: others.map(({ name }) => name),
    inputs: {
      parameters: request.properties,
      threads: request.threads ?? undefined,
      rampupSeconds: request.rampupSec ?? undefined,
      durationSeconds: request.durationSec ?? undefined
    }
  }).catch((thrown: unknown) => {
    throw refusePlan(plan.name, thrown)
  })
  if (groups.length > MOST_GROUPS || groups.join('').length > LONGEST_NAMES)
    throw new RequestError(
      422,
      `${plan.name} has too many setUp and tearDown thread groups, or too long names of them: at most ${MOST_GROUPS}, with ${LONGEST_NAMES} characters in all`
    )
  // It is masked in the rows, and must not be shown in the run.
  const secrets = groups.length === 0 ? [] : await readRunSecrets(run, store)
  return groups.filter((name) => !secrets.some((secret) => name.includes(secret)))
}
