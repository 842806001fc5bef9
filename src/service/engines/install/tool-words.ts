import { stripVTControlCharacters } from 'node:util'
import { redactLog, secretValues } from '../redact-log.js'
import type { InstallPorts } from './run-to-end.js'

const SHOWN_LINES = 5
/** Variables with options of a JVM or of Maven, such as `-Dhttps.proxyPassword=…`. */
const OPTION_VARIABLES = ['MAVEN_OPTS', 'MAVEN_ARGS', 'JAVA_TOOL_OPTIONS', 'JVM_ARGS']

/** The lines in which a tool says why it failed, without secrets: those matching `errors`, or the first: stack traces follow the reason. */
export function wordsOf(lines: readonly string[], errors: readonly RegExp[], env: NodeJS.ProcessEnv) {
  // A JVM prints the options that it got from a variable, with all that is in them.
  const said = lines.map(stripVTControlCharacters).filter((line) => !/^\s*Picked up |^\s*$/.test(line))
  const found = errors.flatMap((error) => said.filter((line) => error.test(line)))
  const words = found.length > 0 ? found : said.filter((line) => !/^\s*(?:at |\.{3} \d+ more)/.test(line))
  return redactWords(words.slice(0, SHOWN_LINES).join('\n'), env).split('\n').filter(Boolean)
}

export function redactWords(text: string, env: NodeJS.ProcessEnv): string {
  return redactLog(text, environmentSecrets(env))
}

/** Ends with one full stop, whatever the quoted words end with. */
export function asSentence(text: string): string {
  return `${text.replace(/[.\s]+$/, '')}.`
}

function environmentSecrets(env: NodeJS.ProcessEnv): string[] {
  const variables = Object.entries(env).map(([name, value = '']) => ({ name, value }))
  const options = OPTION_VARIABLES.flatMap((name) => readOptions(env[name] ?? ''))
  // With its name, even a value that is too short to be redacted elsewhere is redacted.
  const assignments = options.map(({ name, value }) => ({ name, value: `${name}=${value}` }))
  return secretValues([...variables, ...options, ...assignments])
}

function readOptions(text: string): { name: string; value: string }[] {
  const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? []
  return words
    .map((word) => word.replace(/["']/g, ''))
    .filter((word) => word.includes('='))
    .map((word) => ({ name: word.slice(0, word.indexOf('=')), value: word.slice(word.indexOf('=') + 1) }))
}

/** On a terminal, where a line replaces the one before. */
const REDRAW_EVERY_MS = 500
/** Elsewhere a line stays, so it is only written after an unusually long time. */
const LOG_EVERY_MS = 60_000

export function reportProgress(ports: InstallPorts, describe: (seconds: number) => string): () => void {
  const { progress, progressEveryMs, signal } = ports
  const startMs = performance.now()
  const show = progress ?? ports.log
  const timer = setInterval(
    () => show(describe(Math.round((performance.now() - startMs) / 1000))),
    progressEveryMs ?? (progress === undefined ? LOG_EVERY_MS : REDRAW_EVERY_MS)
  )
  const stopped = new AbortController()
  // Stops at once: the tool may take seconds to end, while others write their last lines.
  const end = AbortSignal.any([signal, stopped.signal])
  const stop = (): void => {
    clearInterval(timer)
    progress?.(undefined)
  }
  if (end.aborted) stop()
  else end.addEventListener('abort', stop, { once: true })
  return () => stopped.abort()
}
