import { quote } from '../../../../contract/regions/regions.js'
import type { NodeCommand } from '../../load-node.js'

/** Java and others use the encoding of the locale; without one that is ASCII. Where this one does not exist either, some shells complain. */
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
export function commandScript({ file, args, cwd, env }: NodeCommand): string {
  const words = [file, ...args].map(quote).join(' ')
  return `${exportLines(env)}cd ${quote(cwd)} || exit 126\nexec ${words}\n`
}
