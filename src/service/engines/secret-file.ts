import { rmSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'
import { type NodeOrder, type PropertyOverride, propertyValue } from './engine.js'
import { isSecretProperty } from './redact-log.js'

/** Arguments of a tool. Secrets are in files that only the nodes of its run can read, for everyone on a machine can read command lines. */
export interface ToolArguments {
  readonly args: readonly string[]
  /** The files: beside the node's folder, where only the service gives names, because a plan that runs could put something else there. */
  readonly files: readonly string[]
  /** Removes the files, once the tool has read them. */
  readonly remove: () => void
}

/** The run's parameters for JMeter: `-q` and `-S` read from a file what `-J` and `-D` give, and JMeter does not log it. */
export async function jmeterParameters(order: NodeOrder): Promise<ToolArguments> {
  const plain = order.properties.filter((property) => !isSecret(property))
  const secrets = (kind: 'J' | 'D'): string[] =>
    order.properties
      .filter((property) => property.kind === kind && isSecret(property))
      .map(({ name, value }) => `${name}=${escapeUnits(value)}`)
  return joinArguments([
    await fileArguments(order, { lines: secrets('J'), name: 'properties', flag: (path) => ['-q', path] }),
    await fileArguments(order, { lines: secrets('D'), name: 'system', flag: (path) => ['-S', path] }),
    plain.map(({ kind, name, value }) => `-${kind}${name}=${value}`)
  ])
}

/** System properties of a Java program; its launcher reads `@file` without showing what is in it. */
export async function javaProperties(
  order: NodeOrder,
  properties: Readonly<Record<string, string>>
): Promise<ToolArguments> {
  const secrets = new Set(order.properties.filter(isSecret).map(({ name }) => name))
  // What the service sets itself is not secret.
  const isHidden = ([name, value]: readonly [string, string]): boolean =>
    secrets.has(name) && propertyValue(order.properties, name) === value
  const [all, option] = [Object.entries(properties), (name: string, value: string) => `-D${name}=${value}`]
  return joinArguments([
    all.filter((each) => !isHidden(each)).map(([name, value]) => option(name, value)),
    await fileArguments(order, {
      lines: all.filter(isHidden).map(([name, value]) => quoteArgument(option(name, value))),
      name: 'java',
      flag: (path) => [`@${path}`]
    })
  ])
}

/** An empty value tells nothing, and means something else in a file. */
function isSecret(property: PropertyOverride): boolean {
  return property.value !== '' && isSecretProperty(property)
}

async function fileArguments(
  { planFile, node }: NodeOrder,
  { lines, name, flag }: { lines: readonly string[]; name: string; flag: (path: string) => string[] }
): Promise<ToolArguments | string[]> {
  if (lines.length === 0) return []
  const file = `${dirname(planFile)}.${name}`
  await writeFile(file, `${lines.join('\n')}\n`, { mode: 0o600 })
  return { args: flag(node.pathOf(file)), files: [file], remove: () => rmSync(file, { force: true }) }
}

function joinArguments(parts: readonly (ToolArguments | string[])[]): ToolArguments {
  return {
    args: parts.flatMap((part) => ('args' in part ? part.args : part)),
    files: parts.flatMap((part) => ('args' in part ? part.files : [])),
    remove: () => parts.forEach((part) => 'args' in part && part.remove())
  }
}

/** As files of properties have any character. */
function escapeUnits(value: string): string {
  return value.replace(/[^A-Za-z0-9]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
}

function quoteArgument(text: string): string {
  const escapes: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t', '\f': '\\f' }
  return `"${text.replace(/[\\"\n\r\t\f]/g, (sign) => escapes[sign] ?? `\\${sign}`)}"`
}
