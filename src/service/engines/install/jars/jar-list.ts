import { createHash } from 'node:crypto'
import { join } from 'node:path'

/** Jars that belong together: a tool with everything it needs. */
export interface JarList {
  /** With the version, such as `gatling-3.15.1`. */
  readonly name: string
  /** `group:artifact:version sha256`, or `group:artifact:extension:classifier:version sha256`. */
  readonly jars: readonly string[]
}

export type Jar = ReturnType<typeof readJar>

export function readJar(line: string) {
  const [coordinates = '', sha256 = ''] = line.split(' ')
  const [group = '', artifact = '', ...rest] = coordinates.split(':')
  const version = rest.at(-1) ?? ''
  const [extension = 'jar', classifier] = rest.slice(0, -1)
  const suffix = classifier === undefined ? '' : `-${classifier}`
  return {
    coordinates,
    sha256,
    fileName: `${artifact}-${version}${suffix}.${extension}`,
    repositoryFolder: [...group.split('.'), artifact, version].join('/')
  }
}

/** The jars of a list in the folder with them, always in the same order; whatever else lies there is none of them. */
export function jarPaths(folder: string, { jars }: JarList): string[] {
  return jars
    .map((line) => readJar(line).fileName)
    .sort()
    .map((name) => join(folder, name))
}

/** Changes with any jar of the list, so that a folder named by it never holds another list's jars. */
export function fingerprint(lines: readonly string[]): string {
  return createHash('sha256').update(lines.join('\n')).digest('hex').slice(0, 12)
}
