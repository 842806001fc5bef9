import type { readYaml as readAnyYaml } from './yaml-text.js'

/** Reads YAML as yaml-text.ts does, whose library is loaded for what is not plain. */
export async function readYaml(text: string): Promise<ReturnType<typeof readAnyYaml>> {
  const value = readPlainList(text)
  if (value !== undefined) return { value, problems: [] }
  const { readYaml: readAny } = await import('./yaml-text.js')
  return readAny(text)
}

/** A line of a map: a key and one word, which nothing in YAML can mean otherwise where every value is text. */
const ENTRY = /^(- | {2})([A-Za-z]\w{0,99}): (\w[\w.-]*)$/

/** A list of maps of words, as most `grids` are: every line `- key: word`, or `  key: word`. Undefined if the text is anything else. */
export function readPlainList(text: string): readonly Readonly<Record<string, string>>[] | undefined {
  const list: Record<string, string>[] = []
  for (const line of text.split('\n')) {
    if (line === '') continue
    const [, start, key = '', word = ''] = ENTRY.exec(line) ?? []
    if (start === '- ') list.push({})
    const map = list.at(-1)
    if (start === undefined || map === undefined || Object.hasOwn(map, key)) return undefined
    map[key] = word
  }
  return list.length === 0 ? undefined : list
}
