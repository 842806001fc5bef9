import { expect, test } from '@jest/globals'
import { readdirSync, readFileSync } from 'node:fs'
import { parse } from 'yaml'
import {
  CONFIG_KEYS,
  DEFAULT_AT_LEAST,
  DEFAULT_DRAIN,
  METRICS_KEYS,
  PROXY_KEYS,
  RETENTION_KEYS,
  TLS_KEYS,
  parseConfig
} from '../../../src/service/config/parse-config.js'
import { LOGIN_KEYS } from '../../../src/service/config/parse-login.js'
import { QUOTA_KEYS } from '../../../src/service/config/parse-quotas.js'
import { namesOf } from '../../../src/service/config/keys.js'
import { OIDC_KEYS } from '../../../src/service/config/parse-oidc.js'

/** The page about the service, which people copy from. */
const PAGE = readFileSync('docs/service.md', 'utf8')
const INNER = {
  tls: TLS_KEYS,
  'behind-proxy': PROXY_KEYS,
  oidc: OIDC_KEYS,
  retention: RETENTION_KEYS,
  login: LOGIN_KEYS,
  metrics: METRICS_KEYS
}

function blocksOf(language: string): string[] {
  return [...PAGE.matchAll(new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'gms'))].map(([, text]) => text!)
}

test('the table has every key, and no other', () => {
  const listed = [...PAGE.matchAll(/^\| `([a-z.-]+)` +\|.*\|.*\|$/gm)].map(([, key]) => key!)
  const inner = new Map<string, readonly string[]>(
    Object.entries(INNER).map(([key, keys]) => [key, Object.keys(keys)] as const)
  )
  const expected = namesOf(CONFIG_KEYS).flatMap(
    (key) => inner.get(key)?.map((name) => `${key}.${name}`) ?? [key]
  )
  expect(listed.filter((key) => !['admin', 'member', 'viewer'].includes(key))).toEqual([
    ...expected,
    ...namesOf(QUOTA_KEYS)
  ])
  expect(PAGE).toMatch(new RegExp(`^\\| \`drain\` .*\\| \`${DEFAULT_DRAIN}\` +\\|$`, 'm'))
  expect(PAGE).toMatch(new RegExp(`^\\| \`retention.at-least\` .*\\| \`${DEFAULT_AT_LEAST}\` +\\|$`, 'm'))
})

test('config files on the page are accepted', () => {
  const files = blocksOf('yaml').filter((text) => text.startsWith('listen:'))
  const printed = /printf '([^']*)' > service\.yml/.exec(PAGE)![1]!.replaceAll('\\n', '\n')
  for (const text of [...files, printed])
    expect(parseConfig(text, '/etc/loadgate')).toMatchObject({ problems: [] })
  expect(files).toHaveLength(1)
  const parts = blocksOf('yaml').filter((text) => text.startsWith('oidc:'))
  for (const text of parts)
    expect(parseConfig(`listen: 127.0.0.1:0\ndata: d\n${text}`, '/')).toMatchObject({ problems: [] })
  expect(parts).toHaveLength(1)
})

test('the smallest setup comes first: its gate has no secret, and the service lets it in', () => {
  expect(PAGE.indexOf('\n## The smallest setup')).toBe(PAGE.indexOf('\n## '))
  const { config } = parseConfig(/printf '([^']*)'/.exec(PAGE)![1]!.replaceAll('\\n', '\n'), '/')
  const { permissions, steps } = parse(blocksOf('yaml')[0]!) as {
    permissions: object
    steps: readonly { with?: Readonly<Record<string, string>> }[]
  }
  const gate = steps.at(-1)!.with!
  expect(permissions).toMatchObject({ 'id-token': 'write' })
  expect(gate).toMatchObject({ token: 'oidc', 'base-url': config!.externalUrl })
  // What the gate asks for unless it is told otherwise.
  expect(config!.oidc).toMatchObject([{ audience: new URL(gate['base-url']!).origin }])
})

/** Not each rule of a document can be tested; these were true once. */
test.each([
  ['no single sign-on', /\bno single sign-on\b/i],
  ['images for amd64 only', /image is for amd64/i]
])('no document says: %s', (_, words) => {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'))
  const files = ['README.md', 'SECURITY.md', ...pages.map((name) => `docs/${name}`)]
  expect(files.filter((file) => words.test(readFileSync(file, 'utf8')))).toEqual([])
})

test('how long a locked database is waited for is what the service waits', () => {
  const told = [...PAGE.matchAll(/waits? (?:for )?up to (\d+) s/g)].map(([, seconds]) => Number(seconds))
  const [, given] = /const CALLER_WAITS_MS = ([\d_]+)/.exec(
    readFileSync('src/service/store/when-free.ts', 'utf8')
  )!
  expect(told).toEqual([1, 2].map(() => Number(given!.replace('_', '')) / 1000))
})

test('what stops the service waits for what the page says', () => {
  expect(PAGE).toContain('`drain` and two minutes more')
  const stop = Number(/--stop-timeout (\d+)/.exec(PAGE)![1])
  expect(stop).toBe(10 * 60 + 120)
  expect(DEFAULT_DRAIN).toBe('10m')
})
