import { posix } from 'node:path'
import { ToolError } from '../../errors.js'
import type { ImageShell } from '../../nodes/load-node.js'

interface Runtime {
  readonly title: 'Java' | 'Node'
  readonly name: 'java' | 'node'
  readonly home: string
  readonly versionFlag: string
  /** Its groups: the version, and two for its major number, one of which matches. */
  readonly version: RegExp
  readonly wanted: string
}

const JAVA: Runtime = {
  ...{ title: 'Java', name: 'java', home: 'JAVA_HOME', versionFlag: '-version', wanted: 'a JDK 17' },
  version: /version "((?:1\.(\d+)|(\d+))[^"]*)"/
}
const NODE: Runtime = {
  ...{ title: 'Node', name: 'node', home: 'NODE_HOME', versionFlag: '--version', wanted: 'Node 24' },
  version: /^(v(\d+)\.\d+\.\d+.*)$/m
}
const LEAST_NODE = 20

/** Finds it for `what`, in the variable's folder, on the PATH or in /opt, and asks it for its version. */
async function requireRuntime(
  image: ImageShell,
  { title, name, home, versionFlag, version, wanted }: Runtime,
  what: string
): Promise<{ file: string; version: string; major: number }> {
  const given = (await readVariables(image, [home]))[home]
  const inOpt = `/opt/${name}/bin/${name}`
  const [file] = await findPrograms(image, given ? [`${given}/bin/${name}`] : [name, inOpt])
  const needs = `${what} needs ${title}, and`
  if (file === undefined)
    throw new ToolError(
      given
        ? `${needs} in ${image.name} ${home} is ${given}, where there is no bin/${name}: correct the image's ${home}, or unset it to use the ${name} on the PATH`
        : `${needs} ${image.name} has none: there is no ${name} on its PATH, and no ${inOpt}; use an image with ${wanted}`
    )
  const { lines, how } = await runInImage(image, [file, versionFlag])
  const [, found, first, second] = version.exec(lines.join('\n')) ?? []
  if (found === undefined)
    throw new ToolError(
      `${needs} ${file} of ${image.name} does not print its version (${how}): ${lines.slice(0, 3).join(' ').slice(0, 300) || 'no output'}`
    )
  return { file, version: found, major: Number(first ?? second) }
}

export interface ImageJava {
  readonly java: string
  /** As it says itself, such as `17.0.16`. */
  readonly version: string
  readonly major: number
  /** `HEAP` and `JVM_ARGS`, as far as the image sets them. */
  readonly jvm: Readonly<Record<string, string>>
}

export async function requireImageJava(image: ImageShell, what: string): Promise<ImageJava> {
  const { file, ...java } = await requireRuntime(image, JAVA, what)
  return { java: file, ...java, jvm: await readVariables(image, ['HEAP', 'JVM_ARGS']) }
}

export async function requireImageNode(image: ImageShell, what: string): Promise<string> {
  const { file, version, major } = await requireRuntime(image, NODE, what)
  if (major >= LEAST_NODE) return file
  throw new ToolError(
    `${what} needs Node ${LEAST_NODE} or later, and ${file} of ${image.name} is ${version}; use an image with ${NODE.wanted}`
  )
}

/** An installation of a tool in an image: in a variable's folder, where a script on the PATH leads to, or in /opt. */
interface ToolHome<T> {
  readonly title: string
  readonly variable: string
  readonly script: string
  readonly inOpt: string
  /** What is in a folder, if it is an installation. */
  readonly look: (home: string) => Promise<T | undefined>
  /** What is missing if it is none. */
  readonly missing: string
}

/** Undefined if there is none; throws if the variable leads nowhere. */
export async function findHome<T>(
  image: ImageShell,
  { title, variable, script, inOpt, look, missing }: ToolHome<T>
): Promise<T | undefined> {
  const given = (await readVariables(image, [variable]))[variable]
  if (given) {
    const found = await look(given)
    if (found !== undefined) return found
    throw new ToolError(
      `In ${image.name} ${variable} is ${given}, but there is no ${missing}; point it to an installation of ${title}, or unset it`
    )
  }
  const [onPath] = await findPrograms(image, [script])
  const home = onPath && posix.dirname(posix.dirname(await realPath(image, onPath)))
  return (home === undefined ? undefined : await look(home)) ?? look(inOpt)
}

/** A program that prints its version does so within a second or two; in a pod with little CPU it takes longer. */
const LIMIT_SEC = 60
/** What a shell reports for a program that was killed. */
const KILLED = 137

/** The variables of these names that the image sets. */
export async function readVariables(image: ImageShell, names: readonly string[]) {
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

/** The programs among these that can be started, in this order: paths, and names as the PATH has them first. */
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
  // The pattern is always a constant of this program.
  const script = `for file in "$1"/${pattern}; do [ -f "$file" ] && printf '%s\\n' "$file"; done; exit 0`
  const { lines } = await image.ask(script, [folder])
  return lines.filter((line) => line.startsWith('/'))
}

async function realPath(image: ImageShell, file: string): Promise<string> {
  const { code, lines } = await image.ask('readlink -f -- "$1"', [file])
  const [real] = lines
  return code === 0 && real?.startsWith('/') === true ? real : file
}

/** Runs a program to its end, or kills it: it may be a different one than expected, and wait forever. */
export async function runInImage(image: ImageShell, command: readonly string[]) {
  // The waiting shell must not hold the output open.
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

export const CHROME_ON_MAC = [
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  '/Applications/Chromium.app/Contents/MacOS/Chromium'
]

/** Where browsers and drivers may be in an image, by the variable that names them, if they are not on its PATH. */
export const IN_OPT: Readonly<Record<string, readonly string[]>> = {
  CHROME: ['/opt/google/chrome/chrome', '/opt/chrome/chrome', '/opt/chromium/chrome'],
  CHROMEDRIVER: ['/opt/chromedriver/chromedriver', '/opt/chrome/chromedriver', '/opt/chromium/chromedriver'],
  FIREFOX: ['/opt/firefox/firefox'],
  GECKODRIVER: ['/opt/geckodriver/geckodriver', '/opt/firefox/geckodriver']
}
