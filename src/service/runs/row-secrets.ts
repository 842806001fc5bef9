import { readFile, stat } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { askAboutPlan } from '../plans/ask.js'
import { mayHaveNames } from '../plans/names.js'
import { planSecrets, REDACTED, redactKnown, redactLog, secretForms } from '../engines/redact-log.js'
import { MARKER } from '../../contract/api/run-source.js'
import type { FileRecord, RunRecord, RunRequest } from '../../contract/records.js'
import { when } from '../../contract/text.js'
import type { RunData } from '../store/store.js'
import {
  decodeProperties,
  parseProperties,
  USER_PROPERTIES
} from '../../analysis/plans/jmx/user-properties.js'
import { ENVIRONMENT_FILE, parseEnvironment } from '../engines/environment-file.js'

/** JMeter reads it from the folder of the plan, as it does `user.properties`. */
const SYSTEM_PROPERTIES = 'system.properties'

/** Files that are made for secrets: the values in them are for whoever uploaded them only. */
export const SECRET_FILES: readonly string[] = [ENVIRONMENT_FILE, USER_PROPERTIES, SYSTEM_PROPERTIES]

/** Such a file without its values, and without comments, which may have more of them. */
export async function listNames(file: string): Promise<string> {
  const bytes = await readFile(file)
  const names =
    basename(file) === ENVIRONMENT_FILE
      ? Object.keys(parseEnvironment(bytes.toString()).variables)
      : [...parseProperties(decodeProperties(bytes)).keys()]
  const lines = names.map((name) => `${name.replace(/\p{Cc}/gu, ' ')}=${REDACTED}`)
  return ['# The values are for whoever uploaded this file.', ...lines, ''].join('\n')
}

/** Common values of properties whose names suggest a secret; they also appear in labels and messages for other reasons. */
const COMMON_WORDS =
  /^(?:passwords?|passwd|secrets?|tokens?|api-?key|sessions?|cookies?|bearer|basic|digest|oauth2?|openid|default|enabled|disabled|required|optional|session-?id|authorization|localhost|anonymous|unknown|undefined)$/i

/** What must not appear in a run's samples, in every form; but a value that is part of a name in the plan is public, and needed to find figures. */
export async function findRowSecrets(run: RunRecord, store: RunData): Promise<string[]> {
  const given = await readRunSecrets(run, store)
  const values = given.filter((value) => !COMMON_WORDS.test(value))
  if (values.length === 0) return []
  const names = run.files.map(({ name }) => name).filter(mayHaveNames)
  if (names.length === 0) return secretForms(values)
  // In doubt a value is secret.
  const asked = { folder: store.folder.uploadDir(run.id), names, values }
  return secretForms(await askAboutPlan('unnamed', asked).catch(() => values))
}

/** For each of them. Variables of a process have less room anyway. */
const LARGEST_GIVEN_BYTES = 256 * 1024
const MOST_SECRETS = 1000
/** In all. Each is looked for in up to twenty forms, and what finds them takes about 15 bytes per character. */
const MOST_SECRET_CHARACTERS = 64 * 1024

/** Why a run with these files cannot be created: they are read again and again while it runs. */
export async function refuseGiven(request: RunRequest, given: Omit<Given, 'request'>): Promise<string[]> {
  const names = given.files.map(({ name }) => name).filter((name) => SECRET_FILES.includes(name))
  const sizes = await Promise.all(names.map(async (name) => (await stat(join(given.folder, name))).size))
  const problems = names
    .filter((_, index) => (sizes[index] ?? 0) > LARGEST_GIVEN_BYTES)
    .map((name) => `${name} must not be larger than ${LARGEST_GIVEN_BYTES / 1024} KiB`)
  if (problems.length > 0) return problems
  const secrets = await readSecrets({ request, ...given })
  const characters = secrets.reduce((sum, { length }) => sum + length, 0)
  const where = 'secret values in its parameters and files'
  return [
    ...when(
      secrets.length > MOST_SECRETS,
      `the run has ${secrets.length} ${where}, and at most ${MOST_SECRETS} can be redacted`
    ),
    ...when(
      characters > MOST_SECRET_CHARACTERS,
      `the run has ${where} of ${characters} characters together, and at most ${MOST_SECRET_CHARACTERS} can be redacted`
    )
  ]
}

/** The request as it is kept: whoever described the run may have repeated what the plan was given. A gate must find its tag again. */
export async function redactRequest(request: RunRequest, given: Omit<Given, 'request'>): Promise<RunRequest> {
  const secrets = await readSecrets({ request, ...given })
  const redact = (text: string): string => redactKnown(text, secrets)
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
