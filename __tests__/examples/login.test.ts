import { describe, expect, test } from '@jest/globals'
import { existsSync, readFileSync } from 'node:fs'
import { readConfigFile } from '../../src/contract/config-file.js'
import { DEMO_PASSWORD } from '../../src/service/demo-shop/login.js'

const PLANS = {
  xml: 'examples/login/plan.jmx',
  java: 'examples/login/LoginSimulation.java',
  js: 'examples/login/script.js'
}
type Language = keyof typeof PLANS

const read = (path: string): string => readFileSync(path, 'utf8')
const squeeze = (text: string): string => text.replace(/\s+/g, ' ').trim()
const [, section = ''] = /^## Logging in\n([^]*?)^## /m.exec(read('docs/plans.md')) ?? []
const subjects = section
  .split(/^### /m)
  .slice(1)
  .map((text) => ({
    subject: text.split('\n')[0] ?? '',
    snippets: [...text.matchAll(/^```(\w+)\n([^]*?)^```$/gm)].map(([, language = '', code = '']) => ({
      language: language as Language,
      code
    }))
  }))

describe('the snippets in docs/plans.md', () => {
  test('are about the five', () => {
    expect(subjects.map(({ subject }) => subject)).toEqual([
      'A header',
      'A login',
      'A token',
      'A session cookie',
      'A CSRF field'
    ])
  })

  test.each(subjects)('$subject: lines of the examples, for each tool', ({ snippets }) => {
    const missing = snippets.filter(
      ({ language, code }) => !squeeze(read(PLANS[language])).includes(squeeze(code))
    )
    expect(missing).toEqual([])
    expect(new Set(snippets.map(({ language }) => language))).toEqual(new Set(Object.keys(PLANS)))
  })
})

test('the config file names a plan that exists, and each plan has the password of the shop', () => {
  const { values, problems } = readConfigFile(read('examples/login/loadgate.yml'))
  expect([problems, values['base-url'], existsSync(values.files ?? '')]).toEqual([[], 'local', true])
  for (const plan of Object.values(PLANS)) expect(read(plan)).toContain(DEMO_PASSWORD)
})
