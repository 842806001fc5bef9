// How dist/ is built: esbuild bundles the entries, both src/ and the packages it uses. Code used by several entries is shared, and what is
// imported dynamically (artifact client, octokit, embedded service) becomes a separate file in dist/chunks, loaded when needed.
//
// Four things go beyond plain bundling, each with its reason: LATE, leaveOutUnusedToolkit and leaveOutUnusedKubernetes below, and
// fix-undici.mjs.
//
// undici is version 7, because 8 does not run on Node 20, and `overrides` in package.json forces @actions/http-client, which asks for 6,
// onto the same one: so there is one copy in the bundles, and the fix applies to all requests. http-client only uses ProxyAgent,
// which is the same in both.
//
// The same sources give the same bytes, wherever the clone is: `npm run check-dist` depends on it.
import { build } from 'esbuild'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { fixUndici } from './fix-undici.mjs'
import { describeLicenses } from './licenses.mjs'

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** The entries of processes and threads: dist/<name>/index.js is bundled from this file. */
const ENTRIES = {
  main: 'src/main.ts',
  post: 'src/post.ts',
  'grid-start': 'src/grid-start.ts',
  'grid-stop': 'src/grid-stop.ts',
  cli: 'src/cli.ts',
  'scan-worker': 'src/results/parallel/scan-worker.ts'
}

/** Those of the npm package. */
const PACKAGED = ['cli', 'scan-worker']
const CHUNKS = 'dist/chunks/'

/** The npm package's program: npm packs it with the mode that it has here. */
export const PROGRAM = path.join(ROOT, 'dist/cli/index.js')

/** Programs that run where the load is generated: dist/tools/<name>.mjs is bundled from this file and needs no other one. */
const TOOLS = {
  element: 'src/tools/element/main.ts',
  'selenium-hub': 'src/tools/selenium-hub/main.ts'
}

/** Heavy and not always needed. No entry may load it at start-up: the build fails if one does. */
const LATE = [
  'undici/index.js',
  '@actions/artifact',
  '@actions/github',
  '@actions/http-client',
  '@kubernetes/client-node',
  'fastify',
  'prom-client',
  'ws'
].map((part) => `node_modules/${part}`)
/** Needed when the run has ended; a step has time to load it while the run is in progress. */
const LATE_IN_STEPS = {
  main: ['src/results'],
  post: ['src/results'],
  'grid-start': ['src/results'],
  'grid-stop': ['src/results']
}

/** Some packages are CommonJS, and an ES module has no `require` for them. */
export const BANNER =
  "import { createRequire as createRequireOfBundle } from 'node:module'\nconst require = createRequireOfBundle(import.meta.url)"

/** Builds everything in dist/, as a map from path to bytes. */
export async function bundle() {
  const { outputFiles, metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(ENTRIES).map(([name, source]) => ({ in: source, out: `${name}/index` })),
    outdir: 'dist',
    chunkNames: 'chunks/[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    banner: { js: BANNER },
    // Keep names, so that stack traces in logs are readable.
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none', // licenses.txt has them
    plugins: [leaveOutUnusedToolkit, leaveOutUnusedKubernetes, fixUndici],
    metafile: true,
    write: false,
    logLevel: 'warning'
  })
  checkLate(metafile)
  const tools = await bundleTools()
  const files = [...outputFiles, ...tools.outputFiles].map(({ path: file, contents }) => [
    relative('dist', file),
    Buffer.from(contents)
  ])
  return new Map([
    ...files.sort(([one], [other]) => (one < other ? -1 : 1)),
    ['chunks/.npmignore', Buffer.from(listActionChunks(metafile))],
    ['licenses.txt', Buffer.from(await describeLicenses(ROOT, metafile))],
    ['package.json', Buffer.from('{ "type": "module" }\n')]
  ])
}

function bundleTools() {
  return build({
    absWorkingDir: ROOT,
    entryPoints: Object.entries(TOOLS).map(([name, source]) => ({ in: source, out: `tools/${name}` })),
    outdir: 'dist',
    outExtension: { '.js': '.mjs' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.18',
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    write: false,
    logLevel: 'warning'
  })
}

/**
 * @actions/core imports an HTTP client for OIDC tokens and a way to run commands, neither of which is used here; it does not declare
 * its modules free of side effects, so a bundler has to keep them. They are. This saves a fifth of the time to the first request.
 */
const leaveOutUnusedToolkit = {
  name: 'leave-out-unused-toolkit',
  setup({ onResolve }) {
    onResolve({ filter: /^\.\// }, ({ path: file, importer, resolveDir }) =>
      /[\\/]@actions[\\/]core[\\/]/.test(importer)
        ? { path: path.join(resolveDir, file), sideEffects: false }
        : undefined
    )
  }
}

/**
 * Only kubeconfigs and authentication are used of @kubernetes/client-node. The module for them imports all typed calls, and node-fetch
 * for one class that Node.js has itself. Without both it is a quarter of the size.
 */
export const leaveOutUnusedKubernetes = {
  name: 'leave-out-unused-kubernetes',
  setup({ onResolve, onLoad }) {
    const isImporter = (importer) => /[\\/]@kubernetes[\\/]client-node[\\/]/.test(importer)
    onResolve({ filter: /^\.{1,2}\// }, ({ path: file, importer, resolveDir }) =>
      isImporter(importer) ? { path: path.join(resolveDir, file), sideEffects: false } : undefined
    )
    onResolve({ filter: /^node-fetch$/ }, ({ importer }) =>
      isImporter(importer) ? { path: 'node-fetch', namespace: 'of-node', sideEffects: false } : undefined
    )
    onLoad({ filter: /.*/, namespace: 'of-node' }, () => ({
      contents: 'export const Headers = globalThis.Headers\nexport default globalThis.fetch'
    }))
  }
}

function checkLate({ outputs }) {
  for (const name of Object.keys(ENTRIES)) {
    const loaded = listLoaded(outputs, name, ['import-statement'])
    const inputs = loaded.flatMap((file) => Object.keys(outputs[file].inputs))
    const late = [...LATE, ...(LATE_IN_STEPS[name] ?? [])]
    const early = inputs.find((input) => late.some((part) => `${input}/`.includes(`${part}/`)))
    if (early) throw new Error(`${name} loads ${early} at start-up: import it dynamically`)
  }
}

/**
 * The npm package has the command line only. Which chunks that needs changes with every build: npm leaves out of the package what
 * this file lists.
 */
function listActionChunks({ outputs }) {
  const needed = PACKAGED.flatMap((name) => listLoaded(outputs, name, ['import-statement', 'dynamic-import']))
  const others = Object.keys(outputs)
    .filter((file) => file.startsWith(CHUNKS) && !needed.includes(file))
    .map((file) => file.slice(CHUNKS.length))
    .sort()
  return others.map((name) => `/${name}\n`).join('')
}

/** An entry's file and those that it imports, directly or not, in one of these ways. */
function listLoaded(outputs, entry, kinds) {
  const loaded = new Set()
  const load = (file) => {
    if (loaded.has(file)) return
    loaded.add(file)
    for (const { path: next, kind, external } of outputs[file].imports)
      if (kinds.includes(kind) && !external) load(next)
  }
  load(`dist/${entry}/index.js`)
  return [...loaded]
}

function relative(folder, file) {
  return path.relative(path.join(ROOT, folder), file).split(path.sep).join('/')
}
