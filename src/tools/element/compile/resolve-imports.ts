import { existsSync } from 'node:fs'
import { builtinModules } from 'node:module'
import { basename, isAbsolute, join, resolve, sep } from 'node:path'
import type { OnResolveResult, Plugin } from 'esbuild'

const API = 'element-api'
const ENDINGS = ['', '.ts', '.js', '.mts', '.mjs', '.cjs', '.json']
const BUILT_IN = new Set(builtinModules)

/** Lets a script import the API, Node's own modules, and the files that were uploaded with it. */
export function resolveImports(options: {
  folder: string
  packageNames: readonly string[]
  module: string
}): Plugin {
  const { folder } = options
  const isApi = new Set(['@flood/element', '@flood/chrome', '@flood/element-api', ...options.packageNames])
  const resolveImport = (path: string, resolveDir: string): OnResolveResult => {
    if (isApi.has(path)) return { path: 'api', namespace: API }
    if (path.startsWith('node:') || BUILT_IN.has(path)) return { path, external: true }
    if (!/^\.{0,2}\//.test(path) && !isAbsolute(path)) return { errors: [{ text: explainPackage(path) }] }
    return findFile(path, resolveDir, folder)
  }
  return {
    name: 'resolve-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, resolveDir }) => resolveImport(path, resolveDir))
      build.onLoad({ filter: /.*/, namespace: API }, () => ({ contents: options.module, resolveDir: folder }))
    }
  }
}

/** In its place, or else in the folder into which all files are uploaded. */
function findFile(path: string, resolveDir: string, folder: string): OnResolveResult {
  const places = [resolve(resolveDir, path), join(folder, basename(path))]
  const candidates = places.flatMap((place) => [
    ...ENDINGS.map((ending) => `${place}${ending}`),
    // TypeScript is imported under the name that it has once it is compiled.
    ...(place.endsWith('.js') ? [`${place.slice(0, -3)}.ts`] : [])
  ])
  // Nothing else of the machine on which it is compiled.
  const isUploaded = (file: string): boolean => file.startsWith(folder + sep) && existsSync(file)
  const found = candidates.find(isUploaded)
  return found === undefined
    ? {
        errors: [{ text: `"${path}" was not uploaded with the script: add the file to the files of the run` }]
      }
    : { path: found }
}

function explainPackage(name: string): string {
  const advice = /^faker$|^@faker-js\//.test(name)
    ? 'put the values into a data file (TestData.fromCSV), or generate them with node:crypto'
    : 'upload what the script needs as files of its own'
  return `the package "${name}" is not available to scripts, only @flood/element and Node's own modules are: ${advice}`
}
