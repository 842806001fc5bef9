// How dist/ is made:
//
// - tsc compiles src/ to build/ first, since ncc does not take this TypeScript.
// - The entries are bundled together, as dist/app, each behind a dynamic import. So webpack puts what several of them use
//   in shared chunks, and what they import dynamically (artifact client, octokit, embedded service) in chunks of its own
//   that are read when they are needed. dist/<entry>/index.js is two lines that start the entry.
// - undici is a bundle of its own, which all others import: see undici-slim.js.
// - Big chunks, all of them read late, are minified, and they alone. V8 compiles webpack's parenthesised module functions as it reads them;
//   minifying drops the parentheses, and what runs at the start is then parsed twice, which costs more than it saves.
//
// Same sources, same bytes, wherever the clone lies: `npm run check-dist` depends on it.
import { minify } from '@swc/core'
import ncc from '@vercel/ncc'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readFile, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

export const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))

/** What a process is started with: dist/<name>/index.js runs src/<name>.ts. */
const ENTRIES = ['main', 'post', 'cli']

/** Bundles beside the entries', as dist/<name>/index.js; a worker thread's code would be one. */
const SEPARATE = [{ name: 'undici', source: 'scripts/undici-slim.js' }]

/** What a bundle imports from beside it instead of holding it. */
const SHARED = { undici: '../undici/index.js' }
const WITHOUT_HTTP2 = { './client-h2.js': './no-http2.cjs' }
const MINIFY_ABOVE_BYTES = 400_000
const CHUNK = /^\d+\.index\.js$/
const LICENSES = 'licenses.txt'

// ncc finds these beside pino, fastify's logger: transports in worker threads, which the embedded service does not use.
const UNUSED_ASSETS = ['file.js', 'worker.js', 'worker1.js', 'package.json']

/** Builds everything that belongs into dist/, as a map from path to bytes. */
export async function bundle() {
  process.chdir(ROOT) // webpack's ids come from paths relative to it
  await compile()
  const entries = ENTRIES.filter((name) => existsSync(path.join(ROOT, 'build', `${name}.js`)))
  const app = path.join(ROOT, 'build/app.js')
  await writeFile(
    app,
    entries.map((name) => `export const ${name} = () => import('./${name}.js')\n`).join('')
  )

  const files = new Map([['package.json', '{ "type": "module" }\n']])
  for (const name of entries) {
    files.set(`${name}/index.js`, `import { ${name} } from '../app/index.js'\nawait ${name}()\n`)
  }
  let licenses = ''
  for (const { name, source } of [{ name: 'app', source: app }, ...SEPARATE]) {
    const parts = await bundleOne(name, path.resolve(ROOT, source))
    licenses += parts.licenses
    for (const [file, code] of parts.code) files.set(`${name}/${file}`, code)
  }
  files.set('undici/no-http2.cjs', await readFile(path.join(ROOT, 'scripts/no-http2.cjs'), 'utf8'))
  files.set(LICENSES, licenses)
  await checkSharedNames(files)
  return new Map([...files].map(([name, text]) => [name, Buffer.from(text)]))
}

/** Starts from an empty folder, lest a file whose source is gone stays in the bundle. */
async function compile() {
  await rm(path.join(ROOT, 'build'), { recursive: true, force: true })
  const tsc = path.join(ROOT, 'node_modules/typescript/bin/tsc')
  await promisify(execFile)(process.execPath, [tsc, '-p', 'tsconfig.build.json'], { cwd: ROOT }).catch(
    (error) => {
      throw new Error(`tsc failed:\n${error.stdout}`)
    }
  )
}

async function bundleOne(name, source) {
  const externals = name === 'undici' ? WITHOUT_HTTP2 : SHARED
  const options = { cache: false, quiet: true, esm: true, target: 'es2023', license: LICENSES, externals }
  const { code, assets } = await ncc(source, options)
  const { [LICENSES]: licenses, ...others } = assets
  const all = { 'index.js': { source: code }, ...others }
  const unexpected = Object.keys(others).filter((file) => !CHUNK.test(file) && !UNUSED_ASSETS.includes(file))
  if (unexpected.length > 0)
    throw new Error(`ncc emitted ${unexpected.join(', ')} for ${name}: ship it or drop it`)

  const kept = Object.entries(all).filter(([file]) => file === 'index.js' || CHUNK.test(file))
  const codes = kept.map(async ([file, asset]) => [file, await shrink(file, String(asset.source))])
  return { licenses: licenses ? String(licenses.source) : '', code: await Promise.all(codes) }
}

/** Class names stay: errors of third parties show theirs. */
async function shrink(file, code) {
  if (file === 'index.js' || code.length <= MINIFY_ABOVE_BYTES) return code
  const { code: small } = await minify(code, {
    module: true,
    ecma: 2022,
    compress: { keep_classnames: true },
    mangle: { keep_classnames: true },
    format: { comments: false }
  })
  return `${small}\n`
}

/** A name that undici-slim.js lacks would be undefined at run time: nothing else notices. */
async function checkSharedNames(files) {
  const slim = Object.keys(await import('./undici-slim.js'))
  const uses = [...files.values()].flatMap((code) => [
    ...code.matchAll(/_MODULE__undici_index_js_\w+?__\.(\w+)/g)
  ])
  const lacking = [...new Set(uses.map(([, name]) => name))].filter((name) => !slim.includes(name))
  if (lacking.length > 0) throw new Error(`scripts/undici-slim.js must export ${lacking.join(', ')}`)
  const required = [...files].filter(([, code]) => code.includes(`(import.meta.url)("${SHARED.undici}")`))
  if (required.length > 0)
    throw new Error(`${required[0][0]} requires undici: Node 20.18 cannot require a module`)
}
