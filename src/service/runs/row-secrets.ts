import { readFile } from 'node:fs/promises'
import { mayHaveNames, readPlanNames } from '../engines/jmeter/plan.js'
import { redactLog, secretForms, planSecrets } from '../engines/redact-log.js'
import type { RunRecord } from '../../contract/records.js'
import type { Store } from '../store/store.js'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'

/** Common values of properties whose names suggest a secret; they also appear in labels and messages for other reasons. */
const COMMON_WORDS =
  /^(?:passwords?|passwd|secrets?|tokens?|api-?key|sessions?|cookies?|bearer|basic|digest|oauth2?|openid|default|enabled|disabled|required|optional|session-?id|authorization|localhost|anonymous|unknown|undefined)$/i

/** What must not appear in a run's samples, in every form; but a value in one of the plan's names is public, and needed to find figures. */
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
export async function readRunSecrets({ id, files, request }: RunRecord, store: Store): Promise<string[]> {
  const isGiven = files.some(({ name }) => name === ENVIRONMENT_FILE)
  const text = isGiven
    ? await readFile(store.folder.uploadedFile(id, ENVIRONMENT_FILE), 'utf8').catch(() => '')
    : ''
  return planSecrets(request.properties, parseEnvironment(text).variables)
}
