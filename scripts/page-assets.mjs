// Bundles src/report/page/browser/ (the report page's script and style, with uPlot) into src/report/page/assets.ts, which is part of
// the sources. With --check it only fails if that file differs from what the browser part and the pinned libraries give.
import { build } from 'esbuild'
import { createHash } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, resolveConfig } from 'prettier'

const ROOT = path.dirname(path.dirname(fileURLToPath(import.meta.url)))
const BROWSER = 'src/report/page/browser'
const ASSETS = path.join(ROOT, 'src/report/page/assets.ts')

/** Inside an element, these would end it or change how it is parsed. */
const UNSAFE = /<\/(script|style)|<!--/i

const license = (await readFile(path.join(ROOT, 'node_modules/uplot/LICENSE'), 'utf8')).trim()
const script = `/* With uPlot:\n${license}\n*/\n${await bundle(`${BROWSER}/main.ts`)}`
const listScript = await bundle(`${BROWSER}/list.ts`)
const style = await bundle(`${BROWSER}/page.css`)
for (const text of [script, listScript, style]) {
  if (UNSAFE.test(text))
    throw new Error(`the page's assets contain ${UNSAFE.exec(text)[0]}: they cannot be embedded`)
}

const source = `// Written by \`node scripts/page-assets.mjs\` from src/report/page/browser/; do not edit.
export const PAGE_SCRIPT = ${JSON.stringify(script)}
export const PAGE_SCRIPT_HASH = '${hash(script)}'
export const LIST_SCRIPT = ${JSON.stringify(listScript)}
export const LIST_SCRIPT_HASH = '${hash(listScript)}'
export const PAGE_STYLE = ${JSON.stringify(style)}
export const PAGE_STYLE_HASH = '${hash(style)}'
`
const after = await format(source, { ...(await resolveConfig(ASSETS)), parser: 'typescript' })
const before = await readFile(ASSETS, 'utf8').catch(() => '')

if (process.argv.includes('--check') && after !== before) {
  console.error(
    'src/report/page/assets.ts is out of date with src/report/page/browser/: run `node scripts/page-assets.mjs` and commit the result.'
  )
  process.exitCode = 1
} else if (after !== before) {
  await writeFile(ASSETS, after)
}

async function bundle(entry) {
  const { outputFiles } = await build({
    absWorkingDir: ROOT,
    entryPoints: [entry],
    bundle: true,
    minify: true,
    write: false,
    format: 'iife',
    target: 'es2022',
    charset: 'ascii',
    legalComments: 'none',
    tsconfig: `${BROWSER}/tsconfig.json`
  })
  return outputFiles[0].text.trim()
}

/** The hash as a Content-Security-Policy needs it. */
function hash(text) {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}
