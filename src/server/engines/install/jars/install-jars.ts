import { cacheFolder } from '../cache-folder.js'
import { fetchJars } from './fetch-jars.js'
import { installOnce } from '../install-once.js'
import type { InstallPorts } from '../install-ports.js'
import { fingerprint, jarHashes, type JarList } from './jar-list.js'
import { requireMaven } from './maven.js'

/** The folder with all installed lists and packages. */
export const TOOLS_CACHE = 'loadgate-tools'

/** Returns a folder with exactly the jars of a list, which are downloaded if they are not there yet. */
export function installJars(list: JarList, ports: InstallPorts): Promise<string> {
  const what = list.name
  return installOnce(
    {
      what,
      cache: cacheFolder(TOOLS_CACHE, ports.env),
      name: `${list.name}-${fingerprint(list.jars)}`,
      jars: jarHashes(list),
      install: async ({ home, work }) => {
        const maven = await requireMaven(ports, what)
        ports.log(`Installing ${what} with Maven, once`)
        await fetchJars({ what, list, to: home, work, maven }, ports)
      }
    },
    ports
  )
}
