// How a compiled script reaches the API: every user has an instance of the script of its own, imported under an address of its own,
// and the module that stands for '@flood/element' asks for the API by that address.

import { pathToFileURL } from 'node:url'

type Exports = Record<string, unknown>

const KEY = 'loadgate.element'
const registry = new Map<string, Given & { readonly url: string }>()

/** What a compiled script is given. */
interface Given {
  readonly exports: Exports
  /** Where the uploaded files are, and the script among them. */
  readonly folder: string
  readonly file: string
}

/** What a script knows about its own place: that of its source, not of what it is compiled into. */
export const PLACE_NAMES = {
  __dirname: 'loadgateGiven.folder',
  __filename: 'loadgateGiven.file',
  'import.meta.dirname': 'loadgateGiven.folder',
  'import.meta.filename': 'loadgateGiven.file',
  'import.meta.url': 'loadgateGiven.url'
} as const

/** The first line of a compiled script. */
export const BANNER = `const loadgateGiven = globalThis[${JSON.stringify(KEY)}].get(import.meta.url)`

/** Makes the API of a user available to the module with this address. */
export function provideExports(address: string, given: Given): void {
  registry.set(address, { ...given, url: pathToFileURL(given.file).href })
  Object.assign(globalThis, { [KEY]: registry })
}

/** The source of the module that stands for '@flood/element' within a compiled script. */
export function describeModule(names: readonly string[]): string {
  return [
    'const api = loadgateGiven.exports',
    `export const { ${names.join(', ')} } = api`,
    'export default api'
  ].join('\n')
}
