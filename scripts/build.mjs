// Builds dist/: ncc bundles each entry with the packages that it uses. What is imported dynamically becomes a file of its own beside the
// entry's, loaded when it is needed; __tests__/scripts/bundles.test.ts says what must be. The packages are those of node_modules with
// the changes in patches/, which `npm ci` makes.
//
// undici is version 7, because 8 does not run on Node 20, and `overrides` in package.json forces @actions/http-client, which asks for 6,
// onto the same one: so there is one copy in a bundle, and its patch applies to all requests. http-client only uses ProxyAgent,
// which is the same in both.
//
// The same sources give the same bytes, wherever the clone is. With --check, it fails if they are not the committed ones: a bundle that
// nobody can rebuild is one that nobody can trust.
import { minify, parse } from '@swc/core'
import ncc from '@vercel/ncc'
import { execFileSync } from 'node:child_process'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { describeLicenses } from './licenses.mjs'

const ROOT = path.join(import.meta.dirname, '..')
/** ncc names modules by their paths from here, and numbers them by their names. */
process.chdir(ROOT)

const BUNDLES = {
  'action/index.js': 'src/action.ts',
  'cli/index.js': 'src/cli.ts',
  'worker/index.js': 'src/worker.ts',
  // They run where the load is generated, and need no other file.
  'tools/element.mjs': 'src/service/programs/element/main.ts',
  'tools/selenium-hub.mjs': 'src/service/programs/selenium-hub/main.ts',
  'tools/k6.mjs': 'src/service/programs/k6/main.ts'
}
/** The steps of the actions share one bundle. */
const PARTS = ['main', 'post', 'grid-start', 'grid-stop']
/** The npm package's program: npm packs it with the mode that it has here. */
const PROGRAM = 'cli/index.js'
/** Emitted beside a bundle: its type, which dist/ has once, and the threads of fastify's logger, which nothing here starts. */
const UNUSED = ['package.json', 'file.js', 'worker.js', 'worker1.js']

const files = new Map()
const modules = []
for (const [file, source] of Object.entries(BUNDLES)) await bundle(file, source)
for (const part of PARTS)
  files.set(`${part}/index.js`, `import { runPart } from '../action/index.js'\nawait runPart('${part}')\n`)
files.set('licenses.txt', await describeLicenses(ROOT, modules))
files.set('package.json', '{ "type": "module" }\n')

await rm('dist', { recursive: true, force: true })
for (const [name, text] of files) {
  await mkdir(path.dirname(`dist/${name}`), { recursive: true })
  await writeFile(`dist/${name}`, text, { mode: name === PROGRAM ? 0o755 : 0o644 })
}
if (process.argv.includes('--check')) check()
else
  for (const [name, text] of files) console.log(`${String(Buffer.byteLength(text)).padStart(9)} dist/${name}`)

async function bundle(file, source) {
  const { code, assets, stats } = await ncc(path.resolve(source), {
    cache: false,
    esm: true,
    quiet: true,
    target: 'es2022',
    transpileOnly: true
  })
  files.set(file, await shorten(code))
  for (const [name, asset] of Object.entries(assets).sort())
    if (!UNUSED.includes(name))
      files.set(`${path.dirname(file)}/${name}`, await shorten(String(asset.source)))
  modules.push(...listModules(stats))
}

/**
 * ncc's own way leaves out all files but the first. What functions and classes are called stays, so that stack traces in logs can be
 * read; the names of variables are shortened, as long ones take a tenth of the time to the first request.
 */
async function shorten(code) {
  const [shebang = ''] = /^#!.*\n/.exec(code) ?? []
  const mangle = { keep_fnames: true, keep_classnames: true }
  const options = { module: true, compress: false, mangle, format: { comments: false } }
  const { code: short } = await minify(code.slice(shebang.length), options)
  return `${shebang}${await parenthesizeModules(short)}\n`
}

/**
 * A function in parentheses is compiled at once; without them V8 reads it twice, first for its end and then when it is called. webpack
 * writes them around its modules, whose functions are all called when a file is loaded, and the minifier takes them away.
 */
async function parenthesizeModules(code) {
  const { body, span } = await parse(code, { syntax: 'ecmascript', target: 'es2022' })
  const tables = body
    .map(({ declaration }) => declaration)
    .concat(body)
    .flatMap((statement) => statement?.declarations ?? [])
    .flatMap(({ init }) => (init?.type === 'ObjectExpression' ? init.properties : []))
    .flatMap(({ key, value }) => (key?.type === 'NumericLiteral' && value?.body ? [value.span] : []))
  const bytes = Buffer.from(code)
  const parts = []
  let from = 0
  for (const { start, end } of tables) {
    parts.push(
      bytes.subarray(from, start - span.start),
      '(',
      bytes.subarray(start - span.start, end - span.start),
      ')'
    )
    from = end - span.start
  }
  return Buffer.concat([...parts, bytes.subarray(from)].map((part) => Buffer.from(part))).toString()
}

/** The paths of the modules in a bundle, also of those that are joined into one. */
function listModules(stats) {
  const everything = { all: false, modules: true, nestedModules: true, ids: true }
  const list = (found) => found.flatMap(({ name, modules: joined }) => (joined ? list(joined) : [name ?? '']))
  const options = { ...everything, modulesSpace: Infinity, nestedModulesSpace: Infinity }
  return list(stats.toJson(options).modules)
}

function check() {
  const changes = execFileSync('git', ['status', '--porcelain', '--', 'dist'], { encoding: 'utf8' })
  if (changes === '') console.log('dist/ equals a fresh build.')
  else {
    console.error(`${changes}dist/ was not what a fresh build gives. It is now: commit it.`)
    process.exitCode = 1
  }
}
