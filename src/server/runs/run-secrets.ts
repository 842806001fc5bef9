import { readFile } from 'node:fs/promises'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'
import { secretValues } from '../engines/redact-log.js'
import type { RunRecord } from '../store/records.js'
import type { Store } from '../store/store.js'

/** The secrets that a run's plan was given: properties and variables whose names say so. */
export async function readRunSecrets({ id, files, request }: RunRecord, store: Store): Promise<string[]> {
  const isGiven = files.some(({ name }) => name === ENVIRONMENT_FILE)
  const text = isGiven ? await readFile(store.uploadedFile(id, ENVIRONMENT_FILE), 'utf8').catch(() => '') : ''
  const variables = Object.entries(parseEnvironment(text).variables).map(([name, value]) => ({ name, value }))
  return secretValues([...request.properties, ...variables])
}
