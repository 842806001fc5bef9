import { expect, test } from '@jest/globals'
import { readFileSync } from 'node:fs'
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

test('ten lines are ten lines', () => {
  expect(blocksOf('sh')[0]!.trimEnd().split('\n')).toHaveLength(10)
})
