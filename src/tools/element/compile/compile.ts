import { createRequire } from 'node:module'
import { basename, dirname, join, relative } from 'node:path'
import type * as Esbuild from 'esbuild'
import { BANNER, describeModule, PLACE_NAMES } from '../api/bridge.js'
import { createExports } from '../api/exports.js'
import { Plan } from '../api/plan.js'
import type { CompileOrder } from './compile-order.js'
import { resolveImports } from './resolve-imports.js'

const MAX_ERRORS = 10
/** Packages in CommonJS, and scripts that call it, need `require`. */
const REQUIRE =
  "import { createRequire as createRequireOfPlan } from 'node:module'\nconst require = createRequireOfPlan(import.meta.url)"

/** Compiles a script and what it imports into one module; returns what is wrong with it, one line each. */
export async function compile(order: CompileOrder): Promise<string[]> {
  const require = createRequire(join(order.modules, 'index.js'))
  const esbuild = require('esbuild') as typeof Esbuild
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
      plugins: [
        resolveImports({ folder, packageNames: order.packageNames, module: describeModule(names()) })
      ],
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

/** The names that a script may import. */
function names(): string[] {
  return Object.keys(createExports(new Plan(), { browserId: 1, env: {}, folder: '' }))
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
