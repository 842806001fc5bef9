import { posix, resolve } from 'node:path'
import { quote } from '../../../../contract/regions/regions.js'

/** Where tools can write although the user of a pod has no home and its image is read-only. */
export function podEnvironment(home: string): NodeJS.ProcessEnv {
  return { HOME: posix.join(home, 'home'), TMPDIR: '/tmp' }
}

/**
 * Java and others read and write text in the encoding of the locale; an image without a locale would mean ASCII. Where this one does
 * not exist either, some shells complain.
 */
const UTF8 = `case "\${LC_ALL:-\${LC_CTYPE:-\${LANG:-}}}" in
  *UTF-8* | *utf-8* | *UTF8* | *utf8*) ;;
  *) [ -n "$(LC_ALL=C.UTF-8 sh -c : 2>&1)" ] || export LC_ALL=C.UTF-8 ;;
esac
`

/** Lines of sh that set variables: those of the image stay unless they are named. */
export function exportLines(env: NodeJS.ProcessEnv): string {
  const lines = Object.entries(env).map(([name, value]) => {
    if (value === undefined) return ''
    if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
      throw new Error(
        `The environment variable ${name} cannot be set in a pod: its name is not one that sh accepts.`
      )
    return `export ${name}=${quote(value)}\n`
  })
  return `${UTF8}${lines.join('')}`
}

/** The script of a turn, which becomes the tool. */
export function commandScript(command: {
  file: string
  args: readonly string[]
  cwd: string
  env: NodeJS.ProcessEnv
}): string {
  const words = [command.file, ...command.args].map(quote).join(' ')
  return `${exportLines(command.env)}cd ${quote(command.cwd)} || exit 126\nexec ${words}\n`
}

/** The folder of a pod that is ours. */
export const POD_HOME = '/loadgate'

/** Where things are in a pod. */
export interface PodPaths {
  readonly home: string
  /** The folder of one piece of work. */
  turnOf(id: string): string
  /** Where a file of this machine is. */
  fileOf(file: string): string
}

export function podPaths(home: string): PodPaths {
  return {
    home,
    turnOf: (id) => posix.join(home, 'turns', id),
    fileOf: (file) => `${posix.join(home, 'files')}${resolve(file)}`
  }
}
