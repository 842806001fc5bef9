import { messageOf } from '../../../contract/text.js'
import type { ImageShell } from '../../nodes/load-node.js'
import { findOnPath, type InstallPorts, isExecutable, runToEnd } from '../install/run-to-end.js'

/** Where programs are looked for and tried: this machine, or an image. */
export interface ProgramSource {
  /** The name of the image; undefined for this machine. */
  readonly image?: string
  variables(names: readonly string[]): Promise<Readonly<Record<string, string | undefined>>>
  /** The programs among these that can be started, in this order: paths, and names as the PATH has them first. */
  find(wanted: readonly string[]): Promise<string[]>
  /** What `--version` prints; `how` says how it ended. */
  askVersion(file: string): Promise<{ code: number | null; lines: readonly string[]; how: string }>
}

/** A program that prints its version does so within a second or two; another one may wait for ever. */
const LIMIT_HERE_MS = 20_000

export function programsHere(ports: InstallPorts, limitMs = LIMIT_HERE_MS): ProgramSource {
  return {
    variables: (names) => Promise.resolve(Object.fromEntries(names.map((name) => [name, ports.env[name]]))),
    find: async (wanted) => {
      const look = async (each: string): Promise<string | undefined> => {
        if (!each.includes('/')) return findOnPath(each, ports.env)
        return (await isExecutable(each)) ? each : undefined
      }
      const found = await Promise.all(wanted.map(look))
      return [...new Set(found.filter((file) => file !== undefined))]
    },
    askVersion: async (file) => {
      const limit = AbortSignal.timeout(limitMs)
      const signal = AbortSignal.any([ports.signal, limit])
      try {
        const ended = await runToEnd({ file, args: ['--version'] }, { ...ports, signal })
        ports.signal.throwIfAborted()
        return {
          ...ended,
          how: limit.aborted ? `no end within ${limitMs / 1000} s` : `exit code ${ended.code}`
        }
      } catch (thrown) {
        ports.signal.throwIfAborted()
        return { code: null, lines: [messageOf(thrown)], how: 'not started' }
      }
    }
  }
}

export function programsIn(image: ImageShell): ProgramSource {
  return {
    image: image.name,
    variables: (names) => readVariables(image, names),
    find: (wanted) => findPrograms(image, wanted),
    askVersion: (file) => runInImage(image, [file, '--version'])
  }
}

/** In a pod with little CPU it takes longer. */
const LIMIT_SEC = 60
/** What a shell reports for a program that was killed. */
const KILLED = 137

/** The variables of these names that the image sets. */
export async function readVariables(
  image: ImageShell,
  names: readonly string[]
): Promise<Readonly<Record<string, string>>> {
  const script =
    'for name; do eval "value=\\${$name-} isSet=\\${$name+yes}"; [ -z "$isSet" ] || printf \'@%s=%s\\n\' "$name" "$value"; done'
  const { lines } = await image.ask(script, names)
  const variables: Record<string, string> = {}
  let last: string | undefined
  for (const line of lines) {
    const [, name, value] = /^@(\w+)=(.*)$/s.exec(line) ?? []
    if (name !== undefined && value !== undefined && names.includes(name)) {
      variables[name] = value
      last = name
    } else if (last !== undefined) variables[last] = `${variables[last] ?? ''}\n${line}`
  }
  return variables
}

export async function findPrograms(image: ImageShell, wanted: readonly string[]): Promise<string[]> {
  const script = `
set -f
see() { [ -f "$1" ] && [ -x "$1" ] && printf '%s\\n' "$1"; }
for wanted; do
  case $wanted in
    /*) see "$wanted" ;;
    *) (IFS=:; for folder in $PATH; do case $folder in /*) see "$folder/$wanted" && break ;; esac; done) ;;
  esac
done
exit 0`
  const { lines } = await image.ask(script, wanted)
  return [...new Set(lines.filter((line) => line.startsWith('/')))]
}

/** The files of a folder with names of this kind, such as `*.jar`; none if there is no such folder. */
export async function listFiles(image: ImageShell, folder: string, pattern: string): Promise<string[]> {
  // The pattern is a word of the code, never of a user.
  const script = `for file in "$1"/${pattern}; do [ -f "$file" ] && printf '%s\\n' "$file"; done; exit 0`
  const { lines } = await image.ask(script, [folder])
  return lines.filter((line) => line.startsWith('/'))
}

/** Where a link leads to. */
export async function realPath(image: ImageShell, file: string): Promise<string> {
  const { code, lines } = await image.ask('readlink -f -- "$1"', [file])
  const [real] = lines
  return code === 0 && real?.startsWith('/') === true ? real : file
}

/** Runs a program to its end, or kills it: it may be another one than was thought, and wait for ever. */
export async function runInImage(
  image: ImageShell,
  command: readonly string[]
): Promise<{ code: number; lines: readonly string[]; how: string }> {
  // What waits has no part in the output, which would not end before it.
  const script = `
limit=$1; shift
"$@" </dev/null & tool=$!
(trap 'kill "$nap"; exit' TERM; sleep "$limit" & nap=$!; wait "$nap"; kill -9 "$tool") >/dev/null 2>&1 & watch=$!
wait "$tool"; code=$?
kill "$watch" 2>/dev/null
exit "$code"`
  const { code, lines } = await image.ask(script, [String(LIMIT_SEC), ...command])
  const how = code === KILLED ? `killed, as after ${LIMIT_SEC} s` : `exit code ${code}`
  return { code, lines, how }
}

/** Where browsers and drivers may be in an image, by the variable that names them, if they are not on its PATH. */
export const IN_OPT: Readonly<Record<string, readonly string[]>> = {
  CHROME: ['/opt/google/chrome/chrome', '/opt/chrome/chrome', '/opt/chromium/chrome'],
  CHROMEDRIVER: ['/opt/chromedriver/chromedriver', '/opt/chrome/chromedriver', '/opt/chromium/chromedriver'],
  FIREFOX: ['/opt/firefox/firefox'],
  GECKODRIVER: ['/opt/geckodriver/geckodriver', '/opt/firefox/geckodriver']
}
