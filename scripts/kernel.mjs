// Compiles src/analysis/results/kernel/assembly into the file that the sources load: node scripts/kernel.mjs
//   --check writes nothing, and fails if the committed file differs from a fresh build
//   --debug keeps function names, for a profiler
import { readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArgs } from 'node:util'
import asc from 'assemblyscript/asc'

const ROOT = path.join(import.meta.dirname, '..')
const ENTRY = 'src/analysis/results/kernel/assembly/index.ts'
const COMMITTED = 'src/analysis/results/kernel/kernel-bytes.ts'
/** The pages before the heap, plus one. */
const FIRST_PAGES = '5'

const { values: options } = parseArgs({
  options: { check: { type: 'boolean', default: false }, debug: { type: 'boolean', default: false } }
})

const fresh = await compile()
const target = path.join(ROOT, COMMITTED)
if (!options.check) {
  writeFileSync(target, fresh)
  console.log(`Wrote ${COMMITTED}.`)
} else if (readFileSync(target, 'utf8') === fresh) {
  console.log(`${COMMITTED} equals a fresh build.`)
} else {
  console.error(
    `${COMMITTED} differs from a fresh build: run \`npm run generate -- kernel\` and commit the result.`
  )
  process.exitCode = 1
}

async function compile() {
  let bytes
  const { error, stderr } = await asc.main(
    [
      ...[ENTRY, '--outFile', 'kernel.wasm', '-O3', '--noAssert', '--runtime', 'stub'],
      ...['--enable', 'simd', '--enable', 'bulk-memory', '--initialMemory', FIRST_PAGES],
      ...(options.debug ? ['--debug'] : [])
    ],
    {
      readFile: (name, base) => readIfThere(path.resolve(ROOT, base, name)),
      writeFile: (name, contents) => {
        if (name.endsWith('.wasm')) bytes = contents
      },
      listFiles: () => []
    }
  )
  if (error !== null) throw new Error(`Could not compile the kernel:\n${stderr.toString()}`)
  return [
    '// Made from the files in ./assembly by `npm run generate -- kernel`; not to be edited.',
    `export const KERNEL_BASE64 =\n  '${Buffer.from(bytes).toString('base64')}'`,
    ''
  ].join('\n')
}

function readIfThere(file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    // The compiler also asks for files that need not exist.
    return null
  }
}
