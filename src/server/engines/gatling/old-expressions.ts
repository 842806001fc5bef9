import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../../errors.js'
import type { PlanFiles } from './plan-files.js'

const SHOWN = 5
const EXPRESSION = /\$\{[^{}\s]{1,100}\}/
/** Files that Gatling never searches for expressions. */
const NO_TEMPLATE = /\.(?:java|scala|kt|jar|csv|tsv|ssv|conf)$/i
const MAX_TEMPLATE_BYTES = 1 << 20

/** Gatling 3 sends `${user}` as it stands, so that a plan of Gatling 2 would put the wrong load on its target. */
export async function refuseOldExpressions(
  expressions: readonly string[],
  { files, folder }: { files: PlanFiles; folder: string }
): Promise<void> {
  if (expressions.length === 0) return
  const sources = await Promise.all(
    files.sources.map(async (name) => ({
      name,
      lines: (await readFile(join(folder, name), 'utf8')).split('\n')
    }))
  )
  const places = expressions.map((expression) => {
    const found = sources
      .map(({ name, lines }) => ({ name, at: lines.findIndex((line) => line.includes(expression)) }))
      .find(({ at }) => at >= 0)
    return `${found ? `${found.name}:${found.at + 1}` : files.plan}: ${expression}`
  })
  const more = places.length > SHOWN ? ` and ${places.length - SHOWN} more` : ''
  throw new ToolError(
    `the plan has expressions of Gatling 2, which Gatling 3 does not replace: write #{…} instead of \${…}, or put text that is to be sent as it stands into a file (RawFileBody)\n${places.slice(0, SHOWN).join('\n')}${more}`
  )
}

/** Uploaded files with such expressions, one sentence each: wrong in a template (ElFileBody), and fine elsewhere. */
export async function doubtOldTemplates(fileNames: readonly string[], folder: string): Promise<string[]> {
  const candidates = fileNames.filter((name) => !NO_TEMPLATE.test(name))
  const doubts = candidates.map(async (name) => {
    const file = join(folder, name)
    if ((await stat(file)).size > MAX_TEMPLATE_BYTES) return []
    const [expression] = EXPRESSION.exec(await readFile(file, 'utf8')) ?? []
    return expression === undefined
      ? []
      : [`${name} has ${expression}, which Gatling 3 sends as it stands: if it is a template, write #{…}`]
  })
  return (await Promise.all(doubts)).flat()
}
