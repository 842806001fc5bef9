// Fails if dist/ differs from a fresh build: a bundle that nobody can rebuild is one that nobody can trust.
import { stat } from 'node:fs/promises'
import path from 'node:path'
import { bundle, PROGRAM, ROOT } from './bundle.mjs'
import { compareFiles, readFolder } from './folder.mjs'

const problems = {
  ...compareFiles(await readFolder(path.join(ROOT, 'dist')), await bundle()),
  'not executable': await listNotExecutable()
}
for (const [kind, names] of Object.entries(problems)) {
  for (const name of names) console.error(`${kind}: dist/${name}`)
}
if (Object.values(problems).flat().length > 0) {
  console.error('dist/ differs from a fresh build: run `npm run build` and commit the result.')
  process.exitCode = 1
} else {
  console.log('dist/ equals a fresh build.')
}

/** Windows knows no such mode. */
async function listNotExecutable() {
  const { mode } = await stat(PROGRAM)
  return process.platform === 'win32' || (mode & 0o111) === 0o111 ? [] : ['cli/index.js']
}
