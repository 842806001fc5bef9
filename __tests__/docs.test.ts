import { describe, expect, test } from '@jest/globals'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync, readdirSync } from 'node:fs'
import path from 'node:path'
import { readGridStartSettings, readGridStopSettings } from '../src/gate/grids/grid-settings.js'
import type { SettingsSources } from '../src/gate/settings/inputs.js'
import { readSettings } from '../src/gate/settings/settings.js'
import { readArguments } from '../src/cli/arguments.js'
import { COMMANDS } from '../src/cli/commands.js'
import { parseThresholds } from '../src/analysis/thresholds/grammar/grammar.js'

// What people copy from the documentation has to work. Links are checked by `npm run lint`, workflows as such by
// `npm run lint:workflows`.

interface Step {
  readonly uses?: string
  readonly with?: Readonly<Record<string, string | number | boolean>>
}
interface Example {
  readonly file: string
  readonly line: number
  readonly language: string
  readonly text: string
  readonly kind?: string
  readonly workflow?: { readonly jobs: Readonly<Record<string, { readonly steps: readonly Step[] }>> }
}

const ROOT = path.join(import.meta.dirname, '..')
const PAGES = ['README.md', 'SECURITY.md', ...listPages()]
const examples = JSON.parse(
  execFileSync(process.execPath, [path.join(ROOT, 'scripts/doc-examples.mjs'), '--json'], {
    encoding: 'utf8'
  })
) as Example[]
const config = examples.find(({ kind }) => kind === 'config')?.text ?? ''

function listPages(): string[] {
  const names = readdirSync(path.join(ROOT, 'docs')).filter((name) => name.endsWith('.md'))
  return names.map((name) => `docs/${name}`)
}

function readPage(file: string): string {
  return readFileSync(path.join(ROOT, file), 'utf8')
}

/** What an expression gives in a workflow; any word will do, but grids are a list, and an exit code is a number. */
function fillIn(value: string | number | boolean): string {
  return String(value)
    .replace(/\$\{\{[^}]*\.outputs\.grids \}\}/g, '[{"uuid":"abc123"}]')
    .replace(/\$\{\{[^}]*\.outputs\.code \}\}/g, '0')
    .replace(/\$\{\{.*?\}\}/g, 'abc123')
}

function sourcesOf(inputs: Readonly<Record<string, string | number | boolean>>): SettingsSources {
  return {
    read: (name) => fillIn(inputs[name] ?? '').trim(),
    readConfig: (file) => Promise.resolve(file === '.github/loadgate.yml' ? config : readPage(file)),
    resolveFiles: (lines) => Promise.resolve({ paths: [...lines], problems: [] }),
    resolveResults: (lines) =>
      Promise.resolve({ files: lines.map((line) => ({ path: line, shown: line })), problems: [] }),
    resolveBaseline: (file) => Promise.resolve({ path: file, exists: false }),
    defaultName: 'octo/shop main 0123456',
    platform: 'linux',
    offersIdTokens: true,
    variable: () => 'abc123'
  }
}

function sourcesOfGrids(
  inputs: Readonly<Record<string, string | number | boolean>>
): (name: string) => string {
  return (name) => fillIn(inputs[name] ?? '').trim()
}

describe('workflows', () => {
  const stepsOf = (action: string): (readonly [string, NonNullable<Step['with']>])[] =>
    examples.flatMap(({ file, line, workflow }) =>
      Object.values(workflow?.jobs ?? {})
        .flatMap((job) => job.steps)
        .filter(({ uses }) => uses?.startsWith(`${action}@`))
        .map((step) => [`${file}, line ${line}`, step.with ?? {}] as const)
    )
  const steps = stepsOf('loadgate/loadgate')

  test('there are some', () => {
    expect(steps.length).toBeGreaterThan(8)
    expect(config).not.toBe('')
  })

  // The tag of the major version exists from 1.0 on.
  test('name a branch or tag of loadgate that exists', () => {
    const { version } = JSON.parse(readPage('package.json')) as { version: string }
    const [major = ''] = version.split('.')
    const named = PAGES.flatMap((file) =>
      [...readPage(file).matchAll(/loadgate\/loadgate(?:\/grid-\w+)?@([\w.-]+)/g)].map(([, name]) => name)
    )
    expect([...new Set(named)]).toEqual([major === '0' ? 'main' : `v${major}`])
  })

  test.each(steps)('%s: the action accepts the inputs', async (_, inputs) => {
    const settings = await readSettings(sourcesOf(inputs))
    expect(settings).toMatchObject({ target: expect.anything(), unused: expect.any(Array) })
  })

  test.each(stepsOf('loadgate/loadgate/grid-start'))(
    '%s: grid-start accepts the inputs',
    async (_, inputs) => {
      expect((await readGridStartSettings(sourcesOfGrids(inputs))).grids).not.toEqual([])
    }
  )

  test.each(stepsOf('loadgate/loadgate/grid-stop'))('%s: grid-stop accepts the inputs', async (_, inputs) => {
    expect((await readGridStopSettings(sourcesOfGrids(inputs)))?.ids).toEqual(['abc123'])
  })
})

describe('thresholds', () => {
  const blocks = examples
    .filter(({ language }) => language === 'thresholds')
    .map(({ file, line, text }) => [`${file}, line ${line}`, text] as const)
  const looksLikeOne = /^(?:warn: )?(?:apdex|[a-z_]+|p[\d.]+)(?:\{.*\})? (?:[<>]=?|==) \S+$/
  const inline = PAGES.flatMap((file) =>
    [...readPage(file).matchAll(/`([^`\n]+)`/g)]
      .map(([, code]) => code ?? '')
      .filter((code) => looksLikeOne.test(code))
      .map((code) => [`${file}: ${code}`, code] as const)
  )

  const refused = [...readPage('docs/thresholds.md').matchAll(/^\| `([^`]+)` +\| .+ \| `([^`]+)` +\|$/gm)]
    .map(([, bad = '', good = '']) => [bad, good] as const)
    .filter(([bad]) => / baseline /i.test(bad))

  test('there are some', () => {
    expect(blocks).not.toEqual([])
    expect(inline.length).toBeGreaterThan(5)
    expect(refused.length).toBeGreaterThan(10)
  })

  test.each(refused)('%s is refused, %s is not', (bad, good) => {
    expect(parseThresholds(bad)).toMatchObject({ thresholds: [], problems: [expect.any(String)] })
    expect(parseThresholds(good)).toMatchObject({ thresholds: [expect.anything()], problems: [] })
  })

  test.each([...blocks, ...inline])('%s', (_, text) => {
    const { thresholds, problems } = parseThresholds(text)
    expect(problems).toEqual([])
    expect(thresholds).not.toEqual([])
  })
})

describe('commands', () => {
  const lines = examples
    .filter(({ language }) => language === 'sh')
    .flatMap(({ text }) => text.split('\n'))
    .map((line) => line.replace(/\s+#.*$/, ''))
    .filter((line) => line !== '')
  const ofLoadgate = lines.filter((line) => line.startsWith('loadgate '))
  const scripts = [...lines.join('\n').matchAll(/\bnpm (?:run )?(test|start|(?<=run )[\w:-]+)/g)].map(
    ([, name]) => name
  )

  test.each(ofLoadgate)('%s', (line) => {
    const words = [...line.matchAll(/'([^']*)'|(\S+)/g)]
      .slice(1)
      .map(([, quoted, plain]) => quoted ?? plain ?? '')
    const command = COMMANDS.find(({ name }) => name === words.slice(0, name.split(' ').length).join(' '))
    const args = words.slice(command?.name.split(' ').length)
    expect(readArguments(args, command?.flags ?? []).flags).toHaveLength(
      args.filter((word) => word.startsWith('--')).length
    )
    expect(command).toBeDefined()
  })

  test('every command of the command line is described', () => {
    const page = readPage('docs/command-line.md')
    const missing = COMMANDS.filter(({ name }) => !new RegExp(`\`${name}[ \`]`).test(page))
    expect(missing.map(({ name }) => name)).toEqual([])
  })

  test('npm scripts exist', () => {
    const { scripts: known } = JSON.parse(readPage('package.json')) as { scripts: Record<string, string> }
    expect(scripts).toContain('start')
    expect(Object.keys(known)).toEqual(expect.arrayContaining(scripts))
    const named = readPage('CONTRIBUTING.md').matchAll(/`npm run ([\w:-]+)/g)
    expect(Object.keys(known)).toEqual(expect.arrayContaining([...named].map(([, name]) => name)))
  })

  test('what is not on npm yet is not run from there, except in recipes for later', () => {
    const pages = PAGES.filter((file) => file !== 'docs/other-ci.md')
    const typed = pages.flatMap((file) => [...readPage(file).matchAll(/^npx loadgate.*$/gm)].map(String))
    expect(typed).toEqual([])
  })

  test('the front page has the command that runs the tests', () => {
    expect(lines).toContain('npm ci && npm test')
  })
})

describe('recipes for other CI systems', () => {
  const recipes = readdirSync(path.join(ROOT, 'examples/other-ci')).sort()
  const textOf = (name: string): string => readPage(`examples/other-ci/${name}`)

  test('the page quotes each of them as it is', () => {
    const quoted = examples.filter(({ file, language }) => file === 'docs/other-ci.md' && language !== 'sh')
    expect(quoted.map(({ text }) => text).sort()).toEqual(recipes.map(textOf).sort())
    expect(recipes).toEqual(['Jenkinsfile', 'azure-pipelines.yml', 'gitlab-ci.yml'])
  })

  test.each(recipes)('%s types commands and flags that there are', (name) => {
    const typed = [...textOf(name).matchAll(/npx --yes loadgate@1 ([^'\n]*)/g)].map(([, words = '']) => words)
    expect(typed.map((words) => words.split(' --')[0])).toEqual(['run', 'baseline record load-results'])
    for (const words of typed) {
      const command = COMMANDS.find((one) => words.startsWith(`${one.name} `))!
      const args = words.slice(command.name.length + 1).split(' ')
      expect(readArguments(args, command.flags).flags).toHaveLength(
        args.filter((word) => word.startsWith('--')).length
      )
    }
    expect(typed[0]).toContain('--junit load-results.xml')
  })
})

test('the front page fits in 200 lines', () => {
  expect(readPage('README.md').split('\n').length).toBeLessThanOrEqual(200)
})

test('pictures are there', () => {
  const pictures = [...readPage('README.md').matchAll(/(?:src|srcset)="([^"]+)"/g)].map(
    ([, file]) => file ?? ''
  )
  expect(pictures).toHaveLength(3)
  expect(pictures.filter((file) => !existsSync(path.join(ROOT, file)))).toEqual([])
})
