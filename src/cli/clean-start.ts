import { accessSync, constants, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { isSecretName } from '../contract/secret-names.js'

/**
 * Whoever runs as the same user reads the environment that a process was started with (`/proc/<pid>/environ`), and so does a plan on the
 * service's machine; deleting a variable does not change that. So `loadgate serve` starts itself anew as the same process, without what
 * plans do not get anyway, and takes the rest from a file that is gone by then.
 */

/** The file with the variables; set for the second start only. */
const HANDED_OVER = 'LOADGATE_HANDED_OVER'
/** What Node and the system's libraries read before this program does, and what plans get. */
const STAYS =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|PWD|TERM|COLORTERM|NO_COLOR|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|SSL_CERT_FILE|SSL_CERT_DIR|OPENSSL_CONF|JAVA_HOME|JMETER_HOME|(?:NODE|UV|LD|DYLD|MALLOC|GLIBC|ICU)_\w+)$/
/** In memory, where there is such a folder. */
const PLACES = ['/dev/shm', tmpdir()]

type Variables = Readonly<Record<string, string>>

function startClean(): void {
  const { [HANDED_OVER]: file, ...given } = process.env as Variables & { [HANDED_OVER]?: string }
  if (file !== undefined) {
    takeOver(file)
    return
  }
  const away = Object.fromEntries(
    Object.entries(given).filter(([name]) => isSecretName(name) || !STAYS.test(name))
  )
  if (process.argv[2] !== 'serve' || Object.keys(away).length === 0) return
  const written = canStartAnew() ? write(away) : undefined
  if (written === undefined) {
    if (Object.keys(away).some(isSecretName)) tellOpen()
    return
  }
  const stay = Object.fromEntries(Object.entries(given).filter(([name]) => !(name in away)))
  process.execve?.(process.execPath, [process.argv0, ...process.execArgv, ...process.argv.slice(1)], {
    ...stay,
    [HANDED_OVER]: written
  })
}

/** A start that fails would end this process. */
function canStartAnew(): boolean {
  try {
    accessSync(process.execPath, constants.X_OK)
    return process.execve !== undefined
  } catch {
    return false
  }
}

/** Undefined if there is no place for it. */
function write(variables: Variables): string | undefined {
  for (const place of PLACES) {
    try {
      // For this user alone.
      const file = join(mkdtempSync(join(place, 'loadgate-')), 'environment')
      writeFileSync(file, JSON.stringify(variables), { mode: 0o600, flag: 'wx' })
      return file
    } catch {
      // The next one.
    }
  }
  return undefined
}

/** Variables that are set now are not in the environment that others can read. */
function takeOver(file: string): void {
  const variables = JSON.parse(readFileSync(file, 'utf8')) as Variables
  rmSync(dirname(file), { recursive: true })
  Reflect.deleteProperty(process.env, HANDED_OVER)
  Object.assign(process.env, variables)
}

function tellOpen(): void {
  process.stderr.write(
    'loadgate: plans that run on this machine can read the variables this service was started with, secrets too, because it cannot start itself anew without them; use Node 22.15 or later, or give secrets in files only\n'
  )
}

startClean()
