// Writes the README's tables of inputs and outputs from action.yml; with --check it only fails if they differ.
// --root <folder> uses another folder than the project's.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) }
  }
})
const readmePath = path.join(values.root, 'README.md')
const action = parse(await readFile(path.join(values.root, 'action.yml'), 'utf8'))
const before = await readFile(readmePath, 'utf8')
let after = before
after = fill(
  after,
  'inputs',
  table(['Input', 'Meaning', 'Default'], Object.entries(action.inputs).map(inputRow))
)
after = fill(after, 'outputs', table(['Output', 'Meaning'], Object.entries(action.outputs).map(outputRow)))

if (values.check && after !== before) {
  console.error(
    'The tables in README.md are out of date with action.yml: run `npm run generate -- docs` and commit the result.'
  )
  process.exitCode = 1
} else if (after !== before) {
  await writeFile(readmePath, after)
}

/** A description ends with its default; the table has a column for it. */
function inputRow([name, { description }]) {
  const [, meaning, words] = /^(.*?)(?:\s*Default: (.+)\.)?$/s.exec(description.trim())
  return [`\`${name}\``, meaning, words ?? '–']
}

function outputRow([name, { description }]) {
  return [`\`${name}\``, description.trim()]
}

function table(head, rows) {
  const line = (cells) =>
    `| ${cells.map((cell) => cell.replaceAll('|', '\\|').replace(/\s+/g, ' ')).join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}

/** Prettier must leave the tables alone: it would pad every row to the longest. */
function fill(readme, name, text) {
  const start = `<!-- ${name}: written by \`npm run generate -- docs\` -->\n<!-- prettier-ignore-start -->\n`
  const end = `<!-- prettier-ignore-end -->\n<!-- /${name} -->\n`
  const from = readme.indexOf(start)
  const to = readme.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`README.md lacks the markers for its ${name}:\n${start}${end}`)
  return `${readme.slice(0, from)}${start}\n${text}\n\n${readme.slice(to)}`
}
