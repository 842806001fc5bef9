// How a compiled script reaches the API: every user has an instance of the script of its own, imported under an address of its own,
// and the module that stands for '@flood/element' asks for the API by that address.

type Exports = Record<string, unknown>

const KEY = 'loadgate.element'
const registry = new Map<string, Exports>()

/** Makes the API of a user available to the module with this address. */
export function provideExports(address: string, exports: Exports): void {
  registry.set(address, exports)
  Object.assign(globalThis, { [KEY]: registry })
}

/** The source of the module that stands for '@flood/element' within a compiled script. */
export function describeModule(names: readonly string[]): string {
  return [
    `const api = globalThis[${JSON.stringify(KEY)}].get(import.meta.url)`,
    `export const { ${names.join(', ')} } = api`,
    'export default api'
  ].join('\n')
}
