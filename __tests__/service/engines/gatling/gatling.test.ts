import { afterEach, beforeEach, expect, test } from '@jest/globals'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { PlanToPrepare, PreparedPlan } from '../../../../src/service/engines/engine.js'
import { createGatlingEngine } from '../../../../src/service/engines/gatling/gatling.js'
import { Processes } from '../../../../src/service/nodes/machine/processes.js'
import { nodeOf } from '../../nodes/node-of.js'
import { createFolders } from '../../support.js'

const folders = createFolders()
const { signal } = new AbortController()
let folder: string
beforeEach(() => {
  folder = folders.create()
})
afterEach(() => folders.remove())

function prepare(env: NodeJS.ProcessEnv, fileNames = ['Plan.java']): Promise<PreparedPlan> {
  const processes = new Processes({ onStart: () => undefined, onEnd: () => undefined })
  const engine = createGatlingEngine({ env, processes, signal, log: () => undefined })
  const plan: PlanToPrepare = {
    tool: 'gatling',
    fileNames,
    threads: null,
    rampupSec: null,
    durationSec: null,
    hosts: [],
    properties: [],
    uploadDir: folder,
    buildDir: join(folder, 'build'),
    nodes: () => Promise.resolve([nodeOf(processes, env)]),
    signal
  }
  return engine.prepare(plan)
}

/** A Java that only tells its version. */
function writeJava(version: string): NodeJS.ProcessEnv {
  mkdirSync(join(folder, 'bin'))
  const script = `#!/bin/sh\necho 'openjdk version "${version}" 2024-04-16' >&2\n`
  writeFileSync(join(folder, 'bin', 'java'), script, { mode: 0o755 })
  return { JAVA_HOME: folder, PATH: '/usr/bin:/bin', XDG_CACHE_HOME: join(folder, 'cache') }
}

test.each(['1.8.0_412', '9.0.4'])(
  'Java %s is too old, which is said before anything is installed',
  async (version) => {
    await expect(prepare(writeJava(version))).rejects.toThrow(
      `Gatling 3.15.1 needs Java 11 or later, and ${join(folder, 'bin', 'java')} is ${version}: install a JDK 17, or set JAVA_HOME to one`
    )
  }
)

test.each(['11.0.2', '17', '25-ea'])('Java %s is not: only Maven is missing', async (version) => {
  await expect(prepare({ ...writeJava(version), PATH: folder })).rejects.toThrow(/needs Maven/)
})

test('without Java it says what to install', async () => {
  await expect(prepare({ PATH: folder })).rejects.toThrow(
    /^Gatling needs Java, and there is no java on the PATH: install a JDK/
  )
})

test('a line of the environment file that cannot be used is a problem of the plan', async () => {
  writeFileSync(join(folder, 'environment'), 'PATH=/tmp\n')
  await expect(prepare({ PATH: folder }, ['Plan.java', 'environment'])).rejects.toThrow(
    /^environment, line 1: PATH cannot be set/
  )
})
