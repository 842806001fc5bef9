import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { readStartTime } from '../../src/service/nodes/machine/processes.js'
import { ToolRegistry } from '../../src/service/nodes/machine/tool-registry.js'
import { createServices } from './support.js'

const services = createServices()
let env: NodeJS.ProcessEnv
/** A record that a look for orphans removes. */
let stale: string

beforeEach(() => {
  env = { XDG_STATE_HOME: services.folder() }
  const dir = join(env.XDG_STATE_HOME!, 'loadgate', 'tools')
  mkdirSync(dir, { recursive: true })
  stale = join(dir, '1-0123456789abcdef.json')
  writeFileSync(stale, '{"place":"elsewhere"}')
  const longAgo = Date.now() / 1000 - 8 * 24 * 3600
  utimesSync(stale, longAgo, longAgo)
})
afterEach(() => services.closeAll())

test('a service looks for orphaned tools before it starts', async () => {
  await services.start({ env })
  expect(existsSync(stale)).toBe(false)
})

test('it does not look again where the caller has done so', async () => {
  await services.start({ env, registry: ToolRegistry.open(env, () => undefined) })
  expect(existsSync(stale)).toBe(true)
})

test('where its data folder outlives it, a tool that it left is found there, whatever the home folder is now', async () => {
  const dataDir = services.folder()
  const tool = spawn('sleep', ['600'], { detached: true, stdio: 'ignore' })
  const ended = once(tool, 'exit')
  ToolRegistry.open(env, () => undefined, dataDir).note({
    pid: tool.pid!,
    startTime: readStartTime(tool.pid!)!
  })
  const [name] = readdirSync(join(dataDir, 'tools'))
  const file = join(dataDir, 'tools', name!)
  const note = JSON.parse(readFileSync(file, 'utf8')) as { owner: object }
  // As if the service that noted it had been killed.
  writeFileSync(file, JSON.stringify({ ...note, owner: { ...note.owner, startTime: '1' } }))
  await services.start({ dataDir, env: { XDG_STATE_HOME: '/proc/none' }, isLasting: true })
  await ended
  expect(readdirSync(join(dataDir, 'tools'))).toEqual([])
})
