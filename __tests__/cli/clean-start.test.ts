import { afterEach, describe, expect, test } from '@jest/globals'
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { createFolders, get } from '../service/support.js'

const folders = createFolders()
const children: ChildProcess[] = []
afterEach(async () => {
  for (const child of children.splice(0)) {
    child.kill('SIGKILL')
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  }
  folders.remove()
})

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const FLAGS = [
  ...['--experimental-transform-types', '--no-warnings'],
  ...['--import', here('../support/typescript-hooks.mjs')]
]
const SECRETS = {
  LOADGATE_TOKEN: 'hush-the-token',
  DEPLOY_SECRET: 'hush-the-secret',
  LOADGATE_PARAMETER_TENANT: 'hush-the-tenant',
  HTTPS_PROXY: 'http://ada:hush-the-password@127.0.0.1:9',
  DATABASE_URL: 'postgres://hush-the-address',
  NODE_AUTH_TOKEN: 'hush-the-registry'
}

/** `loadgate serve`, once it has said where it is. */
async function serve(flags: readonly string[] = []) {
  const folder = folders.create()
  const args = [
    ...FLAGS,
    ...flags,
    here('../../src/cli.ts'),
    'serve',
    '--rehearse',
    '--json',
    '--data',
    folder
  ]
  const child = spawn(process.execPath, args, {
    env: { PATH: process.env.PATH, HOME: folder, NODE_OPTIONS: '--max-old-space-size=500', ...SECRETS },
    stdio: ['ignore', 'pipe', 'pipe']
  })
  children.push(child)
  let said = ''
  child.stderr.on('data', (chunk: Buffer) => (said += chunk.toString()))
  const line = await Promise.race([
    once(createInterface(child.stdout), 'line') as Promise<[string]>,
    once(child, 'exit').then(() => ['{}'])
  ])
  const address = JSON.parse(line[0]) as { url: string; token: string }
  return { child, args, address, said: () => said }
}

const readProc = (pid: number | undefined, what: 'environ' | 'cmdline'): string[] =>
  readFileSync(`/proc/${pid}/${what}`, 'utf8').split('\0').filter(Boolean)

const onLinux = process.platform === 'linux' ? describe : describe.skip

onLinux('a service that was given secrets as variables', () => {
  test('starts itself anew as the same process: nobody reads them from its environment, and it uses them', async () => {
    const { child, args, address, said } = await serve()
    const environment = readProc(child.pid, 'environ')
    expect(environment.filter((variable) => variable.includes('hush'))).toEqual([])
    expect(environment).toContain('NODE_OPTIONS=--max-old-space-size=500')
    expect(readProc(child.pid, 'cmdline').slice(1)).toEqual(args)
    expect(address.token).toBe(SECRETS.LOADGATE_TOKEN)
    expect((await get(address, '/account')).status).toBe(200)
    const file = environment.find((variable) => variable.startsWith('LOADGATE_HANDED_OVER='))?.split('=')[1]
    expect([typeof file, existsSync(file ?? '/')]).toEqual(['string', false])
    child.kill('SIGTERM')
    expect(await once(child, 'exit')).toEqual([0, null])
    expect(said()).toBe('')
  })

  test('says so where it cannot', async () => {
    const { child, address, said } = await serve(['--import', here('./without-execve.mjs')])
    expect(address.token).toBe(SECRETS.LOADGATE_TOKEN)
    expect(said()).toMatch(
      /^loadgate: plans that run on this machine can read the variables this service was started with, .*\n$/
    )
    expect(said()).not.toContain('hush')
    expect(readProc(child.pid, 'environ').join()).toContain('hush-the-secret')
  })
})
