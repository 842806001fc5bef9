import { join } from 'node:path'
import type { Clock } from '../../../src/contract/clock.js'
import { openUsers } from '../../../src/service/accounts/open-users.js'
import { parseConfig } from '../../../src/service/config/parse-config.js'
import type { Role } from '../../../src/service/config/config.js'
import { serve, type ServedService } from '../../../src/service/serve.js'
import { startService } from '../../../src/service/server.js'
import type { World } from '../runs/surviving-world.js'
import { type Address, createFolders } from '../support.js'

export interface ServedTeam extends ServedService {
  readonly dataDir: string
  /** What it has logged so far. */
  readonly lines: string[]
  /** The service as this user reaches it, who is added if necessary. */
  as(name: string, role?: Role): Address
}

interface ServedOptions {
  readonly world?: World
  readonly clock?: Clock
  readonly folder?: string
}

/** Services as `loadgate serve --config` starts them, on loopback; with a world, its tool is used, otherwise they rehearse. */
export function createServedTeams(): {
  folder(): string
  start(keys?: string, options?: ServedOptions): Promise<ServedTeam>
  closeAll(): Promise<void>
} {
  const folders = createFolders()
  const open: ServedService[] = []
  return {
    folder: () => folders.create(),
    start: async (keys = '', { world, clock, folder = folders.create() } = {}) => {
      const { config, problems } = parseConfig(`listen: 127.0.0.1:0\ndata: data\n${keys}`, folder)
      if (!config) throw new Error(problems.join('\n'))
      const lines: string[] = []
      const served = await serve(
        {
          ...{ setUp: config, rehearse: world === undefined, serviceName: undefined },
          signal: new AbortController().signal,
          log: (line) => void lines.push(String((JSON.parse(line) as { msg: unknown }).msg))
        },
        {
          start: (options) =>
            startService({
              ...options,
              // Its tool writes to a folder that is closed to other users.
              ...(world && {
                env: { ...process.env, JMETER_HOME: world.home },
                isolatesPlans: 'where possible'
              })
            }),
          pages: () => import('../../../src/report/page/served/served-pages.js'),
          ...(clock && { clock })
        }
      )
      open.push(served)
      const dataDir = join(folder, 'data')
      const tokens = new Map<string, string>()
      return {
        ...served,
        ...{ dataDir, lines },
        as: (name, role = 'member') => {
          const token = tokens.get(name) ?? addUser(dataDir, name, role)
          tokens.set(name, token)
          return { url: `http://${served.listening!}`, token }
        }
      }
    },
    closeAll: async () => {
      await Promise.all(open.splice(0).map((service) => service.close()))
      folders.remove()
    }
  }
}

function addUser(dataDir: string, name: string, role: Role): string {
  const users = openUsers(dataDir, () => undefined)
  try {
    const isKnown = users.users().some((user) => user.name === name)
    return (isKnown ? users.rotate(name) : users.add(name, role)).token
  } finally {
    users.close()
  }
}
