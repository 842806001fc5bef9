import { readFile } from 'node:fs/promises'
import { mayHaveNames, readPlanNames } from '../engines/jmeter/plan.js'
import { redactLog, secretForms, planSecrets } from '../engines/redact-log.js'
import type { RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'
import {
  decodeProperties,
  parseProperties,
  USER_PROPERTIES
} from '../../analysis/plans/jmx/user-properties.js'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'

/** JMeter reads it from the folder of the plan, as it does `user.properties`. */
const SYSTEM_PROPERTIES = 'system.properties'

/** Common values of properties whose names suggest a secret; they also appear in labels and messages for other reasons. */
const COMMON_WORDS =
  /^(?:passwords?|passwd|secrets?|tokens?|api-?key|sessions?|cookies?|bearer|basic|digest|oauth2?|openid|default|enabled|disabled|required|optional|session-?id|authorization|localhost|anonymous|unknown|undefined)$/i

/** What must not appear in a run's samples, in every form; but a value that is part of a name in the plan is public, and needed to find figures. */
export async function findRowSecrets(run: RunRecord, store: Store): Promise<string[]> {
  const given = await readRunSecrets(run, store)
  const values = given.filter((value) => !COMMON_WORDS.test(value))
  if (values.length === 0) return []
  const names = await readNames(run, store)
  return secretForms(values.filter((value) => !names.some((name) => name.includes(value))))
}

async function readNames({ id, files }: RunRecord, store: Store): Promise<string[]> {
  const plans = files.map(({ name }) => name).filter(mayHaveNames)
  const names = plans.map(async (name) => {
    const text = await readFile(store.folder.uploadedFile(id, name), 'utf8').catch(() => '')
    return readPlanNames(name, text)
  })
  return (await Promise.all(names)).flat()
}

/** The notes of a run for people to read: whoever wrote them may have repeated what the plan was given. */
export async function readNotes(run: RunRecord, store: Store): Promise<string> {
  const { notes } = run.request
  return notes === null ? '' : redactLog(notes, await readRunSecrets(run, store))
}

/** The secrets that a run's plan was given: properties and variables whose names say so. */
export async function readRunSecrets(
  { id, files, request }: Pick<RunRecord, 'id' | 'files' | 'request'>,
  store: Store
): Promise<string[]> {
  const read = async (file: string): Promise<Buffer> =>
    files.some(({ name }) => name === file)
      ? readFile(store.folder.uploadedFile(id, file)).catch(() => Buffer.alloc(0))
      : Buffer.alloc(0)
  const { variables } = parseEnvironment((await read(ENVIRONMENT_FILE)).toString())
  const properties = await Promise.all(
    [USER_PROPERTIES, SYSTEM_PROPERTIES].map(async (file) => [
      ...parseProperties(decodeProperties(await read(file)))
    ])
  )
  const ofFiles = properties.flat().map(([name, value]) => ({ kind: 'J' as const, name, value }))
  return planSecrets([...request.properties, ...ofFiles], variables)
}
