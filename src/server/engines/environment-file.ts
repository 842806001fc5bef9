import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolError } from '../errors.js'
import { refuseVariable } from './plan-environment.js'

/** An uploaded file of this name has variables for the plan, one `NAME=value` per line. */
export const ENVIRONMENT_FILE = 'environment'

/** A process can be given about 128 KiB in one variable, and this must never be why it does not start. */
const MAX_LENGTH = 65_536
const ASSIGNMENT = /^(?:export\s+)?([^\s=]+)\s*=\s*(.*)$/s
const NAME = /^[A-Za-z_]\w*$/
/** A value in quotes; a comment may follow it. */
const QUOTED = /^(?:"((?:[^"\\]|\\.)*)"|'([^']*)')\s*(?:#.*)?$/
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

export interface EnvironmentLines {
  readonly variables: Readonly<Record<string, string>>
  /** One sentence per line that cannot be used; never a value, which may be secret. */
  readonly problems: readonly string[]
}

/** Reads lines of `NAME=value`, with comments and quotes; the last value of a name counts. Nothing is expanded. */
export function parseEnvironment(text: string): EnvironmentLines {
  if (text.length > MAX_LENGTH)
    return {
      variables: {},
      problems: [`${ENVIRONMENT_FILE}: the file is larger than ${MAX_LENGTH} characters`]
    }
  const variables = new Map<string, string>()
  const problems: string[] = []
  text
    .replace(/^\uFEFF/, '')
    .split(/\r\n|\r|\n/)
    .forEach((line, index) => {
      const found = parseLine(line.trim())
      if (found === undefined) return
      if ('problem' in found) problems.push(`${ENVIRONMENT_FILE}, line ${index + 1}: ${found.problem}`)
      else variables.set(found.name, found.value)
    })
  return { variables: Object.fromEntries(variables), problems }
}

function parseLine(line: string): { name: string; value: string } | { problem: string } | undefined {
  if (line === '' || line.startsWith('#')) return undefined
  const [, name, rest] = ASSIGNMENT.exec(line) ?? []
  if (name === undefined || rest === undefined) return { problem: 'this is not NAME=value' }
  if (!NAME.test(name)) return { problem: 'a name has letters, digits and underscores only' }
  const refusal = refuseVariable(name)
  if (refusal !== undefined) return { problem: refusal }
  const value = parseValue(rest)
  if (value === undefined) return { problem: `the quotes around the value of ${name} do not match` }
  return value.includes('\0') ? { problem: `the value of ${name} has a NUL character` } : { name, value }
}

function parseValue(text: string): string | undefined {
  if (!/^["']/.test(text)) return text.replace(/(^|\s+)#.*$/, '').trimEnd()
  const [whole, double, single] = QUOTED.exec(text) ?? []
  if (whole === undefined) return undefined
  return double?.replace(/\\(.)/g, (written, letter: string) => ESCAPES[letter] ?? written) ?? single
}

/** The variables that the uploaded files in this folder give to the plan; none if there is no such file. */
export async function readEnvironmentFile(
  folder: string,
  fileNames: readonly string[]
): Promise<Readonly<Record<string, string>>> {
  if (!fileNames.includes(ENVIRONMENT_FILE)) return {}
  const { variables, problems } = parseEnvironment(await readFile(join(folder, ENVIRONMENT_FILE), 'utf8'))
  if (problems.length > 0) throw new ToolError(problems.join('\n'))
  return variables
}
