import { afterAll, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeFolder } from '../../support/remove-folder.js'
import { startCommand } from '../cli-command.js'
import { lacksShellTools } from './shell-tools.js'

const testWithTools = lacksShellTools ? test.skip : test

const PAGE = readFileSync('docs/api.md', 'utf8')
const folder = mkdtempSync(join(tmpdir(), 'loadgate-api-page-'))
afterAll(() => removeFolder(folder))

interface Described {
  readonly paths: Record<
    string,
    Record<
      string,
      {
        requestBody?: { content: Record<string, { schema: { properties: object } }> }
        parameters?: { name: string; in: string }[]
      }
    >
  >
}

/** The operations of the page, by the headings, with the text below each. */
const SECTIONS = new Map(
  PAGE.split(/\n(?=##)/).flatMap((section): [string, string][] => {
    const [, name] = /^### ((?:GET|POST|PUT|DELETE) \/\S+)\n/.exec(section) ?? []
    return name === undefined ? [] : [[name, section]]
  })
)

testWithTools(
  'every call of the API page runs as it stands, in their order, and the page has every operation with its parameters',
  async () => {
    const calls = [...PAGE.matchAll(/^```sh\n(.*?)^```$/gms)].map(([, text]) => text)
    expect(calls.length).toBeGreaterThanOrEqual(SECTIONS.size)
    for (const name of ['plan.jmx', 'users.csv'])
      copyFileSync(join('examples/shop', name), join(folder, name))
    const script = join(folder, 'calls.sh')
    writeFileSync(script, calls.join('\n'))

    const serve = startCommand(['serve', '--rehearse', '--json', '--data', 'data'], { cwd: folder })
    try {
      const [json] = await serve.shows(/^\{.*\}$/m)
      const { url, token } = JSON.parse(json) as { url: string; token: string }
      const env = { PATH: process.env.PATH, LOADGATE_BASE_URL: url, LOADGATE_TOKEN: token }
      const bash = spawn('bash', ['-euo', 'pipefail', script], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe']
      })
      const said = { out: '', err: '' }
      bash.stdout.on('data', (chunk: Buffer) => (said.out += chunk.toString()))
      bash.stderr.on('data', (chunk: Buffer) => (said.err += chunk.toString()))
      const [code] = (await once(bash, 'close')) as [number]
      expect({ code, ...said }).toMatchObject({ code: 0, err: '' })
      // What jq prints for a field that is not there.
      expect(said.out.split('\n')).not.toContain('null')
      expect(said.out).toContain('transactions passed with')

      const { paths } = JSON.parse(readFileSync(join(folder, 'openapi.json'), 'utf8')) as Described
      const operations = Object.entries(paths).flatMap(([path, methods]) =>
        Object.entries(methods).map(([method, { requestBody, parameters = [] }]) => ({
          name: `${method.toUpperCase()} ${path.replace(/\{(\w+)\}/g, ':$1')}`,
          keys: [
            ...Object.keys(Object.values(requestBody?.content ?? {})[0]?.schema.properties ?? {}),
            ...parameters.filter((parameter) => parameter.in === 'query').map(({ name }) => name)
          ].filter((key) => !key.includes('[grids]'))
        }))
      )
      expect([...SECTIONS.keys()].sort()).toEqual(operations.map(({ name }) => name).sort())
      const unnamed = operations.flatMap(({ name, keys }) =>
        keys.filter((key) => !SECTIONS.get(name)?.includes(`\`${key}\``)).map((key) => `${name}: ${key}`)
      )
      expect(unnamed).toEqual([])
    } finally {
      serve.child.kill('SIGTERM')
      await serve.ended
    }
  },
  120_000
)
