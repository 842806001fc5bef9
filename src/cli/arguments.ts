import { parseArgs } from 'node:util'
import type { ParseArgsConfig } from 'node:util'
import { suggestName } from '../contract/nearest.js'

/** A mistake on the command line; the message says what is accepted. */
export class UsageError extends Error {
  override name = 'UsageError'
}

const HELP = ['--help', '-h']

export interface Flag {
  readonly name: string
  /** The value's name for the help; undefined for a flag without a value. */
  readonly value?: string
  /** The separator for the values of a repeatable flag; undefined for a flag that may only be given once. */
  readonly joint?: string
  readonly about: string
  /** The heading in the help; none for a short list. */
  readonly group?: string
}

export interface Arguments {
  readonly words: readonly string[]
  /** The names of the flags that were given. */
  readonly flags: readonly string[]
  text(name: string): string
  has(name: string): boolean
}

/** Reads the words and flags after a command. */
export function readArguments(args: readonly string[], flags: readonly Flag[]): Arguments {
  const refused = args.find((arg) => /^--(token|github-token)(=|$)/.test(arg))
  if (refused !== undefined)
    throw new UsageError('A flag would show the token in every process list; set LOADGATE_TOKEN instead.')
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      value === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true }
    ])
  )
  const { values, positionals } = parse(joinValues(args, flags), options)
  const given = new Map(Object.entries(values))
  for (const flag of flags) checkValues(flag, given.get(flag.name))
  const joints = new Map(flags.map(({ name, joint }) => [name, joint]))
  return {
    words: positionals,
    flags: [...given.keys()],
    text: (name) => [given.get(name) ?? []].flat().join(joints.get(name)).trim(),
    has: (name) => given.has(name)
  }
}

/** Whether help is requested where a flag may be: not as the value of one, and not after `--`. */
export function asksForHelp(args: readonly string[], flags: readonly Flag[]): boolean {
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return false
    if (HELP.includes(arg)) return true
    if (flags.some(({ name, value }) => value !== undefined && arg === `--${name}`)) at++
  }
  return false
}

type Options = NonNullable<ParseArgsConfig['options']>

function parse(
  args: string[],
  options: Options
): { values: Record<string, boolean | string[] | undefined>; positionals: string[] } {
  try {
    const { values, positionals } = parseArgs({ args, options, allowPositionals: true })
    return { values: values as Record<string, boolean | string[] | undefined>, positionals }
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown), {
      cause: thrown
    })
  }
}

/** A variable that is not set must not turn a gate into a report, or a service's address into `local`. */
function checkValues({ name, joint }: Flag, values: boolean | string[] | undefined): void {
  if (!Array.isArray(values)) return
  if (values.some((value) => value.trim() === ''))
    throw new UsageError(
      `--${name} is empty; give a value, or leave the flag out. Does it come from a variable that is not set?`
    )
  if (values.length > 1 && joint === undefined)
    throw new UsageError(`--${name} is given ${values.length} times; give it once`)
}

/** A value may start with a dash, as JMeter's parameters do; parseArgs only accepts those after an equals sign. */
function joinValues(args: readonly string[], flags: readonly Flag[]): string[] {
  const joined: string[] = []
  for (let at = 0; at < args.length; at++) {
    const arg = args[at] ?? ''
    if (arg === '--') return [...joined, ...args.slice(at)]
    const flag = /^-./.test(arg) ? findFlag(arg, flags) : undefined
    if (flag?.value === undefined || arg !== `--${flag.name}`) joined.push(arg)
    else joined.push(`${arg}=${takeValue(flag, args[++at], flags)}`)
  }
  return joined
}

function findFlag(arg: string, flags: readonly Flag[]): Flag {
  const given = arg.replace(/=.*$/s, '')
  const flag = flags.find(({ name }) => given === `--${name}`)
  if (flag !== undefined) return flag
  const meant = suggestName(
    given,
    flags.map(({ name }) => `--${name}`)
  )
  throw new UsageError(
    `there is no flag ${given} here; ${meant === undefined ? '--help lists them' : `did you mean ${meant}?`}`
  )
}

/** A flag of the command is not a value: the value was forgotten. */
function takeValue(flag: Flag, value: string | undefined, flags: readonly Flag[]): string {
  const usage = `--${flag.name} needs a value: --${flag.name} <${flag.value ?? ''}>`
  if (
    value === undefined ||
    flags.some(({ name }) => value === `--${name}` || value.startsWith(`--${name}=`))
  )
    throw new UsageError(usage)
  if (HELP.includes(value)) throw new UsageError(`${usage}, or --${flag.name}=${value} if that is the value`)
  return value
}
