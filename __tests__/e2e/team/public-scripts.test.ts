import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { copyFileSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { createFolders, PLAN } from '../../service/support.js'
import { lacksShellTools } from './shell-tools.js'

// The loops of public scripts, with curl and jq, against `loadgate serve` as a process.

const describeWithTools = lacksShellTools ? describe.skip : describe

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const folders = createFolders()
const children: ChildProcess[] = []
afterAll(async () => {
  for (const child of children) {
    const ended = new Promise((resolve) => child.once('exit', resolve))
    child.kill('SIGTERM')
    await ended
  }
  folders.remove()
})

async function serve(word: string | undefined): Promise<{ url: string; token: string }> {
  const name = word === undefined ? [] : ['--service-name', word]
  const flags = [
    ...['--experimental-transform-types', '--no-warnings', '--import'],
    here('../../support/typescript-hooks.mjs')
  ]
  const command = [here('../../../src/cli.ts'), 'serve', '--rehearse', '--json', ...name]
  const child = spawn(process.execPath, [...flags, ...command, '--data', folders.create()], {
    stdio: ['ignore', 'pipe', 'inherit']
  })
  children.push(child)
  return new Promise((resolve, reject) => {
    child.once('exit', () => reject(new Error('the service did not start')))
    createInterface(child.stdout).once('line', (line) =>
      resolve(JSON.parse(line) as { url: string; token: string })
    )
  })
}

describeWithTools.each([
  { word: 'acme', prefix: '' },
  { word: 'acme', prefix: '/api' },
  { word: undefined, prefix: '' }
])('a service called $word, at $prefix/', ({ word, prefix }) => {
  const cwd = folders.create()
  let env: Record<string, string>
  let created: string
  beforeAll(async () => {
    const { url, token } = await serve(word)
    env = {
      PATH: process.env.PATH ?? '',
      BASE: `${url}${prefix}`,
      TOKEN: token,
      WORD: word ?? 'run',
      VENDOR: word ?? 'service'
    }
    writeFileSync(join(cwd, 'plan.jmx'), PLAN)
    writeFileSync(join(cwd, 'users.csv'), 'user,password\nada,x\n')
  })

  const run = async (name: string): Promise<string[]> => {
    copyFileSync(here(`scripts/${name}`), join(cwd, name))
    const { stdout } = await promisify(execFile)('sh', [name], { cwd, env, timeout: 60_000 })
    return stdout.trimEnd().split('\n')
  }

  test('creates a run, is polled until it has finished, and sends report, CSVs and archive', async () => {
    const [, waiting, ...lines] = await run('run-and-report.sh')
    created = /^waiting for (\w+)$/.exec(waiting!)![1]!
    expect(lines).toEqual([
      'jmeter-rehearsal',
      expect.stringMatching(/^[01]\.\d+ \[500\]$/),
      expect.stringMatching(/Up to \d+ users across 2 grids in us-east-1, eu-west-1 .* \d+ failed\.$/),
      'us-east-1: timeStamp,elapsed,label',
      'eu-west-1: timeStamp,elapsed,label',
      '1'
    ])
    const rows = (name: string): number =>
      readFileSync(join(cwd, name), 'utf8').trimEnd().split('\n').length - 1
    expect(rows('us-east-1.csv')).toBeGreaterThan(0)
    expect(rows('us-east-1.csv') + rows('eu-west-1.csv')).toBe(rows('all.csv'))
  })

  test('is listed page by page', async () => {
    expect(await run('list-everything.sh')).toEqual([
      `${created} finished`,
      '2 grids',
      'project Shop: 1',
      'true',
      '200'
    ])
  })

  test('stops and repeats a run on a grid of its own, and ends the grid', async () => {
    expect(await run('stop-and-repeat.sh')).toEqual(['finished', 'finished', 'stopped'])
  })
})
