// Prints what CHANGELOG.md says about the version of a tag, and fails unless tag, package.json and changelog agree.
// --root <folder> uses another folder than the project's.
import { readFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) } }
})
const [tag = ''] = positionals
const read = (file) => readFile(path.join(values.root, file), 'utf8')
const { version } = JSON.parse(await read('package.json'))
const problems = []
if (tag !== `v${version}`) problems.push(`the tag is "${tag}", but package.json says version ${version}`)
const notes = notesOf(version, await read('CHANGELOG.md'))
if (!notes) problems.push(`CHANGELOG.md has nothing under "## [${version}] - YYYY-MM-DD"`)

if (problems.length > 0) {
  for (const problem of problems) console.error(`Not a release: ${problem}`)
  process.exitCode = 1
} else {
  console.log(notes)
}

/** A version's section ends where the next one starts, or at the link definitions at the end. */
function notesOf(version, changelog) {
  const lines = changelog.split('\n')
  const head = `## [${version}] - `
  const from = lines.findIndex(
    (line) => line.startsWith(head) && /^\d{4}-\d\d-\d\d$/.test(line.slice(head.length))
  )
  if (from < 0) return ''
  const rest = lines.slice(from + 1)
  const to = rest.findIndex((line) => /^(## |\[[^\]]+\]: )/.test(line))
  return (to < 0 ? rest : rest.slice(0, to)).join('\n').trim()
}
