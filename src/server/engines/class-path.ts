import { delimiter, dirname } from 'node:path'
import { ToolError } from '../errors.js'
import type { Engine } from './engine.js'
import { cacheFolder } from './install/cache-folder.js'
import { packageFile } from './install/package-file.js'

/**
 * An engine whose tool finds everything by a class path, in which there is no way to write a path that contains the
 * delimiter: Java would look in two wrong places and say that there is no such class.
 */
export function withClassPath(engine: Engine, env: NodeJS.ProcessEnv): Engine {
  return {
    ...engine,
    refuse: (request) => [...refuseJars(request.fileNames), ...engine.refuse(request)],
    prepare: async (plan) => {
      refuseFolder(dirname(plan.uploadDir), 'let --output, --data or, in a job, RUNNER_TEMP name another one')
      refuseFolder(cacheFolder('.', env), 'let XDG_CACHE_HOME or RUNNER_TOOL_CACHE name another one')
      refuseFolder(dirname(packageFile('package.json')), 'move loadgate to another one')
      return engine.prepare(plan)
    }
  }
}

function refuseJars(fileNames: readonly string[]): string[] {
  return fileNames
    .filter((name) => /\.jar$/i.test(name) && name.includes(delimiter))
    .map(
      (name) => `${name} cannot be on a class path, where "${delimiter}" separates the files; rename the file`
    )
}

function refuseFolder(folder: string, advice: string): void {
  if (folder.includes(delimiter))
    throw new ToolError(
      `The folder ${folder} cannot be on a class path, where "${delimiter}" separates the folders; ${advice}`
    )
}
