import { parseInteger } from '../values/setting-values.js'
import { describe, readKeys, readList, readMap } from './read-parts.js'
import type { Note } from './read-parts.js'
import { isName, readChoice, readText, take } from './read-values.js'

const LABEL_VALUE = /^([A-Za-z0-9]([\w.-]{0,61}[A-Za-z0-9])?)?$/

/** A name, or a DNS subdomain, a slash and a name. */
function isLabelKey(text: string): boolean {
  const [name = '', prefix, ...more] = text.split('/').reverse()
  return (
    more.length === 0 && (prefix === undefined || isName(prefix)) && name !== '' && LABEL_VALUE.test(name)
  )
}

/** Labels of the machines on which pods may be placed. */
export function readNodeSelector(value: unknown, note: Note): Record<string, string> {
  const labels: [string, string][] = []
  for (const [key, given] of readMap(value, note) ?? []) {
    if (!isLabelKey(key)) note(`${describe(key)} is not the key of a label`)
    if (typeof given === 'string' && LABEL_VALUE.test(given)) labels.push([key, given])
    else note(`${key}: ${describe(given)} is not the value of a label: at most 63 letters, digits, - _ and .`)
  }
  return Object.fromEntries(labels)
}

const EFFECTS = ['NoSchedule', 'PreferNoSchedule', 'NoExecute'] as const

/** Taints that pods tolerate, as in a pod's specification. */
export function readTolerations(value: unknown, note: Note): Record<string, string | number>[] {
  return readList(value, note).map((element, index) =>
    readToleration(element, (problem) => note(`element ${index + 1}: ${problem}`))
  )
}

function readToleration(value: unknown, note: Note): Record<string, string | number> {
  const problems: string[] = []
  const toleration = readTolerationKeys(value, (problem) => void problems.push(problem))
  for (const problem of problems.length > 0 ? problems : contradictionsIn(toleration)) note(problem)
  return toleration
}

function readTolerationKeys(value: unknown, note: Note): Record<string, string | number> {
  const keys = readKeys(value, ['key', 'operator', 'value', 'effect', 'tolerationSeconds'], note)
  const toleration: Record<string, string | number> = {}
  for (const [key, given] of keys) {
    const noteIt: Note = (problem) => note(`${key}: ${problem}`)
    const read = {
      key: () => readMatching(given, isLabelKey, 'the key of a taint', noteIt),
      operator: () => readChoice(given, ['Exists', 'Equal'], noteIt),
      value: () => readMatching(given, (text) => LABEL_VALUE.test(text), 'the value of a taint', noteIt),
      effect: () => readChoice(given, EFFECTS, noteIt),
      tolerationSeconds: () => take(given, (text) => parseInteger(text, { least: 0 }), noteIt)
    }[key]()
    if (read !== undefined) toleration[key] = read
  }
  return toleration
}

function readMatching(
  given: unknown,
  isValid: (text: string) => boolean,
  what: string,
  note: Note
): string | undefined {
  const text = readText(given, note)
  if (text === undefined || isValid(text)) return text
  note(`${describe(text)} is not ${what}: at most 63 letters, digits, - _ and .`)
  return undefined
}

/** Kubernetes would refuse them too, but only after everything else was prepared. */
function contradictionsIn(toleration: Readonly<Record<string, string | number>>): string[] {
  const { key, operator, value, effect, tolerationSeconds } = toleration
  return [
    ...(key === undefined && operator !== 'Exists' ? ['without a key, the operator must be Exists'] : []),
    ...(operator === 'Exists' && value !== undefined ? ['with the operator Exists there is no value'] : []),
    ...(tolerationSeconds !== undefined && effect !== 'NoExecute'
      ? ['tolerationSeconds is for the effect NoExecute']
      : [])
  ]
}
