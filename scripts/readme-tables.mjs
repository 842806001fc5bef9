// Writes the tables of inputs and outputs: the ten inputs that matter most into README.md, all of them into docs/inputs.md, in the groups of
// `loadgate run --help`, and the outputs of action.yml below them; and the last figures of bench/history.csv into bench/README.md. With
// --check it only fails if they differ: npm run generate -- docs. --root <folder> uses another folder than the project's.
import { readFile, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { parse } from 'yaml'
import { describeHistory, parseHistory } from '../bench/history.mjs'
import { describeInput, INPUT_GROUPS, INPUT_NAMES, INPUTS } from '../src/contract/inputs.ts'

const MAIN_INPUTS = [
  ...['config', 'base-url', 'token', 'files', 'tool'],
  ...['threads', 'duration', 'thresholds', 'baseline', 'wait-for']
]

const { values } = parseArgs({
  options: {
    check: { type: 'boolean', default: false },
    root: { type: 'string', default: fileURLToPath(new URL('..', import.meta.url)) }
  }
})
const read = (name) => readFile(path.join(values.root, name), 'utf8')
const { outputs } = parse(await read('action.yml'))

await write('README.md', { 'main inputs': inputTable(MAIN_INPUTS) })
await write('docs/inputs.md', {
  inputs: INPUT_GROUPS.map(
    (group) => `## ${group}\n\n${inputTable(INPUT_NAMES.filter((name) => INPUTS[name].group === group))}`
  ).join('\n\n'),
  outputs: table(['Output', 'Meaning'], Object.entries(outputs).map(outputRow))
})
await write('bench/README.md', {
  'recorded figures': describeHistory(parseHistory(await read('bench/history.csv')))
})

/** Fills the page's tables in; with --check, only compares them. */
async function write(page, tables) {
  const before = await read(page)
  const after = Object.entries(tables).reduce((text, [name, rows]) => fill(page, text, name, rows), before)
  if (after === before) return
  if (!values.check) return writeFile(path.join(values.root, page), after)
  console.error(
    `The tables in ${page} are out of date with src/contract/inputs.ts, action.yml or bench/history.csv: run \`npm run generate -- docs\` and commit the result.`
  )
  process.exitCode = 1
}

function inputTable(names) {
  return table(['Input', 'Meaning', 'Default'], names.map(inputRow))
}

/** A description ends with its default; the table has a column for it. */
function inputRow(name) {
  const [, meaning, words] = /^(.*?)(?:\s*Default: (.+)\.)?$/s.exec(describeInput(name))
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
function fill(page, markdown, name, text) {
  const start = `<!-- ${name}: written by \`npm run generate -- docs\` -->\n<!-- prettier-ignore-start -->\n`
  const end = `<!-- prettier-ignore-end -->\n<!-- /${name} -->\n`
  const from = markdown.indexOf(start)
  const to = markdown.indexOf(end, from)
  if (from < 0 || to < 0) throw new Error(`${page} lacks the markers for its ${name}:\n${start}${end}`)
  return `${markdown.slice(0, from)}${start}\n${text}\n\n${markdown.slice(to)}`
}
