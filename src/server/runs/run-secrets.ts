import { readFile } from 'node:fs/promises'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'
import { planSecrets } from '../engines/redact-log.js'
import type { RunRecord } from '../store/records.js'
import type { Store } from '../store/store.js'

/** The secrets that a run's plan was given: properties and variables whose names say so. */
export async function readRunSecrets({ id, files, request }: RunRecord, store: Store): Promise<string[]> {
  const isGiven = files.some(({ name }) => name === ENVIRONMENT_FILE)
  const text = isGiven
    ? await readFile(store.folder.uploadedFile(id, ENVIRONMENT_FILE), 'utf8').catch(() => '')
    : ''
  return planSecrets(request.properties, parseEnvironment(text).variables)
}
