import { isObject } from '../../contract/setting-values.js'
import { ID } from '../../contract/vocabulary.js'
import { readYaml } from '../../contract/read-yaml.js'
import { nameSources, type ResultSource } from '../results/result-sources.js'
import { splitLines, type GateInputs, type SettingsSources } from './inputs.js'

const EXPECTED =
  'paths or globs, one per line, or a map from names to paths such as { eu: eu.csv, us: us.csv }'

/** The files of `results`, named by a map or by their own names. Problems are added to the inputs'. */
export async function readResultSources(
  inputs: GateInputs,
  { resolveResults }: Pick<SettingsSources, 'resolveResults'>
): Promise<readonly ResultSource[]> {
  const complain = (problem: string): void => inputs.complain('results', problem)
  const given = await parseGiven(inputs.structured('results'))
  if ('problem' in given) {
    complain(given.problem)
    return []
  }
  if ('lines' in given) {
    const { files, problems } = await resolveResults(given.lines)
    for (const problem of problems) complain(problem)
    if (files.length + problems.length === 0) complain(`names no file; give ${EXPECTED}`)
    return nameSources(files)
  }
  const sources: ResultSource[] = []
  for (const [name, path] of given.names) {
    if (path.startsWith('!')) complain(`${name}: "${path}" excludes files; give the path of one`)
    const { files, problems } = await resolveResults([path])
    for (const problem of problems) complain(`${name}: ${problem}`)
    if (!ID.test(name)) complain(`the name "${name}" is invalid; expected letters, digits, - and _`)
    if (files.length > 1) complain(`${name}: "${path}" must match one file; it matches ${files.length}`)
    sources.push(...files.map((file) => ({ ...file, grid: name, region: 'local' })))
  }
  return sources
}

type Given =
  | { readonly lines: readonly string[] }
  | { readonly names: readonly (readonly [string, string])[] }
  | { readonly problem: string }

/** A flow map, or lines that all have a name before a colon and a space; no path looks like that. */
const MAP = /^\s*(?:\{|[\w-]+:\s+\S[^\n]*(?:\n\s*[\w-]+:\s+\S[^\n]*)*\s*$)/

async function parseGiven(given: unknown): Promise<Given> {
  if (typeof given !== 'string') return readStructure(given)
  if (!MAP.test(given)) return { lines: splitLines(given) }
  const { value, problems } = await readYaml(given)
  return problems.length > 0 ? { problem: `is not YAML: ${problems.join('; ')}` } : readStructure(value)
}

function readStructure(value: unknown): Given {
  const isText = (each: unknown): each is string => typeof each === 'string' && each.trim() !== ''
  if (Array.isArray(value) && value.every(isText)) return { lines: value.flatMap((text) => splitLines(text)) }
  const entries = isObject(value) && !Array.isArray(value) ? Object.entries(value) : []
  const names = entries.flatMap(([name, path]) => (isText(path) ? [[name, path.trim()] as const] : []))
  return names.length > 0 && names.length === entries.length
    ? { names }
    : { problem: `is neither text nor a map of texts; give ${EXPECTED}` }
}
