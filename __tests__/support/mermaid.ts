import { execFileSync } from 'node:child_process'
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

const SOURCE = resolve('__tests__/mermaid')
/** Outside of what jest looks through: these are some ten thousand files. */
const HOME = resolve('.cache/mermaid')
const LOCK = 'package-lock.json'
const INSTALL_MS = 300_000
const PARSE_MS = 60_000

/** Installs the versions of Mermaid when they are needed first, and says what kept it from that. */
export function installMermaid(): string | undefined {
  const lock = readFileSync(join(SOURCE, LOCK), 'utf8')
  const done = join(HOME, 'installed')
  mkdirSync(HOME, { recursive: true })
  for (const file of ['package.json', LOCK, 'parse.mjs']) copyFileSync(join(SOURCE, file), join(HOME, file))
  if (existsSync(done) && readFileSync(done, 'utf8') === lock) return undefined
  try {
    execFileSync('npm', ['ci', '--ignore-scripts', '--no-audit', '--no-fund'], {
      cwd: HOME,
      stdio: 'pipe',
      timeout: INSTALL_MS
    })
    writeFileSync(done, lock)
    return undefined
  } catch (thrown) {
    return thrown instanceof Error ? thrown.message : String(thrown)
  }
}

/** What the parser of each version says of each diagram: its type, or why it refuses it. */
export function parseDiagrams(diagrams: readonly string[]): Record<string, string[]> {
  const said = execFileSync(process.execPath, ['parse.mjs'], {
    cwd: HOME,
    input: JSON.stringify(diagrams),
    timeout: PARSE_MS
  })
  return JSON.parse(said.toString()) as Record<string, string[]>
}

/** The Mermaid blocks of a Markdown text. */
export function diagramsIn(markdown: string): string[] {
  return [...markdown.matchAll(/^```mermaid\n([\s\S]*?)^```$/gm)].map(([, diagram]) => diagram ?? '')
}
