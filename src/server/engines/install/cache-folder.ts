import { homedir } from 'node:os'
import { resolve } from 'node:path'

/** Where installed tools are kept, for caching: in the runner's tool cache, or in the user's cache folder. */
export function cacheFolder(name: string, env: NodeJS.ProcessEnv): string {
  if (env.RUNNER_TOOL_CACHE) return resolve(env.RUNNER_TOOL_CACHE, name)
  if (env.XDG_CACHE_HOME) return resolve(env.XDG_CACHE_HOME, name)
  const home = env.HOME ?? homedir()
  return resolve(home, process.platform === 'darwin' ? 'Library/Caches' : '.cache', name)
}
