// How dist/ is made:
//
// - tsc compiles src/ to build/ first, since ncc does not take this TypeScript.
// - The entries are bundled together, as dist/app, each behind a dynamic import. So webpack puts what several of them use
//   in shared chunks, and what they import dynamically (artifact client, octokit, embedded service) in chunks of its own
//   that are read when they are needed. dist/<entry>/index.js is two lines that start the entry.
// - undici is a bundle of its own, which all others import: see undici-slim.js.
// - Parts of libraries that would be loaded at every start and are never used are left out: STAND_INS says which.
// - Everything is minified. Then the functions that hold webpack's modules get their parentheses back, which tell V8 to
//   compile them as it reads them: without, what runs at the start is parsed twice, and starting takes a tenth longer.
//
// Same sources, same bytes, wherever the clone lies: `npm run check-dist` depends on it.
import { minify, parse } from '@swc/core'
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

/** Bundles beside the entries', as dist/<name>/index.js. */
const SEPARATE = [
  { name: 'undici', source: 'scripts/undici-slim.js' },
  { name: 'scan-worker', source: 'build/results/parallel/scan-worker.js' } // a worker thread's code must be a file of its own
]

/** What bundles import from beside them instead of holding it. */
const UNDICI = '../undici/index.js'

/** Files of this folder that take the place of modules, by bundle and by the words that import the module. */
const STAND_INS = {
  app: { './oidc-utils.js': 'toolkit-unused.js', '@actions/exec': 'toolkit-unused.js' },
  undici: { './client-h2.js': 'no-http2.cjs' }
}

/**
 * undici 7 takes it for impossible that a connection ends while its reply is being read slowly, and brings the process
 * down; undici 8, which does not run on Node 20, lets what was received come first. So does this.
 */
const UNDICI_MENDS = [
  {
    from: /(finish \(\) \{\s+assert\(currentParser === null\)\s+assert\(this\.ptr != null\)\s+)assert\(!this\.paused\)/g,
    to: `$1if (this.paused) {
      this.resume()
      if (!this.ptr || !this.statusCode) return null
      if (this.paused) this.llhttp.llhttp_resume(this.ptr)
      this.paused = false
    }`
  }
]
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
  files.set(LICENSES, licenses)
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
  const standIns = STAND_INS[name] ?? {}
  const externals = Object.fromEntries(
    Object.entries(standIns).map(([module, file]) => [module, `./${file}`])
  )
  if (name !== 'undici') externals.undici = UNDICI
  const options = { cache: false, quiet: true, esm: true, target: 'es2023', license: LICENSES, externals }
  const { code: raw, assets } = await ncc(source, options)
  const code = name === 'undici' ? mend(raw) : raw
  await checkUseOfUndici(code)
  const { [LICENSES]: licenses, ...others } = assets
  const unexpected = Object.keys(others).filter((file) => !CHUNK.test(file) && !UNUSED_ASSETS.includes(file))
  if (unexpected.length > 0)
    throw new Error(`ncc emitted ${unexpected.join(', ')} for ${name}: ship it or drop it`)

  const chunks = Object.entries(others).filter(([file]) => CHUNK.test(file))
  const files = [['index.js', await shrink(code)]]
  for (const [file, chunk] of chunks) files.push([file, await shrink(String(chunk.source))])
  for (const file of new Set(Object.values(standIns))) {
    files.push([file, await readFile(path.join(ROOT, 'scripts', file), 'utf8')])
  }
  return { licenses: licenses ? String(licenses.source) : '', code: files }
}

/** A mend that no longer fits is to be looked at, not to be lost. */
function mend(code) {
  return UNDICI_MENDS.reduce((mended, { from, to }) => {
    if ([...mended.matchAll(from)].length !== 1) throw new Error(`undici has changed: ${from} fits no longer`)
    return mended.replace(from, to)
  }, code)
}

/** Class names stay, since errors show theirs. ASCII alone makes V8 read one byte a character. */
async function shrink(code) {
  const { code: small } = await minify(code, {
    module: true,
    ecma: 2022,
    compress: { keep_classnames: true },
    mangle: { keep_classnames: true },
    format: { comments: false, asciiOnly: true }
  })
  return `${await wrapModules(small)}\n`
}

/** Puts parentheses around the values of webpack's tables of modules: objects at the top whose keys are all numbers. */
async function wrapModules(code) {
  const { body, span } = await parse(code, { syntax: 'ecmascript', target: 'es2022' })
  const tables = body
    .flatMap((statement) => (statement.declaration ?? statement).declarations ?? [])
    .filter(({ init }) => init?.type === 'ObjectExpression')
    .map(({ init }) => init.properties)
    .filter((properties) => properties.every(({ key }) => key?.type === 'NumericLiteral'))
  const ends = tables.flat().flatMap(({ value }) => [
    { at: value.span.start - span.start, mark: '(' },
    { at: value.span.end - span.start, mark: ')' }
  ])
  const bytes = Buffer.from(code) // spans count bytes
  let wrapped = ''
  let done = 0
  for (const { at, mark } of ends) {
    wrapped += bytes.toString('utf8', done, at) + mark
    done = at
  }
  return wrapped + bytes.toString('utf8', done)
}

/** A name that undici-slim.js lacks would be undefined at run time, and a `require` of it fails on Node 20.18: nothing else notices. */
async function checkUseOfUndici(code) {
  const slim = Object.keys(await import('./undici-slim.js'))
  const uses = [...code.matchAll(/_MODULE__undici_index_js_\w+?__\.(\w+)/g)].map(([, name]) => name)
  const lacking = [...new Set(uses)].filter((name) => !slim.includes(name))
  if (lacking.length > 0) throw new Error(`scripts/undici-slim.js must export ${lacking.join(', ')}`)
  if (code.includes(`(import.meta.url)("${UNDICI}")`))
    throw new Error('A dependency requires undici: it must import it')
}
