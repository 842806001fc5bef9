// Writes a schema into schema/; with --check it writes nothing, and fails if the file differs.
import { readFile, writeFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { format, resolveConfig } from 'prettier'

export async function writeSchema(name, schema) {
  const file = fileURLToPath(new URL(`../schema/${name}`, import.meta.url))
  const { values } = parseArgs({ options: { check: { type: 'boolean', default: false } } })
  const options = { ...(await resolveConfig(file)), filepath: file }
  const wanted = await format(JSON.stringify(schema), options)
  const found = await readFile(file, 'utf8').catch(() => '')
  if (found === wanted) return
  if (!values.check) return writeFile(file, wanted)
  console.error(`schema/${name} is out of date: run \`npm run schema\` and commit the result.`)
  process.exitCode = 1
}
