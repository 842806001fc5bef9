import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { ProcessGroup } from '../../src/service/nodes/machine/processes.js'
import type { Service } from '../../src/service/server.js'
import { killWatchdogs } from '../support/watchdogs.js'
import type { SurvivingOptions } from '../support/surviving-place.js'
import { until } from './support.js'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))
const FLAGS = [
  '--experimental-transform-types',
  '--no-warnings',
  '--import',
  here('../support/typescript-hooks.mjs')
]

export interface KillableService extends Omit<Service, 'drain'> {
  readonly groups: ProcessGroup[]
  /** With its watchdogs, so that its tools are left behind. */
  kill(): Promise<void>
}

/** Services in their own processes, which can be killed without a chance to clean up. */
export function createKillable(): {
  start(
    dataDir: string,
    home: string,
    surviving?: SurvivingOptions,
    maxNodes?: number
  ): Promise<KillableService>
  killAll(): void
} {
  const children: ChildProcess[] = []
  return {
    start: async (dataDir, home, surviving, maxNodes) => {
      const options = JSON.stringify({ dataDir, engine: 'real', surviving, maxNodes })
      const child = spawn(process.execPath, [...FLAGS, here('./serve.mjs'), options], {
        env: { ...process.env, JMETER_HOME: home },
        stdio: ['ignore', 'pipe', 'inherit']
      })
      children.push(child)
      const groups: ProcessGroup[] = []
      const address = await new Promise<{ url: string; token: string }>((resolve, reject) => {
        child.once('exit', () => reject(new Error('the service did not start')))
        createInterface(child.stdout).on('line', (line) => {
          const said = JSON.parse(line) as { url?: string; token?: string; group?: ProcessGroup }
          if (said.group) groups.push(said.group)
          if (said.url !== undefined && said.token !== undefined)
            resolve({ url: said.url, token: said.token })
        })
      })
      const kill = async (): Promise<void> => {
        killWatchdogs(child.pid!)
        child.kill('SIGKILL')
        await until(() => child.signalCode !== null)
      }
      return { ...address, groups, kill, close: kill }
    },
    killAll: () => {
      for (const child of children) child.kill('SIGKILL')
    }
  }
}
