import { createHash } from 'node:crypto'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type JarList, readJar } from '../../../../src/service/engines/install/jars/jar-list.js'
import { writeScript } from '../../stand-in.js'

/** A list whose jars have these contents, by coordinates, and a folder that serves them. */
export function publish(
  remote: string,
  name: string,
  contents: Readonly<Record<string, string | Buffer>>
): JarList {
  mkdirSync(remote, { recursive: true })
  const jars = Object.entries(contents).map(([coordinates, content]) => {
    writeFileSync(join(remote, readJar(coordinates).fileName), content)
    return `${coordinates} ${createHash('sha256').update(content).digest('hex')}`
  })
  return { name, jars }
}

/** What a stand-in for Maven does; each is a list of shell commands, run with `$list`, `$to`, `$outcome` and `$name`. */
export interface MavenLines {
  /** Before anything else. */
  readonly first?: readonly string[]
  /** For each jar, as `$name`, before it is copied. */
  readonly each?: readonly string[]
  /** For each jar, after it was copied. */
  readonly afterEach?: readonly string[]
  /** At the end, instead of telling that all were fetched. */
  readonly last?: readonly string[]
}

/** Reads what our arguments say. Shell builtins only: nothing else need be on the PATH. */
const READ_ARGUMENTS = [
  'list=; to=; outcome=; repository=;',
  'for argument in "$@"; do case "$argument" in',
  '  -Dloadgate.fetch.list=*) list=${argument#*=} ;;',
  '  -Dloadgate.fetch.to=*) to=${argument#*=} ;;',
  '  -Dloadgate.fetch.outcome=*) outcome=${argument#*=} ;;',
  '  -Dmaven.repo.local=*) repository=${argument#*=} ;;',
  'esac; done'
]

/** A Maven with our extension that copies jars from a folder; it notes its arguments in `calls`. */
export function writeMaven(tools: string, remote: string, lines: MavenLines = {}): void {
  writeScript(join(tools, 'mvn'), [
    ...READ_ARGUMENTS,
    `echo "$*" >> '${tools}/calls'; /usr/bin/env > '${tools}/environment'`,
    ...(lines.first ?? []),
    'while IFS=: read -r group artifact one two three; do',
    '  case "$three" in "") name=$artifact-$one.jar ;; *) name=$artifact-$three-$two.$one ;; esac',
    ...(lines.each ?? []),
    `  /bin/cp '${remote}'/"$name" "$to/$name"`,
    '  echo "Downloaded from somewhere: $name"',
    ...(lines.afterEach ?? []),
    'done < "$list"',
    ...(lines.last ?? ['echo fetched > "$outcome"'])
  ])
}

/** The arguments of each call, in order. */
export function callsOf(tools: string): string[] {
  try {
    return readFileSync(join(tools, 'calls'), 'utf8').trim().split('\n')
  } catch {
    return []
  }
}
