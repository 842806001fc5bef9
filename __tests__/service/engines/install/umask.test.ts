import { afterAll, afterEach, expect, test } from '@jest/globals'
import { mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { installOnce } from '../../../../src/service/engines/install/install-once.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { createServices } from '../../support.js'

const services = createServices()
afterAll(() => services.closeAll())

let umask: number | undefined
afterEach(() => {
  if (umask !== undefined) process.umask(umask)
})

const asRoot = process.getuid?.() === 0 ? test : test.skip

asRoot('what root installs can be read by plans of other users, whatever the umask is', async () => {
  umask = process.umask(0o077)
  const above = join(services.folder(), 'made')
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const home = await installOnce(
    {
      ...{ what: 'a tool', cache: join(above, 'tools'), name: 'tool-1' },
      install: (draft) => {
        mkdirSync(join(draft.home, 'bin'))
        writeFileSync(join(draft.home, 'bin', 'tool'), '#!/bin/sh\n', { mode: 0o700 })
        writeFileSync(join(draft.home, 'tool.jar'), '')
        return Promise.resolve()
      }
    },
    { env: process.env, processes, log: () => undefined, signal: new AbortController().signal }
  )
  const modes = [above, join(above, 'tools'), home, ...readdirSync(home).map((name) => join(home, name))]
  expect(modes.map((path) => (statSync(path).mode & 0o777).toString(8))).toEqual([
    '755',
    '755',
    '755',
    '755',
    '644',
    '644'
  ])
  expect(statSync(join(home, 'bin', 'tool')).mode & 0o777).toBe(0o755)
})
