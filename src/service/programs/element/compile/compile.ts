import { createRequire, builtinModules } from 'node:module'
import { basename, delimiter, dirname, join, relative, isAbsolute, resolve, sep } from 'node:path'
import type * as Esbuild from 'esbuild'
import { existsSync } from 'node:fs'
import { BANNER, describeModule, PLACE_NAMES, createExports } from '../api/exports.js'
import { Plan } from '../api/plan.js'
import type { CompileOrder } from '../run/run-order.js'

const MAX_ERRORS = 10
/** Packages in CommonJS, and scripts that call it, need `require`. */
const REQUIRE =
  "import { createRequire as createRequireOfPlan } from 'node:module'\nconst require = createRequireOfPlan(import.meta.url)"

/** Compiles a script and what it imports into one module; returns what is wrong with it, one line each. */
export async function compile(order: CompileOrder): Promise<string[]> {
  // esbuild-wasm starts `node`, wherever that is.
  process.env.PATH = [dirname(process.execPath), process.env.PATH].filter(Boolean).join(delimiter)
  const esbuild = createRequire(import.meta.url)(order.compiler) as typeof Esbuild
  const folder = dirname(order.script)
  try {
    await esbuild.build({
      stdin: {
        contents: `export * as script from ${JSON.stringify(`./${basename(order.script)}`)}`,
        resolveDir: folder,
        sourcefile: 'entry'
      },
      absWorkingDir: folder,
      outfile: order.outFile,
      bundle: true,
      platform: 'node',
      format: 'esm',
      target: 'node20',
      banner: { js: `${REQUIRE}\n${BANNER}` },
      define: PLACE_NAMES,
      // For the lines of the script in messages.
      sourcemap: 'inline',
      sourcesContent: false,
      // A tsconfig.json among the files may ask for what only the compiler of TypeScript does.
      tsconfigRaw: { compilerOptions: { experimentalDecorators: true } },
      plugins: [resolveImports(folder, order.packageNames)],
      logLevel: 'silent',
      logLimit: 0
    })
    return []
  } catch (thrown) {
    const { errors } = thrown as Partial<Esbuild.BuildFailure>
    if (errors === undefined) throw thrown
    return describeErrors(errors, folder)
  }
}

function describeErrors(errors: readonly Esbuild.Message[], folder: string): string[] {
  const shown = errors.slice(0, MAX_ERRORS).map(({ text, location }) => {
    if (location === null) return text
    const file = relative(folder, join(folder, location.file))
    const source = location.lineText.trim().slice(0, 200)
    return `${file}:${location.line}:${location.column + 1}: ${text}${source === '' ? '' : ` (${source})`}`
  })
  const more = errors.length - shown.length
  return more > 0 ? [...shown, `… and ${more} more`] : shown
}

const API = 'element-api'
const ENDINGS = ['', '.ts', '.js', '.mts', '.mjs', '.cjs', '.json']
const BUILT_IN = new Set(builtinModules)

/** Lets a script import the API, Node's own modules, and the files that were uploaded with it. */
function resolveImports(folder: string, packageNames: readonly string[]): Esbuild.Plugin {
  const isApi = new Set(['@flood/element', '@flood/chrome', '@flood/element-api', ...packageNames])
  const names = Object.keys(createExports(new Plan(), { browserId: 1, env: {}, folder: '' }))
  const resolveImport = (path: string, resolveDir: string): Esbuild.OnResolveResult => {
    if (isApi.has(path)) return { path: 'api', namespace: API }
    if (path.startsWith('node:') || BUILT_IN.has(path)) return { path, external: true }
    if (!/^\.{0,2}\//.test(path) && !isAbsolute(path)) return { errors: [{ text: explainPackage(path) }] }
    return findFile(path, resolveDir, folder)
  }
  return {
    name: 'resolve-imports',
    setup(build) {
      build.onResolve({ filter: /.*/ }, ({ path, resolveDir }) => resolveImport(path, resolveDir))
      build.onLoad({ filter: /.*/, namespace: API }, () => ({
        contents: describeModule(names),
        resolveDir: folder
      }))
    }
  }
}

/** In its place, or else in the folder into which all files are uploaded. */
function findFile(path: string, resolveDir: string, folder: string): Esbuild.OnResolveResult {
  const places = [resolve(resolveDir, path), join(folder, basename(path))]
  const candidates = places.flatMap((place) => [
    ...ENDINGS.map((ending) => `${place}${ending}`),
    // TypeScript is imported under the name that it has once it is compiled.
    ...(place.endsWith('.js') ? [`${place.slice(0, -3)}.ts`] : [])
  ])
  // Nothing else of the machine on which it is compiled.
  const isUploaded = (file: string): boolean => file.startsWith(folder + sep) && existsSync(file)
  const found = candidates.find(isUploaded)
  if (found !== undefined) return { path: found }
  return {
    errors: [{ text: `"${path}" was not uploaded with the script: add the file to the files of the run` }]
  }
}

function explainPackage(name: string): string {
  const advice = /^faker$|^@faker-js\//.test(name)
    ? 'put the values into a data file (TestData.fromCSV), or generate them with node:crypto'
    : 'upload what the script needs as files of its own'
  return `the package "${name}" is not available to scripts, only @flood/element and Node's own modules are: ${advice}`
}
