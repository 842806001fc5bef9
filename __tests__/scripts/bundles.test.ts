import { describe, expect, test } from '@jest/globals'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

const files = readdirSync('dist', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile())
  .map((entry) => join(entry.parentPath, entry.name))

describe('dist/', () => {
  test('is not more than 15 MB in 55 files, none of which is named after what it contains', () => {
    expect(files.length).toBeLessThanOrEqual(55)
    expect(files.reduce((bytes, file) => bytes + statSync(file).size, 0)).toBeLessThan(15_000_000)
    const usual = /\/(index\.js|\d+\.index\.js|tools\/[\w-]+\.mjs|licenses\.txt|package\.json)$/
    expect(files.filter((file) => !usual.test(file))).toEqual([])
  })

  test('names no folder of the machine that built it', () => {
    expect(files.filter((file) => readFileSync(file, 'utf8').includes(process.cwd()))).toEqual([])
  })

  test.each(['main', 'post', 'grid-start', 'grid-stop'])('%s says itself which part it is', (part) => {
    expect(readFileSync(`dist/${part}/index.js`, 'utf8')).toBe(
      `import { runPart } from '../action/index.js'\nawait runPart('${part}')\n`
    )
  })

  test.each(readdirSync('dist/tools'))('tools/%s needs no other file', (tool) => {
    const code = readFileSync(`dist/tools/${tool}`, 'utf8')
    expect([...code.matchAll(/\bfrom ?"(\.[^"]*)"/g)].map(([, name]) => name)).toEqual([])
    expect(code).not.toMatch(/\.index\.js/)
  })

  test('licenses.txt has the packages of first files, too', () => {
    const text = readFileSync('dist/licenses.txt', 'utf8')
    for (const name of ['@actions/core', 'yaml', 'undici', 'fastify', '@kubernetes/client-node'])
      expect(text).toMatch(new RegExp(`^${name} \\d+\\.\\d+\\.\\d+`, 'm'))
  })
})

/**
 * Heavy and not always needed: words that nothing else has. An entry's first file is read at every start; in a bundle, what is
 * imported by `import()` alone is in other files.
 */
const LATE = {
  '@valibot/to-json-schema': 'openapi-3.0',
  '@kubernetes/client-node': 'KUBERNETES_EXEC_INFO',
  fastify: 'FST_ERR_',
  'prom-client': 'process_cpu_user_seconds_total',
  ws: 'Invalid WebSocket frame'
}
const LATE_IN_STEPS = {
  'the scanner of samples': 'class ByteScanner',
  'the library of schemas': 'function safeParse(',
  'what finds files by patterns': 'class DefaultGlobber',
  'the report page': 'uPlot',
  'what reads ZIP files': 'end of central directory',
  'the library of YAML': 'BLOCK_AS_IMPLICIT_KEY',
  'the config file': 'keys must be names of inputs',
  'what proxies need': 'class EnvHttpProxyAgent',
  'the parts of undici that only fetch needs': 'multipartFormDataParser',
  'the steps of grids': 'grid-start only creates grids',
  'what ends processes': 'of its processes could not be ended'
}
const OF_GITHUB = {
  '@actions/artifact': 'class DefaultArtifactClient',
  '@actions/github': 'getOctokitOptions',
  '@actions/http-client': 'actions/http-client',
  'the parts of undici that only octokit needs': 'class MockAgent'
}

describe.each([
  ['action', { ...LATE, ...LATE_IN_STEPS, ...OF_GITHUB }],
  ['cli', LATE]
])('at its start, %s', (bundle, late) => {
  const [first, ...others] = files
    .filter((file) => file.startsWith(join('dist', bundle)))
    .sort((one, other) => Number(!isFirst(one)) - Number(!isFirst(other)))
    .map((file) => readFileSync(file, 'utf8'))

  test.each(Object.entries(late))('does not load %s, but later', (_, words) => {
    expect(first!.includes(words)).toBe(false)
    expect(others.some((text) => text.includes(words))).toBe(true)
  })
})

/** A start is mostly the reading of code: what is not needed before the first request goes behind a door. */
test('an action reads at most 550 kB at its start', () => {
  expect(statSync('dist/action/index.js').size).toBeLessThanOrEqual(550_000)
})

test('the command line has no client of GitHub at all', () => {
  const texts = files
    .filter((file) => file.startsWith(join('dist', 'cli')))
    .map((file) => readFileSync(file, 'utf8'))
  for (const words of Object.values(OF_GITHUB))
    expect(texts.filter((text) => text.includes(words))).toEqual([])
})

function isFirst(file: string): boolean {
  return /[\\/]index\.js$/.test(file)
}
