import { parseArgs } from 'node:util'
import { suggestWord } from '../thresholds/nearest.js'

/** A mistake on the command line; the message says what is accepted. */
export class UsageError extends Error {
  override name = 'UsageError'
}

export interface Flag {
  readonly name: string
  /** What the value is, for the help; undefined for a flag that takes none. */
  readonly value?: string
  readonly about: string
}

export interface Arguments {
  readonly words: readonly string[]
  /** Flags given several times are joined by line breaks, as in the inputs of the action. */
  text(name: string): string
  has(name: string): boolean
}

/** Reads the words and flags behind a command. */
export function readArguments(args: readonly string[], flags: readonly Flag[]): Arguments {
  const refused = args.find((arg) => /^--(token|github-token)(=|$)/.test(arg))
  if (refused !== undefined)
    throw new UsageError(
      'The token is not taken from a flag, which every process list would show; set LOADGATE_TOKEN.'
    )
  const options = Object.fromEntries(
    flags.map(({ name, value }) => [
      name,
      value === undefined ? { type: 'boolean' as const } : { type: 'string' as const, multiple: true }
    ])
  )
  try {
    const { values, positionals } = parseArgs({
      args: joinValues(args, flags),
      options,
      allowPositionals: true
    })
    const given = values as Record<string, boolean | string[] | undefined>
    return {
      words: positionals,
      text: (name) => [given[name] ?? []].flat().join('\n').trim(),
      has: (name) => given[name] !== undefined
    }
  } catch (thrown) {
    throw new UsageError(thrown instanceof Error ? (thrown.message.split('\n')[0] ?? '') : String(thrown), {
      cause: thrown
    })
  }
}

/** A value may start with a dash, as JMeter's parameters do; parseArgs takes those only behind an equals sign. */
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
  const meant = suggestWord(
    given,
    flags.map(({ name }) => `--${name}`)
  )
  throw new UsageError(
    `there is no flag ${given} here; ${meant === undefined ? '--help lists them' : `did you mean ${meant}?`}`
  )
}

/** What is itself a flag of the command is no value: the value was forgotten. */
function takeValue(flag: Flag, value: string | undefined, flags: readonly Flag[]): string {
  if (
    value === undefined ||
    flags.some(({ name }) => value === `--${name}` || value.startsWith(`--${name}=`))
  )
    throw new UsageError(`--${flag.name} needs a value: --${flag.name} <${flag.value ?? ''}>`)
  return value
}
