import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { existsSync, mkdirSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ToolRegistry } from '../../src/service/nodes/machine/tool-registry.js'
import { createFolders, createServices } from './support.js'

const services = createServices()
const folders = createFolders()
let env: NodeJS.ProcessEnv
/** A record that a look for orphans removes. */
let stale: string

beforeEach(() => {
  env = { XDG_STATE_HOME: folders.create() }
  const dir = join(env.XDG_STATE_HOME!, 'loadgate', 'tools')
  mkdirSync(dir, { recursive: true })
  stale = join(dir, '1-0123456789abcdef.json')
  writeFileSync(stale, '{"place":"elsewhere"}')
  const longAgo = Date.now() / 1000 - 8 * 24 * 3600
  utimesSync(stale, longAgo, longAgo)
})
afterEach(async () => {
  await services.closeAll()
  folders.remove()
})

test('a service looks for orphaned tools before it starts', async () => {
  await services.start({ env })
  expect(existsSync(stale)).toBe(false)
})

test('it does not look again where the caller has done so', async () => {
  await services.start({ env, registry: ToolRegistry.open(env, () => undefined) })
  expect(existsSync(stale)).toBe(true)
})
