import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { mayHaveNames, readPlanNames } from '../engines/jmeter/plan.js'
import { planSecrets, REDACTED, redactLog, secretForms } from '../engines/redact-log.js'
import { MARKER } from '../../contract/api/run-source.js'
import type { FileRecord, RunRecord, RunRequest } from '../../contract/records.js'
import type { RunData } from '../store/store.js'
import {
  decodeProperties,
  parseProperties,
  USER_PROPERTIES
} from '../../analysis/plans/jmx/user-properties.js'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'

/** JMeter reads it from the folder of the plan, as it does `user.properties`. */
const SYSTEM_PROPERTIES = 'system.properties'

/** Files that are made for secrets: for the run's owner and admins only. */
export const SECRET_FILES: readonly string[] = [ENVIRONMENT_FILE, USER_PROPERTIES, SYSTEM_PROPERTIES]

/** Common values of properties whose names suggest a secret; they also appear in labels and messages for other reasons. */
const COMMON_WORDS =
  /^(?:passwords?|passwd|secrets?|tokens?|api-?key|sessions?|cookies?|bearer|basic|digest|oauth2?|openid|default|enabled|disabled|required|optional|session-?id|authorization|localhost|anonymous|unknown|undefined)$/i

/** What must not appear in a run's samples, in every form; but a value that is part of a name in the plan is public, and needed to find figures. */
export async function findRowSecrets(run: RunRecord, store: RunData): Promise<string[]> {
  const given = await readRunSecrets(run, store)
  const values = given.filter((value) => !COMMON_WORDS.test(value))
  if (values.length === 0) return []
  const names = await readNames(run, store)
  return secretForms(values.filter((value) => !names.some((name) => name.includes(value))))
}

async function readNames({ id, files }: RunRecord, store: RunData): Promise<string[]> {
  const plans = files.map(({ name }) => name).filter(mayHaveNames)
  const names = plans.map(async (name) => {
    const text = await readFile(store.folder.uploadedFile(id, name), 'utf8').catch(() => '')
    return readPlanNames(name, text)
  })
  return (await Promise.all(names)).flat()
}

/** The request as it is kept: whoever described the run may have repeated what the plan was given. A gate must find its tag again. */
export async function redactRequest(request: RunRequest, given: Omit<Given, 'request'>): Promise<RunRequest> {
  const secrets = await readSecrets({ request, ...given })
  const forms = secretForms(secrets)
  const redact = (text: string): string => forms.reduce((rest, form) => rest.replaceAll(form, REDACTED), text)
  const { name, project, notes, tags } = request
  return {
    ...request,
    name: name && redact(name),
    project: project && redact(project),
    notes: notes && redactLog(notes, secrets),
    tags: tags.map((tag) => (MARKER.test(tag) ? tag : redact(tag)))
  }
}

/** The secrets that a run's plan was given: properties and variables whose names say so. */
export function readRunSecrets(
  { id, files, request }: Pick<RunRecord, 'id' | 'files' | 'request'>,
  store: RunData
): Promise<string[]> {
  return readSecrets({ request, files, folder: store.folder.uploadDir(id) })
}

interface Given {
  readonly request: RunRequest
  readonly files: readonly FileRecord[]
  /** Where the files are. */
  readonly folder: string
}

async function readSecrets({ request, files, folder }: Given): Promise<string[]> {
  const read = async (file: string): Promise<Buffer> =>
    files.some(({ name }) => name === file)
      ? readFile(join(folder, file)).catch(() => Buffer.alloc(0))
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
